import Crypto
import Posix
import Statement
import Store
import TestSupport
import Testing
import Vault
import Wire

@Suite("a template that the reader improved")
struct ImprovementTests {
    private static let mail: [UInt8] = [1, 2, 3]
    private let password: SecretBytes

    init() throws {
        password = try SecretBytes.random(16)
    }

    /// Alice has two fingers, the key, a secret, and the login password kept.
    private func begin() throws -> Bench {
        let bench = try Bench()
        try bench.add(1, .rightIndex)
        try bench.add(2, .leftIndex)
        try bench.issue()
        try bench.keep(Self.mail, as: "mail")
        try bench.keep(password, try Bench.entry())
        return bench
    }

    private func improve(_ bench: Bench, in account: AccountState) throws {
        guard case .issued(let credential) = try account.credential.state() else {
            throw StoreFault.changedMeanwhile
        }
        let print = try #require(try account.prints.enrolment().prints.first)
        try bench.improve(print.identifier, [9, 9], credential, in: account)
    }

    @Test("stopped anywhere leaves key and secrets that open, and the password or why it is gone")
    func stops() throws {
        for step in 0..<80 {
            let bench = try begin()
            let before = try bench.account.prints.enrolment().state
            let key = try bench.contents(bench.publicKey)
            let plan = FaultPlan()
            let account = try bench.account(failing: plan)
            plan.arm(after: step)
            let isDone = (try? improve(bench, in: account)) != nil
            let isThrough = plan.reached.count <= step
            plan.disarm()
            // As after a crash.
            _ = try StateDirectory.open(bench.scratch.path)
            let now = try bench.account.prints.enrolment()
            #expect(now.damaged.isEmpty && now.prints.count == 2, "\(step)")
            guard case .issued(let credential) = try bench.account.credential.state() else {
                Issue.record("\(step): no credential")
                return
            }
            let signature = try bench.sign([1], credential, now)
            let line = try SSHPublicKey.parse(line: try bench.contents(bench.publicKey))
            #expect(
                try P256PublicKey(point: line.key.point).verifies(signature, message: [1]))
            #expect(try bench.contents(bench.publicKey) == key, "\(step)")
            let secrets = try bench.account.secrets.list()
            #expect(secrets.damaged.isEmpty && secrets.intact.count == 1, "\(step)")
            #expect(try bench.open(try #require(secrets.intact.first)) == Self.mail, "\(step)")
            let loss = try checkPassword(bench, now)
            #expect(loss == nil || !isDone && now.state != before, "\(step): \(loss as Any)")
            if isDone {
                #expect(now.state != before)
                guard isThrough else { continue }
                print("an improved template: \(step) points")
                #expect(step >= 20)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    /// The password opens, or the record tells that it was for other fingers, and then it does not.
    private func checkPassword(_ bench: Bench, _ now: Enrolment) throws -> KeyringLoss? {
        guard case .kept(let kept) = try bench.account.keyring.state() else {
            throw Bench.NotKept()
        }
        let loss = try bench.account.keyring.loss(of: kept, now, try Bench.entry())
        guard loss == nil else {
            #expect(loss == .fingersChanged)
            #expect(throws: VaultError.doesNotOpen) { try bench.open(kept) }
            return loss
        }
        #expect(try bench.open(kept).equals(password))
        return nil
    }
}
