// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import TestSupport
import Testing

@testable import Gate

@Suite("the user who causes a request")
struct RequesterTests {
    private let bob = LoginSession(id: "c3", owner: 1001)

    @Test("for another's finger is refused, in the session as under the service manager")
    func session() {
        let (machine, client) = PlayedMachine.inSession(bob)
        #expect(machine.judge(client) == .other(1001, "bob"))
        machine.change { $0.displays[1001] = "c3" }
        machine.process(101, in: .userManager(uid: 1001))
        #expect(machine.judge(machine.client(101)) == .other(1001, "bob"))
    }

    @Test("is the session's owner, whatever a program with root's rights names")
    func falseName() {
        let (machine, client) = PlayedMachine.inSession(bob)
        let claims = PresenceClaims(service: "su", requester: "alice")
        #expect(machine.judge(client, claims) == .other(1001, "bob"))
    }

    @Test("is another one if the program names another, as su does in someone's session")
    func named() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        var facts = PlayedProcess.Facts()
        facts.terminal = DeviceNumber(major: 4, minor: 1)
        machine.process(100, in: .session("c2"), facts)
        let client = machine.client(100)
        let service: ServiceName = "su"
        #expect(
            machine.judge(client, PresenceClaims(service: service, requester: "bob"))
                == .other(1001, "bob"))
        #expect(
            machine.judge(client, PresenceClaims(service: service, requester: "x"))
                == .other(UInt32.max, "x"))
        let evidence = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")
        for name in ["alice", "alias", ""] {
            let claims = PresenceClaims(service: service, requester: AccountName(name))
            #expect(machine.judge(client, claims) == evidence)
        }
    }

    @Test("is not what a program without root's rights names")
    func unprivileged() {
        let (machine, client) = PlayedMachine.inSession(.alice(), uid: 1000)
        #expect(
            machine.judge(client, PresenceClaims(requester: "bob"))
                == .evidence(.session("c2"), seat: "seat0", requester: "alice"))
    }

    @Test("is the one who started a program with root's rights, even in another user's session")
    func realUser() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        var facts = PlayedProcess.Facts()
        facts.realUID = 1001
        machine.process(100, in: .session("c2"), facts)
        #expect(machine.judge(machine.client(100)) == .other(1001, "bob"))
    }

    @Test("may ask for another's finger where the configuration warns, or the verb allows it")
    func allowed() throws {
        let (machine, client) = PlayedMachine.inSession(bob)
        let evidence = Judgement.evidence(.session("c3"), seat: "seat0", requester: "bob")
        let warn = try Configuration.login("others = warn")
        #expect(machine.judge(client, settings: warn) == evidence)
        #expect(machine.judge(client, others: .allowed) == evidence)
        #expect(machine.judge(client, others: .refused, settings: warn) == .other(1001, "bob"))
        let examiner = PresenceExaminer(warn, facts: machine)
        let presence = try examiner.evidence(
            for: client, account: PlayedMachine.alice, claims: PresenceClaims())
        #expect(presence.isForOther && presence.requester.uid == 1001)
        try examiner.confirm(presence)
    }

    @Test("is the owner of a subordinate uid, whose number stands for a missing name")
    func subordinate() {
        let machine = PlayedMachine { state in
            state.sessions["c2"] = .alice()
            state.subordinates = [100_001: 1000, 200_001: 1003]
        }
        machine.process(100, in: .session("c2"))
        #expect(
            machine.judge(machine.client(100, uid: 100_001))
                == .evidence(.session("c2"), seat: "seat0", requester: "alice"))
        #expect(machine.judge(machine.client(100, uid: 200_001)) == .other(1003, "1003"))
    }

    @Test("has one share, whatever user its programs act as")
    func accountable() {
        let machine = PlayedMachine { state in
            state.sessions["c2"] = .alice()
            state.subordinates = [100_001: 1001]
        }
        func share(
            _ place: ProcessOrigin?, uid: UInt32, login: UInt32? = nil, real: UInt32 = 0,
            ended: Bool = false
        ) -> UInt32 {
            var facts = PlayedProcess.Facts()
            facts.realUID = real
            facts.loginUID = login
            facts.hasEnded = ended
            machine.process(100, in: place, facts)
            return machine.client(100, uid: uid).accountable
        }
        #expect(share(.session("c2"), uid: 0, login: 1001) == 1000)
        #expect(share(.userManager(uid: 1001), uid: 0) == 1001)
        #expect(share(.systemUnit("cron.service"), uid: 0, login: 1000) == 1000)
        #expect(share(.systemUnit("gdm.service"), uid: 0) == 0)
        // Where no login was noted any program may note one; the user that started it is the kernel's.
        #expect(share(.systemUnit("cron.service"), uid: 0, login: 1000, real: 1001) == 1001)
        #expect(share(.outside, uid: 1001, login: 1000) == 1001)
        #expect(share(.session("c2"), uid: 1001) == 1001)
        #expect(share(.outside, uid: 100_001) == 1001)
        #expect(share(.outside, uid: 100_002) == 100_002)
        // What cannot be looked up is the peer's own, never unknown.
        #expect(share(.session("gone"), uid: 1001) == 1001)
        #expect(share(nil, uid: 1001, login: 1000) == 1001)
        #expect(share(.session("c2"), uid: 1001, ended: true) == 1001)
        #expect(
            machine.client(PeerCredentials(pid: 0, uid: 1001, gid: 1001), process: nil).accountable
                == 1001)
    }
}

