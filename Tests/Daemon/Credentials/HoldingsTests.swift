// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import State
import TestSupport
import Testing

@testable import Daemon

@Suite("What is sealed to an account's fingers", .serialized, .timeLimit(.minutes(5)))
struct HoldingsTests {
    /// A kind that a test adds: it notes what it is told.
    @ServiceActor
    struct Planted: FingerBound {
        static let ending = Daemon.Ending.key
        static var told: [String] = []

        init(_: HoldingParts) {}
        func prepare(_: ChangeOfFingers, of _: Holder) { Self.told.append("prepare") }
        func settle(_: Holder, for _: Enrolment) { Self.told.append("settle") }
        func revoke(_: Holder) { Self.told.append("revoke") }
        func move(_: Holder, for _: Enrolment, to _: VaultKind) { Self.told.append("move") }
        func count(_: AccountState, fitting _: EnrolmentState?) -> Int {
            Self.told.append("count")
            return 3
        }
        func effects(
            of _: ForetoldChange, on _: AccountState, fitting _: EnrolmentState?
        ) -> [ChangeEffectAnswer] {
            Self.told.append("effects")
            return [ChangeEffectAnswer("planted", count: 3)]
        }
        func show(
            _: Holder, for _: Enrolment, credential _: CredentialFileState,
            in report: inout AccountReport
        ) {
            Self.told.append("show")
            report.parts.append(.done(DoneAnswer(prints: 3)))
        }
        func report(_ change: (before: Int, after: Int), in done: inout DoneAnswer) {
            Self.told.append("report")
            done.printsLeft = UInt8(change.before + change.after)
        }
    }

    /// A kind that ends when `Place` says, and notes that.
    @ServiceActor
    struct Ended<Place: EndingPlace>: FingerBound {
        static var ending: Daemon.Ending { Place.ending }

        init(_: HoldingParts) {}
        func prepare(_: ChangeOfFingers, of _: Holder) {}
        func settle(_: Holder, for _: Enrolment) {}
        func revoke(_: Holder) { Planted.told.append("\(Place.self)") }
        func move(_: Holder, for _: Enrolment, to _: VaultKind) {}
        func count(_: AccountState, fitting _: EnrolmentState?) -> Int { 0 }
        func effects(
            of _: ForetoldChange, on _: AccountState, fitting _: EnrolmentState?
        ) -> [ChangeEffectAnswer] { [] }
        func show(
            _: Holder, for _: Enrolment, credential _: CredentialFileState,
            in _: inout AccountReport
        ) {}
        func report(_: (before: Int, after: Int), in _: inout DoneAnswer) {}
    }

    /// A kind that ends first, if its files could be read.
    @ServiceActor
    struct Unreadable: FingerBound {
        static let ending = Daemon.Ending.password

        init(_: HoldingParts) {}
        func prepare(_: ChangeOfFingers, of _: Holder) {}
        func settle(_: Holder, for _: Enrolment) throws(StoreFault) { throw .changedMeanwhile }
        func revoke(_: Holder) throws(StoreFault) { throw .changedMeanwhile }
        func move(_: Holder, for _: Enrolment, to _: VaultKind) {}
        func count(_: AccountState, fitting _: EnrolmentState?) throws(StoreFault) -> Int {
            throw .changedMeanwhile
        }
        func effects(
            of _: ForetoldChange, on _: AccountState, fitting _: EnrolmentState?
        ) throws(StoreFault) -> [ChangeEffectAnswer] { throw .changedMeanwhile }
        func show(
            _: Holder, for _: Enrolment, credential _: CredentialFileState,
            in _: inout AccountReport
        ) throws(StoreFault) { throw .changedMeanwhile }
        func report(_ change: (before: Int, after: Int), in done: inout DoneAnswer) {
            #expect(change == (0, 0))
        }
    }

    enum First: EndingPlace { static let ending = Daemon.Ending.password }
    enum Last: EndingPlace { static let ending = Daemon.Ending.data }

    private let scratch: Scratch

    init() throws {
        MainLoop.runInBackground()
        scratch = try Scratch()
    }

    @ServiceActor
    private func parts() throws -> (HoldingParts, Holder) {
        let journal = DecisionJournal(foreground: false)
        let state = try StateDirectory.open(scratch.path)
        let accounts = Accounts(
            boot: Bytes("boot".utf8), clock: .system, journal: journal, state: state)
        let parts = HoldingParts(
            journal: journal,
            vaults: Vaults(
                file: FileVault(host: state.host), tpm: UnusableVault(.absent("none in this test")),
                preference: .file, limit: .seconds(1), journal: journal),
            accounts: accounts,
            sessionTokens: SessionTokens(
                journal: journal, tokenFiles: TokenFiles(scratch.at("tokens")), accounts: accounts),
            underWay: ChangesUnderWay())
        let holder = Holder(
            account: Account(name: "alice", uid: 1000, gid: 1000, home: "/home/alice"),
            kept: try state.makeAccount("alice", uid: 1000, now: accounts.instant))
        return (parts, holder)
    }

