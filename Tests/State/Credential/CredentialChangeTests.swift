// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
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
            case .disable: !isChanged && after.state == .disabled(since: StateFixture.now)
            case .destroy:
                !isChanged && after.state == .destroyed(.fingerAdded, since: StateFixture.now)
            }
        }

        /// The state to begin with.
        func prepare(_ fixture: StateFixture) throws {
            guard self != .first else { return }
            try fixture.add(1, .rightIndex)
            try fixture.add(2, .leftIndex)
            try fixture.issue()
            if self == .enable { try fixture.account.credential.disable(now: StateFixture.now) }
        }

        func run(_ account: AccountState, _ fixture: StateFixture) throws {
            let store = account.credential
            switch self {
            case .first: try change(account, fixture, add(account, .rightIndex))
            case .add: try change(account, fixture, add(account, .leftThumb))
            case .replace: try change(account, fixture, add(account, .leftIndex))
            case .remove:
                let gone = try #require(try account.prints.enrolment().prints.first)
                try change(
                    account, fixture, try account.prints.draft(removing: [gone.identifier]))
            case .removeAll:
                let all = try account.prints.enrolment().prints.map(\.identifier)
                try account.prints.commit(try account.prints.draft(removing: all))
                try store.withdraw()
            case .enable, .enableAgain:
                _ = try store.issue(
                    try account.prints.enrolment(), vault: fixture.vault, now: StateFixture.now)
            case .disable: try store.disable(now: StateFixture.now)
            case .destroy: try store.destroy(.fingerAdded, now: StateFixture.now)
            }
        }

        private func add(_ account: AccountState, _ finger: Finger) throws -> PrintChange {
            var template = [UInt8](repeating: 7, count: 500)
            return try account.prints.draft(
                adding: &template, finger: finger, reader: StateFixture.reader,
                now: StateFixture.now)
        }

        private func change(
            _ account: AccountState, _ fixture: StateFixture, _ change: PrintChange
        ) throws {
            let draft = try account.credential.draft(change.enrolment)
            try account.credential.publish(
                draft, made: try fixture.vault.create(draft.context), by: .file, with: change,
                now: StateFixture.now)
        }
    }

    @Test(
        "that stops at any step leaves the old fingers with the old key or the new with the new",
        arguments: Kind.allCases)
    func stops(_ kind: Kind) throws {
        for step in 0..<80 {
            let fixture = try StateFixture()
            try kind.prepare(fixture)
            let before = try Look(fixture)
            #expect((before.credential != nil) == kind.isOnBefore)
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            let done: Void? = try? kind.run(account, fixture)
            let points = plan.reached.count
            plan.disarm()
            // As after a crash: what is there is opened anew, and no account is asked about yet.
            let state = try StateDirectory.open(fixture.scratch.path)
            state.recover()
            let keys = Layout.entries(of: fixture.scratch.at("keys"))
            #expect(keys.allSatisfy { ["1000.pub", "1000.off"].contains($0) }, "step \(step)")
            let after = try Look(fixture, try state.account(StateFixture.alice, uid: 1000))
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
                let fixture = try StateFixture()
                try kind.prepare(fixture)
                let before = try Look(fixture)
                let plan = FaultPlan()
                let account = try fixture.account(failing: plan)
                plan.arm(after: step)
                let done: Void? = try? kind.run(account, fixture)
                plan.disarm()
                if done != nil {
                    print("\(kind), stopped twice: \(points) points")
                    return
                }
                let again = FaultPlan()
                again.arm(after: second)
                let opened = try? StateDirectory.open(fixture.scratch.path, faults: again.faults)
                opened?.recover()
                let found = try? opened?.account(StateFixture.alice, uid: StateFixture.uid)
                if let enrolment = try? found?.prints.enrolment() {
                    _ = try? found?.credential.recover(for: enrolment)
                }
                let isThrough = again.reached.count <= second
                again.disarm()
                points += 1
                let state = try StateDirectory.open(fixture.scratch.path)
                state.recover()
                let after = try Look(
                    fixture, state.account(StateFixture.alice, uid: StateFixture.uid))
                let isOld = after.enrolment == before.enrolment && after.state == before.state
                #expect(isOld || kind.isDone(before, after), "\(step), \(second)")
                if isThrough { break }
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("a change that another one came before is refused, and nothing is changed")
    func stale() throws {
        let fixture = try StateFixture()
        try Kind.add.prepare(fixture)
        var template: [UInt8] = [7]
        let late = try fixture.account.prints.draft(
            adding: &template, finger: .leftThumb, reader: StateFixture.reader,
            now: StateFixture.now)
        let draft = try fixture.account.credential.draft(late.enrolment)
        let made = try fixture.vault.create(draft.context)
        try Kind.remove.run(fixture.account, fixture)
        let before = try Look(fixture)
        #expect(throws: StoreFault.changedMeanwhile) {
            try fixture.account.credential.publish(
                draft, made: made, by: .file, with: late, now: StateFixture.now)
        }
        let after = try Look(fixture)
        #expect(after.enrolment == before.enrolment && after.state == before.state)
    }

    @Test("a change that was begun and never made is dropped, also after a change of another kind")
    func abandoned() throws {
        let fixture = try StateFixture()
        try Kind.add.prepare(fixture)
        let plan = FaultPlan()
        let account = try fixture.account(failing: plan)
        // Until the record is there, and not the prints.
        for step in 0..<40 {
            plan.arm(after: step)
            _ = try? Kind.add.run(account, fixture)
            plan.disarm()
            let text = String(
                decoding: try fixture.contents(fixture.file("credential")), as: UTF8.self)
            if text.contains("state: changing") { break }
        }
        try fixture.add(8, .leftRing)
        guard case .issued(let credential) = try fixture.account.credential.state() else {
            Issue.record("not issued")
            return
        }
        let enrolment = try fixture.account.prints.enrolment()
        #expect(!fixture.account.credential.fits(credential, enrolment: enrolment))
        #expect(
            try fixture.account.credential.explain(credential, enrolment: enrolment) == .fingerAdded
        )
    }

    /// What there is, after the key was tried on the fingers.
    fileprivate struct Look {
        let enrolment: EnrolmentState
        let state: CredentialFileState
        /// The id of a credential that opens and whose public key is published.
        let credential: CredentialID?

        init(_ fixture: StateFixture, _ account: AccountState? = nil) throws {
            let account = account ?? fixture.account
            let now = try account.prints.enrolment()
            #expect(now.damaged.isEmpty)
            enrolment = now.state
            state = try account.credential.state()
            let published = fixture.exists(fixture.publicKey)
            guard case .issued(let found) = state else {
                credential = nil
                #expect(!published)
                return
            }
            let line = try SSHPublicKey.parse(line: try fixture.contents(fixture.publicKey))
            #expect(line.key == found.publicKey)
            let signature = try fixture.sign([1], found, now)
            #expect(
                try P256PublicKey(point: line.key.point.bytes).verifies(signature, message: [1]))
            credential = found.identifier
        }
    }
}
