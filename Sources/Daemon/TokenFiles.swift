import Loop
import Posix
import Statement
import Wire

/// Access tokens that lie in files of root's, one for each account: for the sessions that PAM opens.
///
/// A file's time is the moment at which its token ends, so that the next start knows it, too.
@ServiceActor
final class TokenFiles {
    private let path: String
    private var endings: [UInt32: Timer] = [:]

    /// In the directory at a path, which is made where it is missing.
    init(_ path: String) { self.path = path }

    /// Puts an account's token, which is good for so many seconds, in the place of the one before.
    func keep(
        _ token: Bytes, of uid: UInt32, forSeconds seconds: UInt32, at now: UInt64
    ) throws(FileFault) {
        let directory = try directory()
        try directory.replace("\(uid)", token + [UInt8(ascii: "\n")])
        try directory.setModified("\(uid)", Int64(clamping: now + UInt64(seconds)))
        endings[uid]?.cancel()
        endings[uid] = Timer(after: .seconds(Int64(seconds))) { [weak self] in
            self?.endings[uid] = nil
            try? directory.remove("\(uid)")
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

extension Service {
    /// Removes tokens that have ended while no daemon ran.
    func tidyTokens() {
        do throws(FileFault) {
            try tokenFiles.sweep(at: instant.seconds)
        } catch { journal.fault("tokens of sessions: \(error)") }
    }

    /// Puts a token where the sessions of an account find it; whether it lies there.
    ///
    /// A login does not fail by it: the token is no part of the proof.
    func keepToken(_ tokens: RelayTokens, for account: Account) -> Bool {
        do throws(FileFault) {
            try tokenFiles.keep(
                tokens.accessToken, of: account.uid, forSeconds: tokens.seconds,
                at: instant.seconds)
            return true
        } catch {
            journal.fault("no token for the session: \(error)", account: account.name)
            return false
        }
    }
}
