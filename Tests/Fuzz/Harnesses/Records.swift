import Policy
import Statement
import Vault
import Wire

@testable import Store

/// What is kept on disk: the kind in the first byte, then the record.
enum Records: Harness {
    static let name = "records"

    private static let kinds: [any Record.Type] = [
        AccountRecord.self, CounterRecord.self, CredentialRecord.self, LockoutRecord.self,
        PrintRecord.self, SecretRecord.self, ReaderWorkRecord.self, OwnerRecord.self,
    ]

    static var seeds: [[UInt8]] {
        let now = Instant(seconds: 1_795_195_440)
        let moment = Lockout.Moment(boot: bytes("boot"), sinceBoot: .seconds(90))
        var account = AccountRecord(
            name: bytes("alice"), uid: 1_000, generation: 7, created: now)
        account.list([
            ListedPrint(identifier: [UInt8](0..<16), finger: .leftThumb),
            ListedPrint(identifier: [UInt8](1..<17), finger: nil),
        ])
        var records: [(UInt8, any Record)] = [
            (0, account),
            (1, CounterRecord(counter: 42)),
            (2, CredentialRecord.disabled(since: now)),
            (2, CredentialRecord.destroyed(.fingerAdded, since: now)),
            (3, LockoutRecord(lockout: Lockout(failures: 5, pausedAt: moment))),
            (3, LockoutRecord(lockout: Lockout(failures: 20, pausedAt: nil))),
            (4, PrintRecord(finger: .leftThumb, reader: bytes("r"), added: now, sealed: [1, 2])),
        ]
        let kept = [storage(serial: nil), storage(serial: "1")]
        records.append((6, ReaderWorkRecord(enrolling: kept, deleting: [])))
        records.append((6, ReaderWorkRecord(enrolling: [], deleting: kept)))
        records.append((7, OwnerRecord(uid: 1_000)))
        if let credential = sealed(now) {
            records.append((2, CredentialRecord.sealed(credential)))
            records.append((2, CredentialRecord.changing(from: nil, to: credential)))
            records.append((2, CredentialRecord.changing(from: credential, to: credential)))
        }
        for count in [1, 2] {
            if let secret = secret(now, sealings: count) { records.append((5, secret)) }
        }
        return records.map { [$0.0] + $0.1.encoded() }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let kind = bytes.first, Int(kind) < kinds.count else { return }
        check(kinds[Int(kind)], [UInt8](bytes.dropFirst()))
    }

    private static func check(_ kind: any Record.Type, _ contents: [UInt8]) {
        guard let record: any Record = try? kind.init(contents: contents) else { return }
        require(record.encoded() == contents, "a record has a second form")
    }

    private static func secret(_ now: Instant, sealings: Int) -> SecretRecord? {
        let digest = [UInt8](repeating: 3, count: 32)
        guard let state = EnrolmentState(generation: 7, digest: digest) else { return nil }
        let sealing = SecretSealing(vault: .file, enrolment: state, key: [1, 2, 3])
        var record = SecretRecord(
            name: bytes("my mail%"), created: now,
            sealings: [SecretSealing](repeating: sealing, count: sealings),
            content: [UInt8](repeating: 9, count: SealedContent.overhead + 5))
        record.mark = [UInt8](repeating: 4, count: RecordMark.count)
        return record
    }

    private static func sealed(_ now: Instant) -> SealedCredential? {
        let digest = [UInt8](repeating: 3, count: 32)
        guard let key = Signatures.key, let state = EnrolmentState(generation: 7, digest: digest)
        else { return nil }
        let entry = PrintManifest.Entry(identifier: [UInt8](0..<16), digest: digest)
        return SealedCredential(
            identifier: [UInt8](0..<16), created: now, publicKey: key, vault: .tpm,
            sealed: [1, 2, 3], enrolment: state, host: [UInt8](0..<16),
            manifest: PrintManifest(entries: [entry, entry]), storage: [storage(serial: "%")])
    }

    private static func storage(serial: String?) -> ReaderStorage {
        ReaderStorage(
            driver: "driver", device: "0", serial: serial,
            prints: [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)])
    }
}

/// The end of a receipt log, as a crash or somebody left it.
enum ReceiptTexts: Harness {
    static let name = "receipt-texts"
    static var seeds: [[UInt8]] {
        let receipts = Receipts.seeds
        return receipts + [receipts.flatMap { $0 }, receipts.flatMap { $0.dropLast(3) }]
    }

    static func feed(_ bytes: [UInt8]) {
        for isWholeFile in [true, false] {
            let (start, end) = ReceiptText.last(in: bytes, isWholeFile: isWholeFile)
            require(start ?? 0 <= end && end <= bytes.count, "a receipt out of bounds")
        }
    }
}
