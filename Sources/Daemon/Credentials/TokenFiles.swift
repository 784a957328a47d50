// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix

/// Access tokens that lie in files of root's, one for each account: for the sessions that PAM opens.
///
/// A file's time is the moment at which its token ends, so that the next start knows it, too.
@ServiceActor
final class TokenFiles {
    private let path: String
    private let mark: Mark
    private let later: Later
    /// What ends the wait for the end of each token.
    private var endings: [UInt32: () -> Void] = [:]
    /// The servers that those of this start are from.
    private var servers: [UInt32: Bytes] = [:]

    /// Gives a file its time; seconds since 1970.
    typealias Mark = (Directory, String, Int64) throws(FileFault) -> Void
    /// Has something done after a time; gives what prevents it.
    typealias Later = @ServiceActor (Duration, @escaping @ServiceActor () -> Void) -> () -> Void

    /// In the directory at a path, which is made where it is missing; the rest is replaced in tests
    /// only.
    init(
        _ path: String,
        mark: @escaping Mark = { (directory, name, time) throws(FileFault) in
            try directory.setModified(name, time)
        },
        later: @escaping Later = TokenFiles.later
    ) {
        self.path = path
        self.mark = mark
        self.later = later
    }

    /// A token does not live on while the machine sleeps. Where no descriptor is left, it ends as late
    /// as the machine slept, rather than never.
    static let later: Later = { delay, action in
        do throws(SystemFault) {
            return try Alarm(after: delay, fire: action).cancel
        } catch { return Timer(after: delay, fire: action).cancel }
    }

    /// Puts an account's token, which is good for so many seconds, in the place of the one before.
    func keep(
        _ token: Bytes, of uid: UInt32, from server: Bytes? = nil, forSeconds seconds: UInt32,
        at now: UInt64
    ) throws(FileFault) {
        let directory = try directory()
        endings.removeValue(forKey: uid)?()
        servers[uid] = server
        do throws(FileFault) {
            try directory.replace("\(uid)", token + [UInt8(ascii: "\n")])
            try mark(directory, "\(uid)", Int64(clamping: now &+ UInt64(seconds)))
        } catch {
            // Nothing would end one whose end is not known; nor is the one before wanted any more.
            try? directory.remove("\(uid)")
            throw error
        }
        endings[uid] = later(.seconds(Int64(seconds))) { [weak self] in
            self?.endings[uid] = nil
            try? directory.remove("\(uid)")
        }
    }

    /// Removes an account's token before its end; with `server` only if it is, or may be, of that one.
    func remove(of uid: UInt32, from server: Bytes? = nil) throws(FileFault) {
        if let server, let found = servers[uid], found != server { return }
        servers[uid] = nil
        endings.removeValue(forKey: uid)?()
        do throws(FileFault) {
            try Directory.open(path).remove("\(uid)")
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Removes what has ended, and what was left half-written.
    func sweep(at now: UInt64) throws(FileFault) {
        let directory: Directory
        do throws(FileFault) {
            directory = try Directory.open(path)
        } catch {
            if error.isMissing { return }
            throw error
        }
        try directory.sweep()
        for name in try directory.list() {
            guard let end = try directory.modified(name), end <= Int64(clamping: now) else {
                continue
            }
            try directory.remove(name)
        }
    }

    private func directory() throws(FileFault) -> Directory {
        guard let slash = path.lastIndex(of: "/") else { throw .badName(path) }
        let parent = try Directory.open(String(path[..<slash]))
        let name = String(path[path.index(after: slash)...])
        do throws(FileFault) {
            return try parent.directory(name)
        } catch {
            guard error.isMissing else { throw error }
            return try parent.makeDirectory(name, mode: 0o700)
        }
    }
}
