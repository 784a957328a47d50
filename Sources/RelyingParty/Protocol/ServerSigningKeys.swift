// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SQL
import SignedFormats
import Synchronization

/// Why the server has no keys to sign with.
enum KeyFault: Error, Equatable {
    case crypto(CryptoFault)
    case database(DatabaseFault)
    /// A sealed key does not open: it was sealed with another master secret.
    case sealedOtherwise
}

/// A single line without a full stop, as every fault that is reported.
extension KeyFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .crypto(let fault): "cryptography failed: \(fault)"
        case .database(let fault): "\(fault)"
        case .sealedOtherwise:
            "the keys in the database were sealed with another master secret"
        }
    }
}

/// The server's signing keys: one for access tokens and callbacks, and one for verdicts.
///
/// The private keys are stored in the database, sealed with the master secret (`RowSeal`). So all
/// servers on one database share them, and a copy of the database alone does not reveal them. The
/// unsealed keys are cached in memory and reloaded by `refresh`.
final class ServerSigningKeys: Sendable {
    /// Seals the secrets of MAC tokens.
    let tokenSeal: RowSeal
    private let keySeal: RowSeal
    private let database: any Database
    private let keys: Mutex<KeySet>
    private let renewal = KeyRenewal()

    /// Opens the keys in the database, and creates those that are missing.
    ///
    /// If several servers start at once, the database keeps the key of one server for each use.
    ///
    /// - Throws: `.sealedOtherwise` if the keys were sealed with another master secret.
    init(_ database: any Database, master: SecretBytes, at now: Int64) async throws(KeyFault) {
        self.database = database
        do throws(CryptoFault) {
            keySeal = try RowSeal(master: master, context: "signing-key")
            tokenSeal = try RowSeal(master: master, context: "mac-token")
        } catch {
            throw .crypto(error)
        }
        for use in KeyUse.allCases { try await addKey(use, to: database, seal: keySeal, at: now) }
        keys = Mutex(try openKeys(try await storedKeys(of: database), seal: keySeal, at: now))
    }

    /// Reloads the keys: an administrator may have rotated them, or a published one may be due.
    ///
    /// It is called every second, so it reads the rows but unseals keys only if something has
    /// changed.
    func refresh(at now: Int64) async throws(KeyFault) {
        let rows = try await storedKeys(of: database)
        let former = keys.withLock { $0 }
        guard !former.isOf(rows, at: now) else { return }
        let fresh = try openKeys(rows, seal: keySeal, at: now)
        keys.withLock { $0 = fresh }
    }

    /// Reloads the keys for a token that names an unknown key, which another server may have
    /// created.
    ///
    /// Strangers can send such tokens, so concurrent reloads are merged, and for a second after a
    /// successful one there is no other.
    func refreshForUnknown(at now: Int64) async throws(KeyFault) {
        try await renewal.share { () throws(KeyFault) in try await self.refresh(at: now) }
    }

    /// Generates a key pair and seals its private key, without storing it.
    func fresh() throws(CryptoFault) -> NewKey { try NewKey(keySeal) }

    /// The public keys that verify access tokens, retired ones included.
    var verifying: [JSONWebKey] { keys.withLock { $0.verifying } }

    /// The public key that verifies verdicts: an uncompressed point, 65 bytes.
    var verdictPoint: [UInt8] { keys.withLock { $0.verdict.key.publicPoint } }

    /// Signs a token in compact form; `payload` is the JSON object of its claims.
    func signToken(
        _ payload: [UInt8], as type: TokenType = .access
    ) throws(Problem) -> String {
        let key = keys.withLock { $0.token }
        do throws(CryptoFault) {
            let token = try JSONWebToken.sign(
                payload: payload, with: key.key, keyID: key.id, type: type)
            return String(decoding: token, as: UTF8.self)
        } catch {
            report("no token could be signed: \(error)")
            throw .unavailable
        }
    }

    /// Signs the text of a verdict, and returns the SSHSIG blob.
    func signVerdict(_ text: [UInt8]) throws(Problem) -> [UInt8] {
        let key = keys.withLock { $0.verdict }
        do throws(CryptoFault) {
            return try key.key.signature(of: text, in: .verdict).blob
        } catch {
            report("no verdict could be signed: \(error)")
            throw .unavailable
        }
    }
}

