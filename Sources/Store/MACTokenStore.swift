// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Vault

/// Keeps an account's MAC tokens: a file each in `mac-tokens/`, named after the token's id.
///
/// A token ends with the key that it was issued to: `ServerStore` has it removed, and whoever uses
/// one holds it against the key besides, since a crash may come in between.
package struct MACTokenStore: Sendable {
    /// The most tokens that an account can have.
    package static let limit = 64
    /// How often it is counted that a server could not be asked to end a token that has expired.
    package static let vainTries: UInt64 = 100
    /// So many seconds lie between two of them: whoever has servers asked more often uses up nothing.
    package static let vainPause: UInt64 = 3_600
    static let directoryName = "mac-tokens"

    let account: AccountState

    /// All tokens, by server and name; what cannot be read is left out, since it is good for nothing.
    package func list() throws(StoreFault) -> [MACToken] {
        guard let directory = try directory() else { return [] }
        var tokens: [MACToken] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            guard let identifier = Hexadecimal.decode(Array(name.utf8)), identifier.count == 16
            else { continue }
            if let token = try load(identifier, in: directory) { tokens.append(token) }
        }
        return tokens.sorted { one, other in
            one.server == other.server
                ? one.name.lexicographicallyPrecedes(other.name)
                : one.server.lexicographicallyPrecedes(other.server)
        }
    }

    /// Seals a secret and keeps the token, in the place of the key's other one of this name; gives it
    /// as it lies there.
    @discardableResult
    package func keep(_ token: MACToken, _ secret: SecretBytes) throws(StoreFault) -> MACToken {
        let former = try list().filter {
            $0.credential == token.credential && $0.name == token.name
        }
        var token = token
        let described = token.described
        token.sealed = try sealed { () throws(VaultError) in
            try MACTokenSeal(host: account.host).seal(
                secret, account: account.name, uid: account.uid, record: described)
        }
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(token, as: fileName(token.identifier))
        for old in former where old.identifier != token.identifier { try remove(old) }
        return token
    }

    /// A token's secret; throws `.vault(.doesNotOpen)` for a record that is not as it was written.
    package func secret(of token: MACToken) throws(StoreFault) -> SecretBytes {
        let described = token.described
        return try sealed { () throws(VaultError) in
            try MACTokenSeal(host: account.host).open(
                token.sealed, account: account.name, uid: account.uid, record: described)
        }
    }

    /// Remembers that the server has yet to be told that a token is not used any more; throws as
    /// `secret` does.
    package func beginRemoval(_ token: MACToken) throws(StoreFault) -> MACToken {
        var marked = token
        marked.state = .removing
        return try keep(marked, try secret(of: token))
    }

    /// Counts that a server could not be told of the end of a token that has expired; true where that
    /// was often enough, and the token is forgotten. Within an hour it is counted once. Throws as
    /// `secret` does.
    ///
    /// The clock alone says that it has expired, and may be wrong; no server is asked for ever either.
    package func wasVain(_ token: MACToken, at now: Instant) throws(StoreFault) -> Bool {
        // While the server was asked, another may have taken its place, or it have been told.
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
        try keep(counted, try secret(of: token))
        return false
    }

    /// Forgets a token.
    package func remove(_ token: MACToken) throws(StoreFault) {
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(fileName(token.identifier)) }
    }

    /// Forgets all that were issued to a key.
    func remove(of key: ServerKey) throws(StoreFault) {
        for token in try list() where token.credential == key.identifier { try remove(token) }
    }

    /// Removes what a crash left half-written. What cannot be removed now is in nobody's way.
    func sweep() {
        try? directory()?.sweep()
    }

    private func load(
        _ identifier: [UInt8], in directory: Directory
    ) throws(StoreFault) -> MACToken? {
        do throws(StoreFault) {
            let token: MACToken? = try directory.record(fileName(identifier))
            // A file under another's name is not where it was written.
            return token?.identifier == identifier ? token : nil
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// The directory, nil where nothing was ever kept.
    private func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
    }
}
