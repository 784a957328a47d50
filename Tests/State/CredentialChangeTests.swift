// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("a change of fingers and credential")
struct CredentialChangeTests {
    /// What can be done to an account that has two fingers, the reader's other one unknown.
    enum Kind: CaseIterable {
        case first, add, replace, remove, removeAll, enable, enableAgain, disable, destroy

        var isOnBefore: Bool { self != .first && self != .enable }

        fileprivate func isDone(_ before: Look, _ after: Look) -> Bool {
            let isChanged = after.enrolment != before.enrolment
            let isNew = after.credential != nil && after.credential != before.credential
            return switch self {
            case .first, .add, .replace, .remove: isChanged && isNew
            case .removeAll: isChanged && after.state == .none
            case .enable, .enableAgain: !isChanged && isNew
            case .disable: !isChanged && after.state == .disabled(since: Bench.now)
            case .destroy:
                !isChanged && after.state == .destroyed(.fingerAdded, since: Bench.now)
            }
        }

        /// The state to begin with.
        func prepare(_ bench: Bench) throws {
            guard self != .first else { return }
            try bench.add(1, .rightIndex)
            try bench.add(2, .leftIndex)
            try bench.issue()
            if self == .enable { try bench.account.credential.disable(now: Bench.now) }
        }

        func run(_ account: AccountState, _ bench: Bench) throws {
            let store = account.credential
            switch self {
            case .first: try change(account, bench, add(account, .rightIndex))
            case .add: try change(account, bench, add(account, .leftThumb))
            case .replace: try change(account, bench, add(account, .leftIndex))
            case .remove:
                let gone = try #require(try account.prints.enrolment().prints.first)
                try change(
                    account, bench, try account.prints.draft(removing: [gone.identifier]))
            case .removeAll:
                let all = try account.prints.enrolment().prints.map(\.identifier)
                try account.prints.commit(try account.prints.draft(removing: all))
                try store.withdraw()
            case .enable, .enableAgain:
                _ = try store.issue(
                    try account.prints.enrolment(), vault: bench.vault, now: Bench.now)
            case .disable: try store.disable(now: Bench.now)
            case .destroy: try store.destroy(.fingerAdded, now: Bench.now)
            }
        }

        private func add(_ account: AccountState, _ finger: Finger) throws -> PrintChange {
            var template = [UInt8](repeating: 7, count: 500)
            return try account.prints.draft(
                adding: &template, finger: finger, reader: Bench.reader, now: Bench.now)
        }

        private func change(
            _ account: AccountState, _ bench: Bench, _ change: PrintChange
        ) throws {
            let draft = try account.credential.draft(change.enrolment)
            try account.credential.publish(
                draft, made: try bench.vault.create(draft.context), by: .file, with: change,
                now: Bench.now)
        }
    }

