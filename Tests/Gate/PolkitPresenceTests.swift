// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import Testing

@testable import Gate

/// polkit's helper asks for its agent: started by it until polkit 126, by systemd from 127 on.
@Suite("polkit's helper")
struct PolkitPresenceTests {
    private static let unknown = Judgement.missing(Detail.agentNotKnown)
    private static let helperUnit = ProcessOrigin.systemUnit(
        "polkit-agent-helper@3-90-1000.service")

    private func machine(_ session: LoginSession = .alice()) -> PlayedMachine {
        PlayedMachine { state in
            state.sessions["c2"] = session
            state.displays[1000] = "c2"
            state.sessions["c3"] = LoginSession(id: "c3", owner: 1001, isActive: false)
            state.sessions["r1"] = LoginSession(id: "r1", owner: 1000, isRemote: true, seat: nil)
        }
    }

    private func claims(
        _ agent: UInt32? = nil, user: UInt32? = nil, service: String = "polkit-1"
    ) -> PresenceClaims {
        PresenceClaims(service: ServiceName(service), agent: agent, agentUser: user)
    }

    /// The answer for a helper that its agent has started.
    private func spawned(
        in place: ProcessOrigin, helper: ProcessOrigin? = nil, real: UInt32 = 1000,
        helperReal: UInt32? = nil, claim: UInt32? = nil, parents: [Int32] = [90],
        _ session: LoginSession = .alice()
    ) -> Judgement {
        let machine = machine(session)
        var agent = PlayedProcess.Facts()
        agent.realUID = real
        machine.process(90, in: place, agent)
        machine.process(91, in: place, agent)
        var facts = PlayedProcess.Facts()
        facts.parents = parents
        facts.realUID = helperReal ?? real
        machine.process(100, in: helper ?? place, facts)
        return machine.judge(machine.client(100), claims(claim))
    }

    /// The answer for a helper that systemd has started.
    private func activated(
        for place: ProcessOrigin?, real: UInt32 = 1000, claim: UInt32? = 90,
        user: UInt32? = 1000, _ session: LoginSession = .alice(),
        unit: ProcessOrigin = helperUnit
    ) -> Judgement {
        let machine = machine(session)
        var agent = PlayedProcess.Facts()
        agent.realUID = real
        machine.process(90, in: place, agent)
        machine.process(100, in: unit)
        return machine.judge(machine.client(100), claims(claim, user: user))
    }

    private let session = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")
    private let manager = Judgement.evidence(
        .displaySession("c2"), seat: "seat0", requester: "alice")

    @Test("is judged as the agent that started it")
    func parent() {
        #expect(spawned(in: .session("c2")) == session)
        #expect(spawned(in: .session("c2"), claim: 90) == session)
        #expect(spawned(in: .userManager(uid: 1000)) == manager)
    }

    // bob, in alice's session by `su bob` or `sudo -u bob`, has the helper's parent be hers or root's.
    @Test("gets none if started, or reached, by another user than the agent's")
    func helperOfAnother() {
        for place in [ProcessOrigin.session("c2"), .userManager(uid: 1000)] {
            #expect(spawned(in: place, helperReal: 1001) == .other(1001, "bob"))
            #expect(spawned(in: place, real: 0, helperReal: 1001) == .other(1001, "bob"))
            #expect(spawned(in: place, real: 1000, helperReal: 0) == .other(0, "root"))
            #expect(activated(for: place, user: 1001) == .other(1001, "bob"))
            #expect(activated(for: place, real: 0, user: 1001) == .other(1001, "bob"))
            #expect(activated(for: place, user: 0) == .other(0, "root"))
            // The agent is another program now, such as sudo.
            #expect(activated(for: place, real: 0) == .other(0, "root"))
            #expect(spawned(in: place, real: 0) == .other(0, "root"))
            #expect(activated(for: place, user: nil) == Self.unknown)
        }
    }

    @Test("is judged as the agent at its socket")
    func socket() {
        #expect(activated(for: .session("c2")) == session)
        #expect(activated(for: .userManager(uid: 1000)) == manager)
    }