    @Test("is found by the build, each kind once")
    @ServiceActor
    func listed() {
        let names = Listed.holdings.map { "\($0)" }
        let known = ["KeyringRecords", "SSHKeyHolding", "SecretHolding", "ServerKeyHolding"]
        #expect(known.allSatisfy(names.contains))
        #expect(Set(names).count == names.count)
    }

    @Test("ends in the order that the kinds state: a password first, whatever it is called")
    @ServiceActor
    func order() throws {
        let (parts, holder) = try parts()
        Planted.told = []
        try Holdings(parts, listed: [Ended<Last>.self, Planted.self, Ended<First>.self]).revoke(
            holder)
        #expect(Planted.told == ["First", "revoke", "Last"])
        // A server must not accept what no longer belongs to the account, whatever else fails.
        #expect(ServerKeyHolding.ending.rawValue < SSHKeyHolding.ending.rawValue)
    }

    @Test("is reached by each walk, of whatever kind it is")
    @ServiceActor
    func walks() async throws {
        let (parts, holder) = try parts()
        Planted.told = []
        let holdings = Holdings(parts, listed: Listed.holdings + [Planted.self])
        let fingers = try holder.kept.prints.enrolment()
        try await holdings.prepare(
            ChangeOfFingers(before: fingers, after: fingers, authorization: nil), of: holder)
        try holdings.settle(holder, for: fingers)
        try holdings.revoke(holder)
        await holdings.move(holder, for: fingers, to: .file)
        var done = DoneAnswer()
        holdings.report(holder.kept, fitting: fingers.state, in: &done)
        let change = ForetoldChange(isAuthorized: true, leavesFinger: true)
        let effects = holdings.effects(of: change, on: holder.kept, fitting: fingers.state)
        #expect(try shown(by: holdings, holder).parts == [.done(DoneAnswer(prints: 3))])
        let told = ["prepare", "settle", "revoke", "move", "count", "report", "effects", "show"]
        #expect(Planted.told == told)
        #expect(done.printsLeft == 6)
        #expect(effects == [ChangeEffectAnswer("planted", count: 3)])
    }

    @Test("ends although another kind cannot be read, which is told and prevents no change")
    @ServiceActor
    func faults() async throws {
        let (parts, holder) = try parts()
        Planted.told = []
        let holdings = Holdings(parts, listed: [Unreadable.self, Planted.self])
        let fingers = try holder.kept.prints.enrolment()
        try await holdings.prepare(
            ChangeOfFingers(before: fingers, after: fingers, authorization: nil), of: holder)
        #expect(throws: StoreFault.changedMeanwhile) { try holdings.settle(holder, for: fingers) }
        #expect(throws: StoreFault.changedMeanwhile) { try holdings.revoke(holder) }
        var done = DoneAnswer()
        holdings.report(holder.kept, fitting: fingers.state, in: &done)
        let change = ForetoldChange(isAuthorized: true, leavesFinger: true)
        let effects = holdings.effects(of: change, on: holder.kept, fitting: fingers.state)
        #expect(effects == [ChangeEffectAnswer("planted", count: 3)])
        #expect(throws: StoreFault.changedMeanwhile) { try shown(by: holdings, holder) }
        #expect(Planted.told == ["prepare", "settle", "revoke", "count", "report", "effects"])
    }

    /// What the holder's status shows of these kinds.
    @ServiceActor
    private func shown(by holdings: Holdings, _ holder: Holder) throws -> AccountReport {
        var report = AccountReport(
            status: StatusAnswer(
                account: "alice", prints: 0, damaged: 0, state: .none, generation: 0, lock: .open,
                program: [], vault: [], device: .sample(0..<16)))
        try holdings.show(
            holder, for: try holder.kept.prints.enrolment(), credential: .none, in: &report)
        return report
    }

    @Test("stands still for a change of an account's fingers, which begins once and ends")
    @ServiceActor
    func underWay() throws {
        let (parts, holder) = try parts()
        let changes = parts.underWay
        try changes.begin(holder.account)
        #expect(throws: StoreFault.changedMeanwhile) { try changes.begin(holder.account) }
        #expect(changes.includes(holder.account))
        changes.end(holder.account)
        #expect(!changes.includes(holder.account))
        try changes.begin(holder.account)
    }
}

protocol EndingPlace: SendableMetatype {
    static var ending: Daemon.Ending { get }
}
