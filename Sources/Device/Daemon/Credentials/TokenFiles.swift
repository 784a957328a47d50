// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import MainContext
import Posix

/// Access tokens for PAM sessions, in one file per account, named by uid.
///
/// Only root can enter the directory. The modification time of a file is the moment at which its
/// token expires, so that the daemon knows it after a restart. While the daemon runs, a timer
/// deletes the file at that moment. A file that cannot be marked with its expiry is not left
/// behind.
@ServiceActor
final class TokenFiles {
    private let path: String
    private let mark: Mark
    private let later: Later
    /// Cancels the timer that deletes an account's token, by uid.
    private var endings: [UInt32: () -> Void] = [:]
    /// The server that issued each token, by uid; only tokens stored since the daemon started are
    /// known.
    private var servers: [UInt32: ServerURL] = [:]

    /// Sets a file's modification time, in seconds since 1970.
    typealias Mark = (Directory, String, Int64) throws(FileFault) -> Void
    /// Runs an action after a delay, and returns a function that cancels it.
    typealias Later = @ServiceActor (Duration, @escaping @ServiceActor () -> Void) -> () -> Void

    /// Uses the directory at an absolute path, which is created when it is needed and missing.
    ///
    /// The other parameters are for tests.
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

    /// Runs the action on time even if the machine sleeps meanwhile.
    ///
    /// If there is no file descriptor left for such an alarm, the action is late by the time
    /// asleep, which is better than never.
    static let later: Later = { delay, action in
        do throws(SystemFault) {
            return try Alarm(after: delay, fire: action).cancel
        } catch { return Timer(after: delay, fire: action).cancel }
    }

    /// Stores an account's token in place of an older one, and schedules its deletion.
    ///
    /// If storing or marking fails, no token of the account is left, not even the older one.
    ///
    /// - Parameters:
    ///   - server: the URL of the server that issued it.
    ///   - seconds: how long the token is valid.
    ///   - now: the current time in seconds since 1970.
    func keep(
        _ token: Bytes, of uid: UInt32, from server: ServerURL? = nil, forSeconds seconds: UInt32,
        at now: UInt64
    ) throws(FileFault) {
        let directory = try directory()
        endings.removeValue(forKey: uid)?()
        servers[uid] = server
        do throws(FileFault) {
            try directory.replace("\(uid)", bytes: token + [UInt8(ascii: "\n")])
            try mark(directory, "\(uid)", Int64(clamping: now &+ UInt64(seconds)))
        } catch {
            // Without an expiry time, nothing would delete the file. The older token is outdated as
            // well.
            try? directory.remove("\(uid)")
            throw error
        }
        endings[uid] = later(.seconds(Int64(seconds))) { [weak self] in
            self?.endings[uid] = nil
            try? directory.remove("\(uid)")
        }
    }

    /// Deletes an account's token before it expires; does nothing if there is none.
    ///
    /// - Parameter server: delete the token only if it is from this server or its origin is
    ///   unknown; nil for any.
    func remove(of uid: UInt32, from server: ServerURL? = nil) throws(FileFault) {
        if let server, let found = servers[uid], found != server { return }
        servers[uid] = nil
        endings.removeValue(forKey: uid)?()
        do throws(FileFault) {
            try Directory.open(path).remove("\(uid)")
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Deletes expired tokens and incompletely written files.
    ///
    /// - Parameter now: the current time in seconds since 1970.
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
