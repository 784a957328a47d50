// SPDX-License-Identifier: Apache-2.0
import Authorization
import Domain
import LoginProtocol
import Sealing
import SignedFormats
import TestSupport

@testable import State

/// Records of each kind, in all their states.
enum RecordSamples {
    private static let now = Instant(seconds: 1_795_195_440)
    private static let digest = [UInt8](repeating: 3, count: 32)
    private static let state = EnrolmentState(generation: 7, digest: digest)

    static var accounts: [AccountFile] {
        let new = AccountFile(name: "alice", uid: 1_000, generation: 0, created: now)
        var account = AccountFile(name: "alice", uid: 1_000, generation: 7, created: now)
        account.list([
            ListedPrint(identifier: .sample(0..<16), finger: .leftThumb),
            ListedPrint(identifier: .sample(1..<17), finger: nil),
        ])
        return [new, account]
    }

    static var counters: [CounterRecord] {
        [
            CounterRecord(),
            CounterRecord(counter: 42, head: ChainHead(counter: 41, digest: digest)),
            CounterRecord(
                counter: 42, head: ChainHead(counter: 41, digest: digest),
                latest: Instant(seconds: 1_700_000_000)),
        ]
    }

    static var credentials: [CredentialRecord] {
        let none: [CredentialRecord] = [
            .disabled(since: now), .destroyed(.fingerAdded, since: now),
            .destroyed(.readerExchanged, since: now),
        ]
        guard let credential = sealed else { return none }
        return none + [
            .sealed(credential), .changing(from: nil, to: credential),
            .changing(from: credential, to: credential),
        ]
    }

    static var lockouts: [LockoutRecord] {
        let moment = Lockout.Moment(boot: bytes("boot"), sinceBoot: .seconds(90))
        return [
            LockoutRecord(lockout: Lockout(failures: 5, pausedAt: moment)),
            LockoutRecord(lockout: Lockout(failures: 20, pausedAt: nil)),
        ]
    }

    static var prints: [PrintRecord] {
        [TemplateKeyID.host, .kept(.sample(0..<16))].map { key in
            PrintRecord(
                finger: .leftThumb, reader: bytes("r"), added: now, key: key, sealed: [1, 2])
        }
    }

    static var templateKeys: [TemplateKeyRecord] {
        VaultKind.allCases.map { TemplateKeyRecord(vault: $0, sealed: [1, 2, 3]) }
    }

    static var secrets: [SecretRecord] {
        guard let state else { return [] }
        return [1, 2].map { count in
            let sealing = SecretSealing(vault: .file, enrolment: state, key: [1, 2, 3])
            var record = SecretRecord(
                name: bytes("my mail%"), created: now,
                sealings: [SecretSealing](repeating: sealing, count: count),
                content: [UInt8](repeating: 9, count: SealedContent.overhead + 5))
            record.mark = [UInt8](repeating: 4, count: RecordMark.count)
            return record
        }
    }

    static var serverKeys: [ServerKey] {
        guard let key = Signatures.key, let state else { return [] }
        return ServerKey.State.allCases.map { kind in
            let count = kind == .invalidated ? 0 : kind == .good ? 2 : 1
            let sealing = ServerKey.Sealing(enrolment: state, key: [1, 2, 3])
            return ServerKey(
                server: kind == .good ? "https://id.example.org" : ServerKey.signing,
                account: "a\nb", application: "shop", audience: .none,
                registration: .sample(0..<16),
                deviceName: kind == .good ? DeviceName(bytes("laptop")) : nil,
                identifier: .sample(16..<32), created: now,
                publicKey: key, vault: .tpm, state: kind, counter: 42,
                sealings: [ServerKey.Sealing](repeating: sealing, count: count),
                password: kind == .good
                    ? ServerKey.PasswordKey(
                        NewCredential(publicPoint: key.point.bytes, sealed: [1, 2, 3]), by: .file,
                        created: now) : nil)
        }
    }

    static var macTokens: [StoredMACToken] {
        serverKeys.prefix(1).map { key in
            var token = StoredMACToken(
                bytes("cron"), for: key, identifier: .sample(0..<16), created: now, expires: now)
            token.sealed = [UInt8](0..<60)
            return token
        }
    }

    static var readerWork: [ReaderWorkRecord] {
        let kept = [storage(serial: nil), storage(serial: "1")]
        return [
            ReaderWorkRecord(enrolling: kept, deleting: []),
            ReaderWorkRecord(enrolling: [], deleting: kept),
        ]
    }

    static var owners: [OwnerRecord] { [OwnerRecord(uid: 1_000)] }

    static var keyrings: [KeyringRecord] {
        let dropped = KeyringLoss.allCases.map { KeyringRecord.dropped($0, since: now) }
        return dropped + [digest, nil].compactMap(keyring)
    }

    static var keptVerdicts: [CachedVerdict] {
        let verdict = Verdict(
            audience: "corp", account: "a", local: "alice",
            device: .sample(0..<16), challenge: .sample(0..<32), module: .sample(0..<32),
            decision: .allow,
            issued: now, expires: now)
        return [CachedVerdict(text: verdict.encoded(), signature: [1, 2])].compactMap { $0 }
    }

    /// Without a list of prints.
    static var accountsOfVersionOne: [[UInt8]] {
        accounts.map { versionOne($0, "signet-account", without: ["prints", "print", "finger"]) }
    }

    /// Never on the way to another, without a vault, and without what readers keep.
    static var credentialsOfVersionOne: [[UInt8]] {
        let later = ["vault", "readers", "driver", "device", "serial", "stored"]
        return credentials.compactMap { record in
            if case .changing = record { return nil }
            return versionOne(record, "signet-credential", without: later)
        }
    }

    private static func versionOne(
        _ record: some Record, _ first: String, without later: [String]
    ) -> [UInt8] {
        let text = String(decoding: record.encoded(), as: UTF8.self)
        let lines = text.split(separator: "\n").dropFirst().filter { line in
            !later.contains { line.hasPrefix("\($0): ") }
        }
        return bytes((["\(first): 1"] + lines).map { "\($0)\n" }.joined())
    }

    private static func keyring(_ digest: [UInt8]?) -> KeyringRecord? {
        guard let state, let password = PasswordState(digest: digest) else { return nil }
        return .sealed(
            SealedPassword(
                identifier: .sample(0..<16), created: now, vault: .tpm, enrolment: state,
                password: password, sealed: SealedContent(key: [1, 2, 3], content: [4, 5])))
    }

    private static var sealed: SealedCredential? {
        guard let key = Signatures.key, let state else { return nil }
        let entry = PrintManifest.Entry(identifier: .sample(0..<16), digest: digest)
        return SealedCredential(
            identifier: .sample(0..<16), created: now, publicKey: key, vault: .tpm,
            sealed: [1, 2, 3], enrolment: state, host: [UInt8](0..<16),
            manifest: PrintManifest(entries: [entry, entry]), storage: [storage(serial: "%")])
    }

    private static func storage(serial: String?) -> ReaderStorage {
        ReaderStorage(
            driver: "driver", device: "0", serial: serial,
            prints: [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)])
    }
}
