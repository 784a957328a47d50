// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import SignedFormats

/// Stores an account's MAC tokens as files in `mac-tokens/`, named after the token's id.
///
/// A token ends with the key that it was issued for. `ServerStore` then removes it, and users of a
/// token check its key as well, since a crash may happen in between.
package struct MACTokenStore: Sendable {
    /// The maximum number of tokens of an account.
    package static let limit = 64
    /// The number of failed attempts to tell a server about an expired token after which the token
    /// is forgotten.
    package static let vainTries: UInt64 = 100
    /// The minimum number of seconds between two attempts that are counted, so that frequent
    /// requests do not use up the attempts.
    package static let vainPause: UInt64 = 3_600
    static let directoryName = "mac-tokens"

    let account: AccountState

    /// Returns all tokens, ordered by server and name.
    ///
    /// Unreadable ones are left out, since they are useless.
    package func list() throws(StoreFault) -> [StoredMACToken] {
        guard let directory = try directory() else { return [] }
        var tokens: [StoredMACToken] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            guard let identifier = MACTokenID(hexadecimal: Array(name.utf8))
            else { continue }
            if let token = try load(identifier, in: directory) { tokens.append(token) }
        }
        return tokens.sorted { one, other in
            one.server == other.server
                ? one.name.lexicographicallyPrecedes(other.name)
                : one.server < other.server
        }
    }

    /// Seals the secret and stores the token, replacing any token of the same key and name.
    ///
    /// Returns the token as stored. Throws `.vault(.malformed)` unless the secret is 32 bytes long.
    @discardableResult
    package func keep(_ token: StoredMACToken, secret: SecretBytes) throws(StoreFault)
        -> StoredMACToken
    {
        let former = try list().filter {
            $0.credential == token.credential && $0.name == token.name
        }
        var token = token
        let described = token.described
        token.sealed = try sealed { () throws(VaultError) in
            try MACTokenSeal(host: account.host).seal(
                secret, account: account.sealedName, uid: account.uid, record: described)
        }
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(token, as: fileName(token.identifier))
        for old in former where old.identifier != token.identifier { try remove(old) }
        return token
    }

    /// Returns a token's secret.
    ///
    /// Throws `.vault(.doesNotOpen)` if the record has been altered.
    package func secret(of token: StoredMACToken) throws(StoreFault) -> SecretBytes {
        let described = token.described
        return try sealed { () throws(VaultError) in
            try MACTokenSeal(host: account.host).open(
                token.sealed, account: account.sealedName, uid: account.uid, record: described)
        }
    }

    /// Records that the token is disabled and that the server has not been told yet.
    ///
    /// Throws as `secret(of:)` does.
    package func beginRemoval(_ token: StoredMACToken) throws(StoreFault) -> StoredMACToken {
        var marked = token
        marked.state = .removing
        return try keep(marked, secret: try secret(of: token))
    }

    /// Counts a failure to tell a server about the end of an expired token, at most once an hour.
    ///
    /// Returns true if the limit is reached, in which case the token is deleted. Only the clock
    /// says that the token has expired, and the clock may be wrong, so one failure is not enough;
    /// the limit ensures that a server that is gone is not asked for ever. Returns false if the
    /// token was replaced or removed meanwhile. Throws as `secret(of:)` does.
    package func wasVain(_ token: StoredMACToken, at now: Instant) throws(StoreFault) -> Bool {
        // The token may have been replaced or removed while the server was asked.
        guard let directory = try directory(), try load(token.identifier, in: directory) == token
        else { return false }
        guard now.seconds >= token.lastVain.seconds + Self.vainPause else { return false }
        var counted = token
        counted.vainTries += 1
        counted.lastVain = now
        guard counted.vainTries < Self.vainTries else {
            try remove(token)
            return true
        }
        try keep(counted, secret: try secret(of: token))
        return false
    }

    /// Deletes a token.
    package func remove(_ token: StoredMACToken) throws(StoreFault) {
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(fileName(token.identifier)) }
    }

    /// Deletes all tokens that were issued for a key.
    func remove(of key: ServerKey) throws(StoreFault) {
        for token in try list() where token.credential == key.identifier { try remove(token) }
    }

    /// Reads a token; nil if it is missing or cannot be used.
    private func load(
        _ identifier: MACTokenID, in directory: Directory
    ) throws(StoreFault) -> StoredMACToken? {
        do throws(StoreFault) {
            let token: StoredMACToken? = try directory.record(fileName(identifier))
            // A file whose name is not that of its token was moved or copied.
            return token?.identifier == identifier ? token : nil
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Returns the directory; nil if no token was ever stored.
    private func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: MACTokenID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }
}