@Suite("a process that asks")
struct ClientProcessTests {
    @Test("and that could not be held gets no touch")
    func notHeld() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        let client = machine.client(PeerCredentials(pid: 0, uid: 0, gid: 0), process: nil)
        #expect(machine.judge(client) == .missing(Detail.programEnded))
    }

    @Test("and that has ended since it connected gets none, though its number has a session now")
    func ended() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        let process = machine.process(100, in: .session("c2"))
        let client = machine.client(100)
        process.change { $0.hasEnded = true }
        #expect(machine.judge(client) == .missing(Detail.programEnded))
    }

    @Test("and that ends while it is looked at gets none")
    func endsMeanwhile() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        let process = machine.process(100, in: .session("c2"))
        let client = machine.client(100)
        machine.change { $0.looked = { process.change { $0.hasEnded = true } } }
        #expect(machine.judge(client) == .missing(Detail.programEnded))
    }

    @Test("and that is in another session than when it connected gets none")
    func moved() {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice() }
        machine.process(100, in: .systemUnit("cron.service"))
        let client = machine.client(100)
        machine.change { $0.places[100] = .session("c2") }
        #expect(machine.judge(client) == .missing(Detail.programMoved))
        machine.change { $0.places[100] = nil }
        #expect(machine.judge(client) == .missing(Detail.programMoved))
    }

    @Test("and whose place could not be found out gets none, before as after")
    func unknown() {
        let machine = PlayedMachine()
        machine.process(100, in: nil)
        #expect(machine.judge(machine.client(100)) == .missing(Detail.sessionNotKnown))
    }
}

@Suite("evidence that the requester is present")
struct ConfirmationTests {
    private let machine = PlayedMachine { state in
        state.sessions["c2"] = .alice()
        state.activeConsole = "tty1"
        state.inFront = ["c1"]
        state.sessions["c1"] = .greeter()
    }
    private let examiner: PresenceExaminer

    init() {
        examiner = PresenceExaminer(Configuration(), facts: machine)
    }

    private func presence(_ pid: Int32, _ claims: PresenceClaims = .init()) throws -> Gate.Presence
    {
        try examiner.evidence(
            for: machine.client(pid), account: PlayedMachine.alice, claims: claims)
    }

    private func expectChanged(_ presence: Gate.Presence) {
        #expect(throws: Denial(.changedMeanwhile)) { try examiner.confirm(presence) }
    }

    @Test("holds while nothing changes, and not when the session is left, remote or ended")
    func session() throws {
        machine.process(100, in: .session("c2"))
        let presence = try presence(100)
        try examiner.confirm(presence)
        for session in [
            LoginSession.alice(isActive: false), .alice(isRemote: true), .alice(seat: "seat1"),
            .alice(seat: nil), .alice(class: .other), LoginSession(id: "c2", owner: 1001), nil,
        ] {
            machine.change { $0.sessions["c2"] = session }
            expectChanged(presence)
        }
        machine.change { $0.sessions["c2"] = .alice() }
        try examiner.confirm(presence)
    }