    @Test("gets no touch for an agent that would get none")
    func refusedAgent() {
        for judge in [{ activated(for: $0) }, { spawned(in: $0) }] as [(ProcessOrigin) -> Judgement]
        {
            #expect(judge(.session("r1")) == .remote)
            #expect(judge(.session("gone")) == .missing(Detail.sessionNotKnown))
            #expect(judge(.systemUnit("ssh.service")) == .missing(Detail.outsideSessions))
            #expect(judge(.systemUnit("gdm.service")) == .missing(Detail.outsideSessions))
            #expect(judge(.systemUnit("getty@tty1.service")) == .missing(Detail.outsideSessions))
            #expect(judge(.outside) == .missing(Detail.outsideSessions))
            #expect(judge(.userManager(uid: 1001)) == .missing(Detail.noActiveSession))
        }
        #expect(
            activated(for: .session("c2"), .alice(isActive: false))
                == .missing(Detail.sessionNotInFront))
        #expect(
            spawned(in: .session("c2"), .alice(isActive: false))
                == .missing(Detail.sessionNotInFront))
    }

    @Test("gets none for an agent of another user's, in whatever session")
    func othersAgent() {
        #expect(activated(for: .session("c2"), real: 1001) == .other(1001, "bob"))
        #expect(spawned(in: .session("c2"), real: 1001) == .other(1001, "bob"))
        let bob = LoginSession(id: "c2", owner: 1001)
        #expect(activated(for: .session("c2"), bob) == .other(1001, "bob"))
        #expect(spawned(in: .session("c2"), real: 1001, bob) == .other(1001, "bob"))
    }

    @Test(
        "gets none where systemd started it and the agent is not known, or has ended",
        arguments: [nil, 0, 91, UInt32.max, 1 << 31] as [UInt32?])
    func unknownAgent(_ claim: UInt32?) {
        #expect(activated(for: .session("c2"), claim: claim) == Self.unknown)
    }

    @Test("gets none where its parent is not the agent that it names, or has ended")
    func wrongParent() {
        #expect(spawned(in: .session("c2"), claim: 91) == Self.unknown)
        #expect(spawned(in: .session("c2"), claim: UInt32.max) == Self.unknown)
        #expect(spawned(in: .session("c2"), parents: [1]) == Self.unknown)
        #expect(spawned(in: .session("c2"), parents: [0]) == Self.unknown)
        #expect(spawned(in: .session("c2"), parents: [-1]) == Self.unknown)
        // Left to another parent while it was looked at.
        #expect(spawned(in: .session("c2"), parents: [90, 91]) == Self.unknown)
        // Its parent has moved on, or it was adopted by one from elsewhere.
        #expect(spawned(in: .session("c2"), helper: .session("r1")) == Self.unknown)
        #expect(
            spawned(in: .userManager(uid: 1000), helper: .session("r1")) == Self.unknown)
    }

    @Test(
        "is neither another unit, nor one of a user's own",
        arguments: [
            .systemUnit("polkit-agent-helper.service"), .systemUnit("polkit.service"),
            .systemUnit("polkit-agent-helper@1.socket"), .userManager(uid: 1000),
        ] as [ProcessOrigin])
    func impostor(_ place: ProcessOrigin) {
        // The parent counts then, which is process 1.
        #expect(activated(for: .session("c2"), unit: place) == Self.unknown)
    }

    @Test("is root's, and asks for polkit-1: others are judged by themselves")
    func others() {
        let machine = machine()
        machine.process(90, in: .session("c2"))
        machine.process(100, in: Self.helperUnit)
        machine.process(101, in: .session("r1"))
        #expect(
            machine.judge(machine.client(100), claims(90, user: 1000, service: "sudo"))
                == .missing(Detail.outsideSessions))
        #expect(
            machine.judge(machine.client(100, uid: 1000), claims(90))
                == .missing(Detail.outsideSessions))
        #expect(machine.judge(machine.client(101, uid: 1000), claims(90)) == .remote)
    }

    @Test("gets none once the agent has ended, even if another process has its number")
    func endedAgent() {
        let machine = machine()
        let agent = machine.process(90, in: .session("c2"))
        machine.process(100, in: Self.helperUnit)
        agent.change { $0.hasEnded = true }
        #expect(machine.judge(machine.client(100), claims(90, user: 1000)) == Self.unknown)
    }
}
