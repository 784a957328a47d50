// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import MainContext
import Posix

/// Access tokens for PAM sessions, one file per account (named by uid) in a directory that only
/// root can enter.
///
/// A file's modification time is the moment at which its token expires, so that the daemon knows it
/// after a restart. While the daemon runs, a timer deletes the file at that moment.
@ServiceActor
final class TokenFiles {
    private let path: String
    private let mark: Mark
    private let later: Later
    /// Cancels the timer that deletes each account's token, by uid.
    private var endings: [UInt32: () -> Void] = [:]
    /// The server that issued each token, by uid, for those stored since the daemon started.
    private var servers: [UInt32: Bytes] = [:]

    /// Sets a file's modification time, in seconds since 1970.
    typealias Mark = (Directory, String, Int64) throws(FileFault) -> Void
    /// Runs an action after a delay; returns what cancels it.
    typealias Later = @ServiceActor (Duration, @escaping @ServiceActor () -> Void) -> () -> Void

    /// Uses the directory at a path, which is created when it is missing. The other parameters are
    /// for tests.
    init(
        _ path: String,
        mark: @escaping Mark = { (directory, name, time) throws(FileFault) in
            try directory.setModified(name, seconds: time)
        },
        later: @escaping Later = TokenFiles.later
    ) {
        self.path = path
        self.mark = mark
        self.later = later
    }

    /// Runs the action on time even if the machine sleeps meanwhile. Without a free file descriptor
    /// for that, it runs late by the time asleep, rather than never.
    static let later: Later = { delay, action in
        do throws(SystemFault) {
            return try Alarm(after: delay, fire: action).cancel
        } catch { return Timer(after: delay, fire: action).cancel }
    }

    /// Stores an account's token, replacing the one before, and schedules its deletion after
    /// `seconds`.
    ///
    /// - Parameter now: the current time in seconds since 1970.
    func keep(
        _ token: Bytes, of uid: UInt32, from server: Bytes? = nil, forSeconds seconds: UInt32,
        at now: UInt64
    ) throws(FileFault) {
        let directory = try directory()
        endings.removeValue(forKey: uid)?()
        servers[uid] = server
        do throws(FileFault) {
            try directory.replace("\(uid)", bytes: token + [UInt8(ascii: "\n")])
            try mark(directory, "\(uid)", Int64(clamping: now &+ UInt64(seconds)))
        } catch {
            // Without an expiry time, nothing would delete it. The previous token is outdated as
            // well.
            try? directory.remove("\(uid)")
            throw error
        }
        endings[uid] = later(.seconds(Int64(seconds))) { [weak self] in
            self?.endings[uid] = nil
            try? directory.remove("\(uid)")
        }
    }

    /// Deletes an account's token early. With `server`, only if it is from that server or its
    /// origin is unknown.
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

    /// Deletes expired tokens and incomplete files.
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
