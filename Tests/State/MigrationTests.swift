// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

@Suite("a state directory of version 1")
struct MigrationTests {
    private static let daemon: AccountName = "daemon"
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try EarlierState.copy(version: 1, to: scratch.path)
    }

    @Test("is one machine with its accounts, and says version 4")
    func migrates() throws {
        let identity = try scratch.read("device-id")
        let state = try StateDirectory.open(scratch.path)
        #expect(state.device.hexadecimal + [10] == identity)
        #expect(try scratch.read("version") == Array("signet-state: 4\n".utf8))
        for uid in [1, 2] {
            let record = try scratch.read("private/accounts/\(uid)/credential")
            #expect(record.starts(with: Array("signet-credential: 2\n".utf8)))
        }
        #expect(try state.accounts().map(\.uid) == [1, 2, 3])
        let account = try daemon(state)
        #expect(account.lockout.load() == Lockout(failures: 2, pausedAt: nil))
        let enrolment = try account.prints.enrolment()
        #expect(Set(enrolment.prints.map(\.finger)) == [.rightIndex, .leftIndex])
        #expect(enrolment.damaged.isEmpty && enrolment.state.generation == 2)
        let bin = try #require(try state.account("bin", uid: 2))
        #expect(try bin.prints.enrolment().prints.map(\.finger) == [.rightThumb])
        guard case .disabled = try bin.credential.state() else {
            Issue.record("not disabled")
            return
        }
        let sys = try #require(try state.account("sys", uid: 3))
        #expect(try sys.prints.enrolment().isEmpty && sys.credential.state() == .none)
        #expect(try sys.generation() == 2)
    }

    /// What can be seen of daemon's account: a password and a home of these days after 1970.
    private static func evidence(password: Int?, home: Int?) throws -> AccountEvidence {
        let field: AccountEvidence.PasswordField =
            try password.map {
                .entry(
                    ShadowEntry(
                        hash: try unsafe SecretBytes(copying: Array("$6$a$b".utf8).span.bytes),
                        changed: $0))
            } ?? .none
        return AccountEvidence(
            field: field,
            home: home.map {
                HomeMark(
                    path: Array("/home/daemon".utf8), filesystem: Array("ext4 1 2".utf8), inode: 7,
                    born: UInt64($0) * 86_400_000_000_000)
            })
    }

    @Test(
        "an account that may be the one that enrolled goes on, and one that is younger than that does not",
        arguments: [
            // Days long before the enrolment and long after it.
            (10_000, 10_000, AccountLife.same), (10_000, 40_000, .same), (nil, 10_000, .same),
            (nil, nil, .same), (40_000, 10_000, .same), (40_000, nil, .same), (nil, 40_000, .same),
            (40_000, 40_000, .replaced), (40_001, 40_000, .replaced),
        ] as [(Int?, Int?, AccountLife)])
    func marks(password: Int?, home: Int?, life: AccountLife) throws {
        let evidence = try Self.evidence(password: password, home: home)
        let state = try StateDirectory.open(
            scratch.path, witness: LifeWitness { _, _ in evidence })
        #expect(try daemon(state).life(seen: evidence) == life)
    }

    @Test("its credential opens for its fingers, and signs under the key that was registered")
    func opens() throws {
        let state = try StateDirectory.open(scratch.path)
        let account = try daemon(state)
        let signature = try sign([1, 2], state, account)
        let line = try SSHPublicKey.parse(line: try scratch.read("keys/1.pub"))
        #expect(
            try P256PublicKey(point: line.key.point.bytes).verifies(signature, message: [1, 2]))
        // And no more than before: another finger ends it.
        var template: [UInt8] = [1]
        let credential = try credential(account)
        try account.prints.add(
            &template, finger: .leftThumb, reader: StateFixture.reader, now: StateFixture.now)
        let changed = try account.prints.enrolment()
        let context = try account.credential.context(of: credential, enrolment: changed)
        let key = try FileVault(host: state.host).ready(key: credential.sealed, context: context)
        #expect(throws: VaultError.doesNotOpen) { try key.sign([1, 2], context) }
    }

    @Test("its chain of receipts continues, unbroken")
    func goesOn() throws {
        let state = try StateDirectory.open(scratch.path)
        let account = try daemon(state)
        let log = try account.receipts()
        let place = try log.prepare()
        #expect(place.isIntact && place.counter == 6)
        try log.append(try receipt(state, account, place))
        try log.flush()
        let head = try log.head()
        let signers = RegisteredSigner.parse(file: try account.credential.signers())
        var chain = ReceiptChain(
            account: Self.daemon, uid: 1, signers: try #require(signers),
            headCounter: head.counter, headDigest: head.digest)
        for text in try log.read(from: 0, limit: 10).entries { try chain.verify(text) }
        #expect(try chain.end() == 4)
    }

    @Test("migrated once, it is not changed again")
    func once() throws {
        _ = try StateDirectory.open(scratch.path)
        let after = try contents()
        _ = try StateDirectory.open(scratch.path)
        #expect(try contents() == after)
    }

    @Test("a fault at any step leaves it to be migrated by the next opening, which then does")
    func interrupted() throws {
        let whole = try StateDirectory.open(scratch.path)
        let expected = try contents()
        let state = try daemon(whole).prints.enrolment().state
        for step in 0..<120 {
            let again = try Scratch()
            try EarlierState.copy(version: 1, to: again.path)
            let plan = FaultPlan()
            plan.arm(after: step)
            let first = try? StateDirectory.open(again.path, faults: plan.faults)
            if first == nil {
                let version = try again.read("version")
                let isMarked = version == Array("signet-state: 4\n".utf8)
                #expect(try !isMarked || isDone(again), "the version comes last")
            }
            let second = try StateDirectory.open(again.path)
            #expect(try daemon(second).prints.enrolment().state == state)
            #expect(try contents(again) == expected, "step \(step)")
            if first != nil {
                print("migration: \(step) points")
                #expect(step >= 20)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("a damaged print is reported as damaged, a foreign one too; neither is taken over")
    func damaged() throws {
        let names = Layout.entries(of: scratch.at("private/accounts/1/prints"))
        let name = try #require(names.first)
        var bytes = try scratch.read("private/accounts/1/prints/\(name)")
        bytes[bytes.count - 20] ^= 1
        try scratch.write("private/accounts/1/prints/\(name)", bytes)
        let foreign = Layout.entries(of: scratch.at("private/accounts/2/prints"))
        try scratch.write(
            "private/accounts/1/prints/\(String(repeating: "0", count: 32))",
            try scratch.read("private/accounts/2/prints/\(try #require(foreign.first))"))
        try scratch.write("private/accounts/1/prints/\(String(repeating: "f", count: 32))", "x")
        try scratch.write("private/accounts/1/prints/notes", "x")
        let account = try daemon(try StateDirectory.open(scratch.path))
        let enrolment = try account.prints.enrolment()
        #expect(enrolment.prints.count == 1)
        #expect(enrolment.damaged.count == 3)
        #expect(enrolment.damaged.map(\.finger).contains(.rightThumb))
        #expect(enrolment.damaged.map(\.finger).contains(nil))
        let credential = try credential(account)
        #expect(!account.credential.fits(credential, enrolment: enrolment))
        #expect(try account.credential.explain(credential, enrolment: enrolment) == .printDamaged)
        try account.prints.commit(
            try account.prints.draft(removing: enrolment.damaged.map(\.identifier)))
        #expect(try account.prints.enrolment().damaged.isEmpty)
    }

    @Test("more files than fingers are accepted: those that open come first")
    func tooMany() throws {
        for number in 0..<12 {
            try scratch.write(
                "private/accounts/1/prints/\(String(repeating: "0", count: 30))\(10 + number)",
                "x")
        }
        let account = try daemon(try StateDirectory.open(scratch.path))
        let enrolment = try account.prints.enrolment()
        #expect(enrolment.prints.count == 2 && enrolment.damaged.count == PrintStore.limit - 2)
        #expect(account.credential.fits(try credential(account), enrolment: enrolment))
    }

    @Test("one account whose record is damaged keeps no other from being migrated")
    func damagedAccount() throws {
        try scratch.write("private/accounts/2/account", "signet-account: 1\n")
        #expect(unsafe chmod(scratch.at("private/accounts/3"), 0o777) == 0)
        let state = try StateDirectory.open(scratch.path)
        #expect(try state.accounts().map(\.uid) == [1])
        #expect(throws: StoreFault.damaged(path: scratch.at("private/accounts/2/account"))) {
            try state.account("bin", uid: 2)
        }
        try sign([1], state, daemon(state))
    }

    @Test("a record of version 1 in a later directory is damaged: nothing is listed in it")
    func mixed() throws {
        let old = try scratch.read("private/accounts/1/account")
        let state = try StateDirectory.open(scratch.path)
        try scratch.write("private/accounts/1/account", old)
        #expect(throws: StoreFault.damaged(path: scratch.at("private/accounts/1/account"))) {
            try daemon(state)
        }
    }

    @Test("where nothing says which version it is, it is brought forward too")
    func unversioned() throws {
        #expect(unsafe unlink(scratch.at("version")) == 0)
        let state = try StateDirectory.open(scratch.path)
        try sign([1], state, daemon(state))
        #expect(try scratch.read("version") == Array("signet-state: 4\n".utf8))
    }

    @Test("of another machine, or with its secret lost, it migrates and opens nothing")
    func anotherSecret() throws {
        let secret = try scratch.read("private/host-secret")
        try scratch.write("private/host-secret", secret.map { $0 ^ 1 })
        let state = try StateDirectory.open(scratch.path)
        let enrolment = try daemon(state).prints.enrolment()
        #expect(enrolment.isEmpty && enrolment.damaged.count == 2)
        // With the right one back, all is there.
        try scratch.write("private/host-secret", secret)
        let again = try StateDirectory.open(scratch.path)
        try sign([1], again, daemon(again))
    }

    private func daemon(_ state: StateDirectory) throws -> AccountState {
        try #require(try state.account(Self.daemon, uid: 1))
    }

    private func credential(_ account: AccountState) throws -> StoredCredential {
        guard case .issued(let credential) = try account.credential.state() else {
            throw StoreFault.damaged(path: "credential")
        }
        return credential
    }

    @discardableResult
    private func sign(
        _ message: [UInt8], _ state: StateDirectory, _ account: AccountState
    ) throws -> P256Signature {
        let enrolment = try account.prints.enrolment()
        let credential = try credential(account)
        #expect(
            credential.vault == .file && account.credential.fits(credential, enrolment: enrolment))
        let context = try account.credential.context(of: credential, enrolment: enrolment)
        return try FileVault(host: state.host).ready(key: credential.sealed, context: context)
            .sign(message, context)
    }

    private func receipt(
        _ state: StateDirectory, _ account: AccountState, _ place: Reservation
    ) throws -> [UInt8] {
        let credential = try credential(account)
        let statement = Statement(
            audience: Audience.local, account: Self.daemon, uid: 1, requester: Self.daemon,
            device: state.device,
            credential: credential.identifier, challenge: .sample(repeating: 3),
            service: "sudo", terminal: [], purpose: [], factor: Factor.fingerprint,
            enrolment: 2, counter: place.counter, previous: place.previous, issued: StateFixture.now
        ).encoded()
        let namespace = SignatureNamespace.login
        let signed = SSHSignature.signedData(
            namespace: namespace.bytes, messageDigest: try SHA256.digest(statement))
        let numbers = try sign(signed, state, account)
        let signature = SSHSignature(
            publicKey: credential.publicKey, namespace: namespace, r: numbers.r, s: numbers.s)
        return Receipt.text(statement: statement, signature: signature.blob)
    }

    /// Whether each account's record has the new form already.
    private func isDone(_ scratch: Scratch) throws -> Bool {
        try [1, 2, 3].allSatisfy {
            try scratch.read("private/accounts/\($0)/account").starts(
                with: Array("signet-account: 2\n".utf8))
        }
    }

    private func contents(_ scratch: Scratch? = nil) throws -> [String: [UInt8]] {
        let path = (scratch ?? self.scratch).path
        var found: [String: [UInt8]] = [:]
        var left = [""]
        while let name = left.popLast() {
            for entry in Layout.entries(of: path + name) {
                let next = "\(name)/\(entry)"
                var status = stat()
                #expect(unsafe lstat(path + next, &status) == 0)
                if status.st_mode & S_IFMT == S_IFDIR {
                    left.append(next)
                } else if entry != "life" {
                    // The marks have an id and a time of their own.
                    found[next] = try Layout.read(path + next)
                }
            }
        }
        return found
    }
}