    @Test(
        "that stops at any step leaves the old fingers with the old key or the new with the new",
        arguments: Kind.allCases)
    func stops(_ kind: Kind) throws {
        for step in 0..<80 {
            let bench = try Bench()
            try kind.prepare(bench)
            let before = try Look(bench)
            #expect((before.credential != nil) == kind.isOnBefore)
            let plan = FaultPlan()
            let account = try bench.account(failing: plan)
            plan.arm(after: step)
            let done: Void? = try? kind.run(account, bench)
            let points = plan.reached.count
            plan.disarm()
            // As after a crash: what is there is opened anew, and no account is asked about yet.
            let state = try StateDirectory.open(bench.scratch.path)
            state.recover()
            let keys = Layout.entries(of: bench.scratch.at("keys"))
            #expect(keys.allSatisfy { ["1000.pub", "1000.off"].contains($0) }, "step \(step)")
            let after = try Look(bench, try state.account(Bench.alice, uid: 1000))
            let isOld = after.enrolment == before.enrolment && after.state == before.state
            let isNew = kind.isDone(before, after)
            #expect(isOld || isNew, "step \(step): \(after.state)")
            if done != nil { #expect(isNew, "step \(step)") }
            if done != nil, points <= step {
                print("\(kind): \(points) points")
                #expect(points >= 7)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("completing what a crash left may stop at any step too", arguments: [Kind.add, .enable])
    func stopsTwice(_ kind: Kind) throws {
        var points = 0
        for step in 0..<60 {
            for second in 0..<40 {
                let bench = try Bench()
                try kind.prepare(bench)
                let before = try Look(bench)
                let plan = FaultPlan()
                let account = try bench.account(failing: plan)
                plan.arm(after: step)
                let done: Void? = try? kind.run(account, bench)
                plan.disarm()
                if done != nil {
                    print("\(kind), stopped twice: \(points) points")
                    return
                }
                let again = FaultPlan()
                again.arm(after: second)
                let opened = try? StateDirectory.open(bench.scratch.path, faults: again.faults)
                opened?.recover()
                let found = try? opened?.account(Bench.alice, uid: Bench.uid)
                if let enrolment = try? found?.prints.enrolment() {
                    _ = try? found?.credential.recover(for: enrolment)
                }
                let isThrough = again.reached.count <= second
                again.disarm()
                points += 1
                let state = try StateDirectory.open(bench.scratch.path)
                state.recover()
                let after = try Look(bench, state.account(Bench.alice, uid: Bench.uid))
                let isOld = after.enrolment == before.enrolment && after.state == before.state
                #expect(isOld || kind.isDone(before, after), "\(step), \(second)")
                if isThrough { break }
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("a change that another one came before is refused, and nothing is changed")
    func stale() throws {
        let bench = try Bench()
        try Kind.add.prepare(bench)
        var template: [UInt8] = [7]
        let late = try bench.account.prints.draft(
            adding: &template, finger: .leftThumb, reader: Bench.reader, now: Bench.now)
        let draft = try bench.account.credential.draft(late.enrolment)
        let made = try bench.vault.create(draft.context)
        try Kind.remove.run(bench.account, bench)
        let before = try Look(bench)
        #expect(throws: StoreFault.changedMeanwhile) {
            try bench.account.credential.publish(
                draft, made: made, by: .file, with: late, now: Bench.now)
        }
        let after = try Look(bench)
        #expect(after.enrolment == before.enrolment && after.state == before.state)
    }

    @Test("a change that was begun and never made is dropped, also after a change of another kind")
    func abandoned() throws {
        let bench = try Bench()
        try Kind.add.prepare(bench)
        let plan = FaultPlan()
        let account = try bench.account(failing: plan)
        // Until the record is there, and not the prints.
        for step in 0..<40 {
            plan.arm(after: step)
            _ = try? Kind.add.run(account, bench)
            plan.disarm()
            let text = String(decoding: try bench.contents(bench.file("credential")), as: UTF8.self)
            if text.contains("state: changing") { break }
        }
        try bench.add(8, .leftRing)
        guard case .issued(let credential) = try bench.account.credential.state() else {
            Issue.record("not issued")
            return
        }
        let enrolment = try bench.account.prints.enrolment()
        #expect(!bench.account.credential.fits(credential, enrolment: enrolment))
        #expect(
            try bench.account.credential.explain(credential, enrolment: enrolment) == .fingerAdded)
    }

    /// What there is, after the key was tried on the fingers.
    fileprivate struct Look {
        let enrolment: EnrolmentState
        let state: State.CredentialState
        /// The id of a credential that opens and whose public key is published.
        let credential: [UInt8]?

        init(_ bench: Bench, _ account: AccountState? = nil) throws {
            let account = account ?? bench.account
            let now = try account.prints.enrolment()
            #expect(now.damaged.isEmpty)
            enrolment = now.state
            state = try account.credential.state()
            let published = bench.exists(bench.publicKey)
            guard case .issued(let found) = state else {
                credential = nil
                #expect(!published)
                return
            }
            let line = try SSHPublicKey.parse(line: try bench.contents(bench.publicKey))
            #expect(line.key == found.publicKey)
            let signature = try bench.sign([1], found, now)
            #expect(
                try P256PublicKey(point: line.key.point).verifies(signature, message: [1]))
            credential = found.identifier
        }
    }
}
