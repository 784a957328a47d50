// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import Posix
import SignedFormats
import Synchronization

/// Why the server has no keys to sign with.
enum KeyFault: Error, Equatable {
    case crypto(CryptoFault)
    case database(DatabaseFault)
    /// A sealed key does not open: the master secret is not the one that it was sealed with.
    case sealedOtherwise
}

/// The server's own keys. Private halves lie sealed in the database: several servers on one
/// database share them, and who has a copy of the database alone has none.
final class ServerKeys: Sendable {
    /// Seals the secrets of MAC tokens.
    let tokenSeal: RowSeal
    private let keySeal: RowSeal
    private let database: any Database
    private let keys: Mutex<KeySet>
    private let renewal = KeyRenewal()

    /// Opens the keys that the database has, or makes the first ones: of several servers that do
    /// so at once, one's are kept.
    init(_ database: any Database, master: SecretBytes, at now: Int64) async throws(KeyFault) {
        self.database = database
        do throws(CryptoFault) {
            keySeal = try RowSeal(master: master, context: "signing-key")
            tokenSeal = try RowSeal(master: master, context: "mac-token")
        } catch {
            throw .crypto(error)
        }
        for use in KeyUse.allCases { try await addKey(use, to: database, keySeal, at: now) }
        keys = Mutex(try openKeys(try await storedKeys(of: database), keySeal, at: now))
    }

    /// Reads anew what the database has: an administrator may have made new keys, and the time of
    /// one that was made before has come.
    ///
    /// Where nothing is other than it was, nothing is opened: it is asked every second.
    func refresh(at now: Int64) async throws(KeyFault) {
        let rows = try await storedKeys(of: database)
        let former = keys.withLock { $0 }
        guard !former.isOf(rows, at: now) else { return }
        let fresh = try openKeys(rows, keySeal, at: now)
        keys.withLock { $0 = fresh }
    }

    /// The same for a token that names a key which is not known here, and may be known to another
    /// server: strangers can send such, so once a second at the most.
    func refreshForUnknown(at now: Int64) async throws(KeyFault) {
        try await renewal.share { () throws(KeyFault) in try await self.refresh(at: now) }
    }

    /// A new key, sealed, that is nobody's yet.
    func fresh() throws(CryptoFault) -> NewKey { try NewKey(keySeal) }

    /// The keys that access tokens are verified with.
    var verifying: [JSONWebKey] { keys.withLock { $0.verifying } }

    /// The public half of the key that signs verdicts, 65 bytes.
    var verdictPoint: [UInt8] { keys.withLock { $0.verdict.key.publicPoint } }

    /// An access token with these claims, the bytes of a JSON object.
    func signToken(_ payload: [UInt8]) throws(Problem) -> String {
        let key = keys.withLock { $0.token }
        do throws(CryptoFault) {
            let token = try JSONWebToken.sign(payload: payload, with: key.key, keyID: key.id)
            return String(decoding: token, as: UTF8.self)
        } catch {
            report("no token could be signed: \(error)")
            throw .unavailable
        }
    }

    /// The signature of a verdict's text: an SSHSIG blob.
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

/// Of many that want the keys read anew at once, one does; and nobody does within a second after.
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
        // Others may wait for the same one, or for a later one.
        if pending == task {
            pending = nil
            if case .success = result { last = .now }
        }
        try result.get()
    }
}

/// A key that is open.
private struct OpenKey: Sendable {
    let key: P256PrivateKey
    /// Its thumbprint.
    let id: [UInt8]
}

private struct KeySet: Sendable {
    let token: OpenKey
    let verdict: OpenKey
    /// Those of retired keys too, for as long as their tokens may hold.
    let verifying: [JSONWebKey]

    /// Whether it is what these rows come to now.
    func isOf(_ rows: StoredKeys, at now: Int64) -> Bool {
        func id(_ use: KeyUse, _ rows: [SigningKeyRecord]) -> [UInt8]? {
            rows.signing(use, at: now).map { [UInt8]($0.id.utf8) }
        }
        return token.id == id(.token, rows.token) && verdict.id == id(.verdict, rows.verdict)
            && verifying.map(\.id) == rows.token.map { [UInt8]($0.id.utf8) }
    }
}

/// The keys of each use as they lie in the database.
private typealias StoredKeys = (token: [SigningKeyRecord], verdict: [SigningKeyRecord])

/// Makes a key for a use that has none yet.
private func addKey(
    _ use: KeyUse, to database: any Database, _ seal: RowSeal, at now: Int64
) async throws(KeyFault) {
    let row: NewKey
    do throws(CryptoFault) {
        row = try NewKey(seal)
    } catch {
        throw .crypto(error)
    }
    do throws(DatabaseFault) {
        try await database.write { store throws(DatabaseFault) in
            // Where there is one, or another server makes one just now, that one signs.
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
    _ rows: StoredKeys, _ seal: RowSeal, at now: Int64
) throws(KeyFault) -> KeySet {
    do throws(CryptoFault) {
        var verifying: [JSONWebKey] = []
        for row in rows.token {
            verifying.append(try JSONWebKey(P256PublicKey(point: row.publicKey)))
        }
        return KeySet(
            token: try signing(.token, rows.token, seal, at: now),
            verdict: try signing(.verdict, rows.verdict, seal, at: now), verifying: verifying)
    } catch {
        throw error == .notAuthentic ? .sealedOtherwise : .crypto(error)
    }
}

/// The key that signs now, which every server on the database takes.
private func signing(
    _ use: KeyUse, _ rows: [SigningKeyRecord], _ seal: RowSeal, at now: Int64
) throws(CryptoFault) -> OpenKey {
    guard let row = rows.signing(use, at: now) else { throw .notAuthentic }
    let secret = try seal.open(row.sealed, row: row.publicKey)
    return OpenKey(key: try P256PrivateKey(pkcs8: secret), id: [UInt8](row.id.utf8))
}
