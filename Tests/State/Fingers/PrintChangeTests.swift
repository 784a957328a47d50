// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("a change of prints")
struct PrintChangeTests {
    let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1, .rightIndex)
        try fixture.add(2, .leftIndex)
    }

    /// What can be done to an account's prints, in one change.
    enum Kind: CaseIterable {
        case add, replace, remove, removeAll

        func draft(_ prints: PrintStore) throws -> PrintChange {
            var template = [UInt8](repeating: 7, count: 300)
            defer { #expect(template.isEmpty || self == .remove || self == .removeAll) }
            let all = try prints.enrolment().prints.map(\.identifier)
            switch self {
            case .add:
                return try prints.draft(
                    adding: &template, finger: .leftThumb, reader: StateFixture.reader,
                    now: StateFixture.now)
            case .replace:
                return try prints.draft(
                    adding: &template, finger: .leftIndex, reader: StateFixture.reader,
                    now: StateFixture.now)
            case .remove: return try prints.draft(removing: [all[0]])
            case .removeAll: return try prints.draft(removing: all)
            }
        }

        /// How many prints are left of two.
        var count: Int {
            switch self {
            case .add: 3
            case .replace: 2
            case .remove: 1
            case .removeAll: 0
            }
        }
    }

    @Test(
        "shows its result beforehand, and nothing of it is on disk before it is made",
        arguments: Kind.allCases)
    func drafts(_ kind: Kind) throws {
        let before = try fixture.account.prints.enrolment()
        let names = try files()
        let change = try kind.draft(fixture.account.prints)
        #expect(try fixture.account.prints.enrolment().state == before.state)
        #expect(try files() == names)
        #expect(change.enrolment.prints.count == kind.count)
        #expect(change.enrolment.state.generation == before.state.generation + 1)
        try fixture.account.prints.commit(change)
        let after = try fixture.account.prints.enrolment()
        #expect(after.state == change.enrolment.state)
        #expect(after.prints.map(\.identifier) == change.enrolment.prints.map(\.identifier))
        #expect(after.prints.map(\.template) == change.enrolment.prints.map(\.template))
        #expect(try files() == after.prints.map { hexadecimal($0.identifier) })
        let stay = Set(after.prints.map(\.identifier))
        #expect(
            change.removed.map(\.identifier)
                == before.prints.map(\.identifier).filter { !stay.contains($0) })
    }

    @Test("of a finger that is enrolled again replaces the old one in one generation")
    func replaces() throws {
        let old = try #require(
            try fixture.account.prints.enrolment().prints.first { $0.finger == .leftIndex })
        let change = try Kind.replace.draft(fixture.account.prints)
        #expect(change.removed.map(\.identifier) == [old.identifier])
        try fixture.account.prints.commit(change)
        let fingers = try fixture.account.prints.enrolment().prints.map(\.finger)
        #expect(fingers.count == 2 && Set(fingers) == [.rightIndex, .leftIndex])
        #expect(try fixture.account.generation() == 3)
    }

    @Test(
        "that another one came before, or that was made already, is refused",
        arguments: Kind.allCases)
    func stale(_ kind: Kind) throws {
        let late = try kind.draft(fixture.account.prints)
        let first = try Kind.add.draft(fixture.account.prints)
        try fixture.account.prints.commit(first)
        let state = try fixture.account.prints.enrolment().state
        let names = try files()
        for change in [late, first] {
            #expect(throws: StoreFault.changedMeanwhile) {
                try fixture.account.prints.commit(change)
            }
        }
        #expect(try fixture.account.prints.enrolment().state == state)
        #expect(try files() == names)
    }

    @Test(
        "that fails at any step leaves the old prints or the new ones, all of them",
        arguments: Kind.allCases)
    func interrupted(_ kind: Kind) throws {
        for step in 0..<40 {
            let fixture = try StateFixture()
            try fixture.add(1, .rightIndex)
            try fixture.add(2, .leftIndex)
            let before = try fixture.account.prints.enrolment().state
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            let change = try kind.draft(account.prints)
            plan.arm(after: step)
            let done: Void? = try? account.prints.commit(change)
            let isPast = plan.reached.count <= step
            plan.disarm()
            let now = try fixture.account.prints.enrolment()
            #expect(now.damaged.isEmpty)
            let isNew = now.state == change.enrolment.state
            #expect(isNew || now.state == before, "step \(step)")
            #expect(isNew || done == nil, "step \(step)")
            // Recovery leaves nothing of what did not come about, and the change can be made then.
            try fixture.account(failing: plan).recover()
            let names = Layout.entries(of: fixture.file("prints"))
            #expect(names == now.prints.map { hexadecimal($0.identifier) }, "step \(step)")
            try fixture.account.prints.commit(try kind.draft(fixture.account.prints))
            if isPast {
                print("\(kind): \(step) points")
                #expect(step >= 6)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("a list that is repeated, unsorted, too long, miscounted or of no finger is refused")
    func lists() throws {
        let path = fixture.file("account")
        let text = String(decoding: try fixture.contents(path), as: UTF8.self)
        let head = try #require(text.firstRange(of: "prints: ")).lowerBound
        let lines = text[head...].split(separator: "\n").dropFirst().map { "\($0)\n" }
        try #require(lines.count == 4)
        let (one, two) = (lines[0] + lines[1], lines[2] + lines[3])
        let many = (10..<21).map { "print: \($0)" + one.dropFirst("print: 00".count) }
        for (count, list) in [
            (2, one + one), (2, two + one), (2, one), (1, one + two), (3, one + two),
            (3, one + two + two), (11, many.joined()), (0, one), (2, one + two + "\n"),
            (2, one + two.replacing("-index", with: "-toe")),
            (2, one + two.replacing("right", with: "").replacing("left", with: "")),
            (2, one + two.replacing("print: ", with: "print: 00")),
            (2, one + two.replacing("finger: ", with: "hand: ")),
        ] {
            try fixture.overwrite(path, Array("\(text[..<head])prints: \(count)\n\(list)".utf8))
            #expect(throws: StoreFault.damaged(path: path), "\(count) \(list)") {
                _ = try fixture.account.prints.enrolment()
            }
        }
        try fixture.overwrite(path, Array(text.utf8))
        #expect(try fixture.account.prints.enrolment().prints.count == 2)
    }

    private func files() throws -> [String] { Layout.entries(of: fixture.file("prints")) }
}