/// Merges concurrent reloads into one, and allows none within a second after a successful one.
private actor KeyRenewal {
    private var last: ContinuousClock.Instant?
    private var pending: Task<Result<Void, KeyFault>, Never>?

    func share(
        _ refresh: @escaping @Sendable () async throws(KeyFault) -> Void
    ) async throws(KeyFault) {
        if pending == nil, let last, .now - last < .seconds(1) { return }
        let task =
            pending
            ?? Task {
                do throws(KeyFault) {
                    return .success(try await refresh())
                } catch { return .failure(error) }
            }
        pending = task
        let result = await task.value
        // Another caller may have replaced the task in the meantime.
        if pending == task {
            pending = nil
            if case .success = result { last = .now }
        }
        try result.get()
    }
}

/// A signing key, unsealed.
private struct OpenKey: Sendable {
    let key: P256PrivateKey
    /// The key's thumbprint.
    let id: [UInt8]
}

private struct KeySet: Sendable {
    let token: OpenKey
    let verdict: OpenKey
    /// Includes retired keys for as long as tokens that they signed may be valid.
    let verifying: [JSONWebKey]

    /// Whether these rows would give the same set of keys now.
    func isOf(_ rows: StoredKeys, at now: Int64) -> Bool {
        func id(_ use: KeyUse, rows: [SigningKeyRecord]) -> [UInt8]? {
            rows.signing(use, at: now).map { [UInt8]($0.id.utf8) }
        }
        return token.id == id(.token, rows: rows.token)
            && verdict.id == id(.verdict, rows: rows.verdict)
            && verifying.map(\.id) == rows.token.map { [UInt8]($0.id.utf8) }
    }
}

/// The keys of each use as stored in the database.
private typealias StoredKeys = (token: [SigningKeyRecord], verdict: [SigningKeyRecord])

/// Creates a key for a use that has none yet.
private func addKey(
    _ use: KeyUse, to database: any Database, seal: RowSeal, at now: Int64
) async throws(KeyFault) {
    let row: NewKey
    do throws(CryptoFault) {
        row = try NewKey(seal)
    } catch {
        throw .crypto(error)
    }
    do throws(DatabaseFault) {
        try await database.write { store throws(DatabaseFault) in
            // Does nothing if there is a key already, even one that another server has just
            // created.
            _ = try store.signingKeys.keep(row, for: use, at: now)
        }
    } catch {
        throw .database(error)
    }
}

private func storedKeys(of database: any Database) async throws(KeyFault) -> StoredKeys {
    do throws(DatabaseFault) {
        return try await database.read { store throws(DatabaseFault) in
            (try store.signingKeys.list(.token), try store.signingKeys.list(.verdict))
        }
    } catch {
        throw .database(error)
    }
}

private func openKeys(
    _ rows: StoredKeys, seal: RowSeal, at now: Int64
) throws(KeyFault) -> KeySet {
    do throws(CryptoFault) {
        var verifying: [JSONWebKey] = []
        for row in rows.token {
            verifying.append(try JSONWebKey(P256PublicKey(point: row.publicKey)))
        }
        return KeySet(
            token: try signing(.token, rows: rows.token, seal: seal, at: now),
            verdict: try signing(.verdict, rows: rows.verdict, seal: seal, at: now),
            verifying: verifying)
    } catch {
        throw error == .notAuthentic ? .sealedOtherwise : .crypto(error)
    }
}

/// Opens the key that signs now; all servers on the database select the same one.
private func signing(
    _ use: KeyUse, rows: [SigningKeyRecord], seal: RowSeal, at now: Int64
) throws(CryptoFault) -> OpenKey {
    guard let row = rows.signing(use, at: now) else { throw .notAuthentic }
    let secret = try seal.open(row.sealed, row: row.publicKey)
    return OpenKey(key: try P256PrivateKey(pkcs8: secret), id: [UInt8](row.id.utf8))
}
