// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol
import Policy
import Posix
import Systemd

/// Evidence that the user who causes a request is at the machine: nothing else makes one than
/// `PresenceExaminer`, and no touch is asked for without.
package struct Presence: Sendable {
    /// What showed that somebody is there.
    package enum Origin: Equatable, Sendable {
        /// The program's own session.
        case session(String)
        /// The session in which the user of the program's service manager works.
        case displaySession(String)
        /// The session that a seat shows while a display manager's worker asks.
        case loginScreen(unit: String, session: String)
        /// A login at a console.
        case console(unit: String)
        /// What the configuration says for a machine on which logind does not run.
        case withoutLogind
    }

    /// The account that the touch is for.
    package let account: UInt32
    /// Who causes the request.
    package let requester: Requester
    /// The seat at which that is; nil where any reader will do.
    package let seat: String?
    /// What showed it.
    package let origin: Origin
    fileprivate let agent: (any HeldProcess)?
    fileprivate let inquiry: Inquiry
    /// What it was judged by, where that tells by itself whether it still holds.
    fileprivate let traces: PresenceTraces?

    /// Whether the requester asks for somebody else's finger.
    package var isForOther: Bool { requester.uid != account }

    fileprivate init(
        _ inquiry: Inquiry, _ finding: Finding, _ requester: Requester, agent: (any HeldProcess)?,
        traces: PresenceTraces?
    ) {
        account = inquiry.account.uid
        self.requester = requester
        seat = finding.seat
        origin = finding.origin
        self.agent = agent
        self.inquiry = inquiry
        self.traces = traces
    }
}

/// All that a judgement depends on, apart from the facts.
private struct Inquiry: Sendable {
    let client: ClientProcess
    let account: Account
    let claims: PresenceClaims
    let others: OtherAccounts

    /// Whether the client is believed what it says for others.
    var isRoot: Bool { client.credentials.uid == 0 }
}

/// What a row of the table comes to.
private struct Finding {
    /// Whose session it is; nil where nobody has logged in yet.
    let owner: UInt32?
    let seat: String?
    let origin: Presence.Origin
}

/// The process whose whereabouts count: the client's, or polkit's agent.
private struct Subject {
    let process: any HeldProcess
    let placement: ClientProcess.Placement
    /// Whether it may be a program that begins sessions.
    let isRoot: Bool
    /// The agent, and the users that it and its helper were started by.
    var agent: (any HeldProcess)?
    var users: [UInt32] = []
}

/// polkit's agent.
private struct PolkitAgent {
    let process: any HeldProcess
    /// Who started its helper.
    let helperUser: UInt32
}