    @Test("does not hold when the program has ended or left its session")
    func program() throws {
        let process = machine.process(100, in: .session("c2"))
        let presence = try presence(100)
        machine.change { $0.places[100] = .outside }
        expectChanged(presence)
        machine.change { $0.places[100] = .session("c2") }
        try examiner.confirm(presence)
        process.change { $0.hasEnded = true }
        expectChanged(presence)
    }

    @Test("does not hold when the screen shows another console, or another greeter")
    func screen() throws {
        machine.process(100, in: .systemUnit("getty@tty1.service"))
        let console = try presence(100)
        machine.change { $0.activeConsole = "tty2" }
        expectChanged(console)
        machine.process(101, in: .systemUnit("gdm.service"))
        let greeter = try presence(101)
        machine.change { state in
            state.sessions["c9"] = .greeter(id: "c9")
            state.inFront = ["c9"]
        }
        expectChanged(greeter)
    }

    @Test("does not hold for another display session of that user")
    func displaySession() throws {
        machine.change { $0.displays[1000] = "c2" }
        machine.process(100, in: .userManager(uid: 1000))
        let presence = try presence(100)
        machine.change { state in
            state.sessions["c5"] = LoginSession(id: "c5", owner: 1000)
            state.displays[1000] = "c5"
        }
        expectChanged(presence)
    }

    @Test("does not hold when polkit's agent has ended, or the number is another's now")
    func agent() throws {
        var facts = PlayedProcess.Facts()
        facts.realUID = 1000
        let agent = machine.process(90, in: .session("c2"), facts)
        machine.process(100, in: .systemUnit("polkit-agent-helper@1-90-1000.service"))
        var claims = PresenceClaims(service: "polkit-1", agent: 90)
        claims.agentUser = 1000
        let presence = try presence(100, claims)
        try examiner.confirm(presence)
        agent.change { $0.hasEnded = true }
        expectChanged(presence)
        machine.process(90, in: .session("c2"), facts)
        expectChanged(presence)
    }
}

@Suite("subordinate uids", .serialized)
struct SubordinateUIDTests {
    private let scratch: Scratch
    private var path: String { scratch.path + "/subuid" }

    init() throws { scratch = try Scratch() }

    private func write(_ text: String) throws { try replaceFile(path, bytes: Array(text.utf8)) }

    @Test("are their owner's, by name or number, from the first to the last")
    func ranges() throws {
        try write("daemon:100000:65536\n4242:200000:10\n")
        let uids = SubordinateUIDs(path: path)
        #expect(uids.owner(of: 99_999) == nil)
        #expect(uids.owner(of: 100_000) == 1)
        #expect(uids.owner(of: 165_535) == 1)
        #expect(uids.owner(of: 165_536) == nil)
        #expect(uids.owner(of: 200_009) == 4242)
        #expect(uids.owner(of: 0) == nil)
    }

    @Test("are read again when the file has changed, appeared or gone")
    func change() throws {
        let uids = SubordinateUIDs(path: path)
        #expect(uids.owner(of: 100_000) == nil)
        try write("daemon:100000:1\n")
        #expect(uids.owner(of: 100_000) == 1)
        try write("bin:100000:1\n")
        #expect(uids.owner(of: 100_000) == 2)
        unsafe unlink(path)
        #expect(uids.owner(of: 100_000) == nil)
    }

    @Test(
        "give nothing to any user by a line that is not understood",
        arguments: [
            "", ":100000:1", "daemon:100000", "daemon:100000:0", "daemon:x:1", "daemon:100000:-1",
            "daemon:100000:1:2", "daemon:4294967295:2", "daemon:99999:4294967295",
            "daemon:0:200000",
            "nobody-of-this-name:100000:1", "#daemon:100000:1", "daemon:100000:1\r",
        ])
    func nonsense(_ line: String) throws {
        try write(line + "\n")
        #expect(SubordinateUIDs(path: path).owner(of: 100_000) == nil)
        try write(line + "\nbin:100000:1\n")
        #expect(SubordinateUIDs(path: path).owner(of: 100_000) != 1)
    }
}
