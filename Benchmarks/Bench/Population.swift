import Crypto
import Statement
import Store
import TestSupport
import Vault

/// Fills a machine's state as years of use would; runs on that machine.
enum Population {
    /// What is added.
    enum Kind: String {
        /// Receipts of alice's.
        case receipts
        /// Accounts with a finger, a key and a receipt each.
        case accounts
    }

    /// The bench is called with it to run there.
    static let word = "populate"
    private static let now = Instant(seconds: 1_795_195_440)
    private static let firstUID: UInt32 = 20_000

    /// Adds what the words say: a kind and a number.
    static func add(_ words: ArraySlice<String>) throws {
        guard words.count == 2, let kind = words.first.flatMap(Kind.init(rawValue:)),
            let count = words.last.flatMap({ UInt32($0) })
        else { throw BenchFault.unexpected("populate wants a kind and a number") }
        let state = try StateDirectory.open()
        let name = Array(Stage.alice.name.utf8)
        guard let alice = try state.account(name, uid: Stage.alice.uid) else {
            throw BenchFault.unexpected("alice is not enrolled")
        }
        switch kind {
        case .receipts: try addReceipts(Int(count), to: alice, state)
        case .accounts:
            for number in 0..<count { try addAccount(number, like: alice, state) }
        }
    }

    private static func addAccount(
        _ number: UInt32, like model: AccountState, _ state: StateDirectory
    ) throws {
        guard let print = try model.prints.enrolment().prints.first else {
            throw BenchFault.unexpected("alice has no finger")
        }
        let account = try state.makeAccount(
            Array("user\(number)".utf8), uid: firstUID + number, now: now)
        var template = print.template
        _ = try account.prints.add(
            &template, finger: print.finger, reader: print.reader, now: now)
        _ = try account.credential.issue(
            try account.prints.enrolment(), vault: FileVault(host: state.host), now: now)
        try addReceipts(1, to: account, state)
    }

    private static func addReceipts(
        _ count: Int, to account: AccountState, _ state: StateDirectory
    ) throws {
        let enrolment = try account.prints.enrolment()
        guard case .issued(let credential) = try account.credential.state() else {
            throw BenchFault.unexpected("login is off")
        }
        let context = try account.credential.context(of: credential, enrolment)
        let key = try FileVault(host: state.host).ready(key: credential.sealed, context)
        let log = try account.receipts()
        let place = try log.prepare()
        var (counter, previous) = (place.counter, place.previous)
        for _ in 0..<count {
            let statement = Statement(
                audience: Audience.local, account: account.name, uid: account.uid,
                device: state.device, credential: credential.identifier,
                challenge: [UInt8](repeating: 3, count: 32), service: Array("sudo".utf8),
                terminal: Array("/dev/pts/3".utf8), purpose: Array("sudo id".utf8),
                factor: Factor.fingerprint, enrolment: enrolment.state.generation,
                counter: counter, previous: previous, issued: now
            ).encoded()
            let numbers = try key.sign(
                SSHSignature.signedData(
                    namespace: SignatureNamespace.login.bytes,
                    messageDigest: try SHA256.digest(statement)), context)
            let signature = SSHSignature(
                publicKey: credential.publicKey, namespace: .login, r: numbers.r, s: numbers.s)
            let text = Receipt.text(statement: statement, signature: signature.blob)
            try log.append(text)
            previous = try SHA256.digest(text)
            counter += 1
        }
        try log.flush()
    }
}