/// Judges whether somebody is at the machine for a request. What no row of the table accepts is
/// denied.
package struct PresenceExaminer: Sendable {
    /// The PAM service of polkit's helper, and the unit that newer polkit starts it in.
    private static let polkit = (service: "polkit-1", unit: "polkit-agent-helper@.service")
    /// The seat of the virtual consoles.
    private static let consoleSeat = "seat0"

    private let facts: any PresenceFacts
    private let policy: PresencePolicy

    /// An examiner on these facts.
    package init(_ settings: Configuration, facts: any PresenceFacts = MachineFacts()) {
        self.facts = facts
        policy = PresencePolicy(settings)
    }

    /// Holds the process that connected a socket; to be called right after accept(2).
    package func client(on socket: borrowing Descriptor) throws(SystemFault) -> ClientProcess {
        try facts.client(on: socket)
    }

    /// Evidence for a request of a client's. Throws what is missing.
    package func evidence(
        for client: ClientProcess, account: Account, claims: PresenceClaims,
        others: OtherAccounts = .asConfigured
    ) throws(Denial) -> Presence {
        try judge(Inquiry(client: client, account: account, claims: claims, others: others))
    }

    /// Makes sure that the same evidence would be given now. Throws what is missing, or
    /// `changedMeanwhile`.
    package func examine(_ presence: Presence) throws(Denial) {
        if let before = presence.traces, before == traces(of: presence.inquiry) { return }
        let now = try judge(presence.inquiry)
        guard now.requester == presence.requester, now.seat == presence.seat,
            now.origin == presence.origin, now.agent?.pid == presence.agent?.pid,
            presence.agent?.hasEnded != true
        else { throw .changed }
    }

    /// The same after a touch: whatever is missing, throws `changedMeanwhile`.
    package func confirm(_ presence: Presence) throws(Denial) {
        do throws(Denial) {
            try examine(presence)
        } catch { throw .changed }
    }

    private func judge(_ inquiry: Inquiry) throws(Denial) -> Presence {
        guard inquiry.claims.remoteHost.isEmpty else { throw Denial(.remoteSession) }
        // First: what changes while all is looked up shows later.
        let traces = traces(of: inquiry)
        let subject = try subject(of: inquiry)
        let finding = try finding(for: subject, inquiry.account)
        let requester = try requester(of: inquiry, finding, subject)
        // Last: only now all that was looked up by number is known to be of these processes.
        guard inquiry.client.process?.hasEnded == false, !subject.process.hasEnded else {
            throw .notAtMachine(Detail.programEnded)
        }
        if requester.uid != inquiry.account.uid {
            switch inquiry.others {
            case .allowed: break
            case .asConfigured where policy.allowsOthers: break
            case .asConfigured, .refused: throw .other(requester)
            }
        }
        return Presence(
            inquiry, finding, requester, agent: subject.agent,
            traces: subject.agent == nil && finding.owner == inquiry.account.uid ? traces : nil)
    }

    /// The traces of a request by which all that a judgement depends on can be told: a program of the
    /// account itself in a session, on whose behalf nobody else is named.
    private func traces(of inquiry: Inquiry) -> PresenceTraces? {
        let (client, account) = (inquiry.client, inquiry.account)
        guard case .place(.session(let id)) = client.placement, let process = client.process,
            inquiry.isRoot || client.credentials.uid == account.uid,
            inquiry.claims.requester.isEmpty
                || inquiry.claims.requester == Bytes(account.name.utf8),
            let traces = facts.traces(of: process, in: id),
            traces.realUID == 0 || traces.realUID == account.uid
        else { return nil }
        return traces
    }

    // MARK: The table

    /// Where the request comes from, and what makes that a place in front of the machine.
    private func finding(
        for subject: Subject, _ account: Account
    ) throws(Denial) -> Finding {
        switch subject.placement {
        // A program in a session: that session is local, at a seat and in front.
        case .place(.session(let id)):
            return try finding(in: try session(id), .session(id))
        // A program of the user's service manager, in no session: the one that the user works in is.
        case .place(.userManager(let uid)):
            let display = try known { () throws(SystemFault) in try facts.displaySession(of: uid) }
            guard let session = display else { throw .notAtMachine(Detail.noActiveSession) }
            return try finding(in: session, .displaySession(session.id))
        // A display manager's worker: a seat shows a greeter, or the account's own session, which
        // it unlocks.
        case .place(.systemUnit(let unit)) where subject.isRoot && policy.isDisplayManager(unit):
            return try loginScreen(of: unit, account)
        // A login at a console: the screen shows that console.
        case .place(.systemUnit(let unit)) where subject.isRoot && policy.isConsoleUnit(unit):
            return try console(of: unit, subject.process)
        // cron, at, services, and programs that somebody moved out of their session.
        case .place(.systemUnit), .place(.outside):
            throw .notAtMachine(Detail.outsideSessions)
        case .withoutLogind:
            return try findingWithoutLogind(subject.process)
        case .unknown:
            throw .notAtMachine(Detail.sessionNotKnown)
        }
    }

    private func finding(
        in session: LoginSession, _ origin: Presence.Origin
    ) throws(Denial) -> Finding {
        guard !session.isRemote else { throw Denial(.remoteSession) }
        guard session.class == .user else { throw .notAtMachine(Detail.sessionOfAnotherKind) }
        guard session.isActive else { throw .notAtMachine(Detail.sessionNotInFront) }
        guard session.seat != nil || policy.allowsWithoutSeat else {
            throw .notAtMachine(Detail.sessionWithoutSeat)
        }
        return Finding(owner: session.owner, seat: session.seat, origin: origin)
    }

    private func loginScreen(
        of unit: String, _ account: Account
    ) throws(Denial) -> Finding {
        let sessions = try known { () throws(SystemFault) in try facts.sessionsInFront() }
        let screens = sessions.filter { session in
            guard !session.isRemote, session.isActive, session.seat != nil else { return false }
            switch session.class {
            case .greeter: return true
            case .user: return session.owner == account.uid
            case .other: return false
            }
        }
        guard let screen = screens.first else { throw .notAtMachine(Detail.noLoginScreen) }
        // Nothing says which of them the worker is for.
        guard screens.count == 1 else { throw .notAtMachine(Detail.severalLoginScreens) }
        return Finding(
            owner: nil, seat: screen.seat, origin: .loginScreen(unit: unit, session: screen.id))
    }

    private func console(
        of unit: String, _ process: any HeldProcess
    ) throws(Denial) -> Finding {
        let origin = Presence.Origin.console(unit: unit)
        let instance = UnitName(unit).instance.flatMap { Self.isConsole($0) ? $0 : nil }
        let console: String?
        if let instance { console = instance } else { console = try ownConsole(of: process) }
        guard let console else {
            guard policy.allowsWithoutSeat else {
                throw .notAtMachine(Detail.sessionWithoutSeat)
            }
            return Finding(owner: nil, seat: nil, origin: origin)
        }
        guard console == facts.activeConsole else { throw .notAtMachine(Detail.consoleNotShown) }
        return Finding(owner: nil, seat: Self.consoleSeat, origin: origin)
    }

    private func findingWithoutLogind(
        _ process: any HeldProcess
    ) throws(Denial) -> Finding {
        let owner = try known { () throws(SystemFault) in try process.loginUID() }
        let anywhere = Finding(owner: owner, seat: nil, origin: .withoutLogind)
        switch policy.withoutLogind {
        case .any: return anywhere
        case .terminals:
            let terminal = try known { () throws(SystemFault) in try process.terminal() }
            guard terminal != nil else { throw .notAtMachine(Detail.notOnTerminal) }
            return anywhere
        case .consoles:
            guard let console = try ownConsole(of: process), console == facts.activeConsole else {
                throw .notAtMachine(Detail.notOnConsole)
            }
            return Finding(owner: owner, seat: Self.consoleSeat, origin: .withoutLogind)
        }
    }

    // MARK: Who asks

    /// The first of those who are known to be behind a request that is not the account itself.
    private func requester(
        of inquiry: Inquiry, _ finding: Finding, _ subject: Subject
    ) throws(Denial) -> Requester {
        let account = inquiry.account
        var causes: [UInt32] = []
        if let owner = finding.owner { causes.append(owner) }
        if !inquiry.isRoot { causes.append(inquiry.client.credentials.uid) }
        causes += subject.users
        // Who has started a program with root's rights, such as su; whose program an agent is. An
        // agent of root's asks for root: that of a program such as sudo is nobody's evidence.
        let real = try known { () throws(SystemFault) in try subject.process.realUID() }
        if real != 0 || subject.agent != nil { causes.append(real) }
        for cause in causes where cause != account.uid {
            let uid = facts.owner(ofSubordinate: cause) ?? cause
            if uid != account.uid { return requester(uid) }
        }
        return claimed(by: inquiry) ?? Requester(account)
    }

    /// Whom a program with root's rights names, if that is not the account itself.
    private func claimed(by inquiry: Inquiry) -> Requester? {
        let name = inquiry.claims.requester
        guard inquiry.isRoot, !name.isEmpty, name != Bytes(inquiry.account.name.utf8) else {
            return nil
        }
        let uid = facts.uid(named: name)
        if uid == inquiry.account.uid { return nil }
        // A name that nobody has is not the account's either.
        return Requester(uid: uid ?? UInt32.max, name: name)
    }

    private func requester(_ uid: UInt32) -> Requester {
        Requester(uid: uid, name: facts.name(of: uid) ?? Bytes(String(uid).utf8))
    }

    // MARK: The process that counts

    /// The client's process, if it is still where it was; polkit's agent instead of its helper.
    private func subject(of inquiry: Inquiry) throws(Denial) -> Subject {
        let client = inquiry.client
        guard let process = client.process else { throw .notAtMachine(Detail.programEnded) }
        guard facts.placement(of: process) == client.placement else {
            throw .notAtMachine(
                process.hasEnded ? Detail.programEnded : Detail.programMoved)
        }
        guard inquiry.isRoot, inquiry.claims.service == Bytes(Self.polkit.service.utf8) else {
            return Subject(
                process: process, placement: client.placement, isRoot: inquiry.isRoot)
        }
        let agent = try agent(of: process, client.placement, inquiry.claims)
        return Subject(
            process: agent.process, placement: facts.placement(of: agent.process), isRoot: false,
            agent: agent.process, users: [agent.helperUser])
    }

    /// The agent on whose behalf polkit's helper asks.
    ///
    /// Until polkit 126 the agent starts the helper, which is setuid, and is its parent. From 127 on
    /// the system's manager may start it, and the agent is at the other end of its standard input:
    /// its number and its user, as the kernel noted them when it connected, come with the request,
    /// from a process of root's.
    private func agent(
        of helper: any HeldProcess, _ placement: ClientProcess.Placement, _ claims: PresenceClaims
    ) throws(Denial) -> PolkitAgent {
        let claim = claims.agent
        if case .place(.systemUnit(let unit)) = placement,
            UnitName(unit).template == Self.polkit.unit
        {
            guard let claim, let user = claims.agentUser, let number = Int32(exactly: claim),
                let agent = try? facts.hold(number)
            else { throw .notAtMachine(Detail.agentNotKnown) }
            return PolkitAgent(process: agent, helperUser: user)
        }
        // Asked for twice: a parent that ended before it was held has left its child to another.
        guard let user = try? helper.realUID(), let parent = try? helper.parent(),
            let agent = try? facts.hold(parent), (try? helper.parent()) == parent,
            claim == nil || claim == UInt32(exactly: parent),
            facts.placement(of: agent) == placement
        else { throw .notAtMachine(Detail.agentNotKnown) }
        return PolkitAgent(process: agent, helperUser: user)
    }

    // MARK: Looking up

    private func session(_ id: String) throws(Denial) -> LoginSession {
        try known { () throws(SystemFault) in try facts.session(id) }
    }

    /// What a lookup gives; one that fails is no evidence.
    private func known<Value>(
        _ lookup: () throws(SystemFault) -> Value
    ) throws(Denial) -> Value {
        do throws(SystemFault) {
            return try lookup()
        } catch { throw .notAtMachine(Detail.sessionNotKnown) }
    }

    /// The virtual console that controls a process, as the kernel says.
    private func ownConsole(of process: any HeldProcess) throws(Denial) -> String? {
        let terminal = try known { () throws(SystemFault) in try process.terminal() }
        return terminal?.virtualConsole.map { "tty\($0)" }
    }

    /// Whether an instance is that of a unit at a virtual console.
    private static func isConsole(_ instance: String) -> Bool {
        guard instance.hasPrefix("tty"), let number = UInt8(instance.dropFirst(3)) else {
            return false
        }
        return (1...63).contains(number) && instance == "tty\(number)"
    }
}
