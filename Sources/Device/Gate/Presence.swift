// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import LoginProtocol
import Posix
import Systemd

/// Evidence that the user who caused a request is at the machine.
///
/// Only `PresenceExaminer` can create it, and no touch is asked for without it. It records the
/// account, the requester, the seat and the origin, together with the inputs of the judgement, so
/// that the examiner can repeat the judgement before and after the touch.
package struct Presence: Sendable {
    /// The kind of place that the request comes from.
    package enum Origin: Equatable, Sendable {
        /// The session to which the program belongs.
        case session(String)
        /// The display session of the user whose service manager started the program.
        case displaySession(String)
        /// The session on the screen of a seat while a display manager's worker makes the request.
        case loginScreen(unit: String, session: String)
        /// A login at a console.
        case console(unit: String)
        /// Accepted by the settings for machines on which logind does not run.
        case withoutLogind
    }

    /// The uid of the account that the touch is for.
    package let account: UInt32
    /// The user who caused the request.
    package let requester: Requester
    /// The seat of the requester; nil if the judgement found none.
    package let seat: String?
    /// The kind of place that the request comes from.
    package let origin: Origin
    /// The terminal that controls the program that asks, such as `pts/3` or `tty1`, according to
    /// the kernel; empty if there is none.
    package let terminal: Bytes
    fileprivate let agent: (any HeldProcess)?
    fileprivate let inquiry: Inquiry
    /// The traces on which the judgement was based; nil if the judgement also depends on something
    /// else.
    fileprivate let traces: PresenceTraces?

    /// Whether the requester asks for a touch of another account's finger.
    package var isForOther: Bool { requester.uid != account }

    fileprivate init(
        _ inquiry: Inquiry, finding: PresenceFinding, requester: Requester,
        agent: (any HeldProcess)?, terminal: TerminalFinding,
        traces: PresenceTraces?
    ) {
        account = inquiry.account.uid
        self.requester = requester
        seat = finding.seat
        origin = finding.origin
        self.terminal = terminal.device?.terminalName ?? []
        self.agent = agent
        self.inquiry = inquiry
        self.traces = traces
    }
}

/// All inputs of a judgement apart from the facts of the machine.
private struct Inquiry: Sendable {
    let client: ClientProcess
    let account: Account
    let claims: PresenceClaims
    let others: OtherAccounts

    /// Whether the client runs as root, and may therefore name the user on whose behalf it asks.
    var isRoot: Bool { client.credentials.uid == 0 }
}

/// What a row of the table has found out about the place of a process.
struct PresenceFinding {
    /// The owner of the session; nil if no user has logged in yet or the owner is unknown.
    let owner: UInt32?
    let seat: String?
    let origin: Presence.Origin
}

/// The process whose location is judged: the client's, or that of polkit's agent.
private struct Subject {
    let process: any HeldProcess
    let placement: ClientProcess.Placement
    /// Whether the process may be a program that opens sessions: it runs as root and is no agent.
    let isRoot: Bool
    /// polkit's agent if it is the process, and the user who started the agent's helper.
    var agent: (any HeldProcess)?
    var users: [UInt32] = []
}

/// polkit's authentication agent.
private struct PolkitAgent {
    let process: any HeldProcess
    /// The user who started the agent's helper.
    let helperUser: UInt32
}

/// Judges whether the requester of a touch is at the machine.
///
/// The judgement follows a table of process locations (`finding(for:account:)`). A request that no
/// row accepts is denied with `notAtMachine`, a remote one with `remoteSession`, and one for
/// another account with `otherRequester` unless the verb's rule or `login.others` allows it. A
/// lookup that fails also denies.
///
/// The judgement is based on facts of the kernel, systemd and the account database. A client's
/// claims can only lead to a denial, except that a root client names the requester or polkit's
/// agent.
package struct PresenceExaminer: Sendable {
    /// The PAM service of polkit's helper, and the template of the unit in which newer versions of
    /// polkit start the helper.
    private static let polkit = (service: "polkit-1", unit: "polkit-agent-helper@.service")
    /// The PAM service with which polkit's helper has users authenticate.
    package static let polkitService = ServiceName(polkit.service)
    /// The seat that the virtual consoles belong to.
    private static let consoleSeat = "seat0"

    let facts: any PresenceFacts
    let policy: PresencePolicy

    /// Creates an examiner from the configuration and a source of facts.
    package init(_ settings: Configuration, facts: any PresenceFacts = MachineFacts()) {
        self.facts = facts
        policy = PresencePolicy(settings)
    }

    /// Holds the process that connected a socket.
    ///
    /// Call it right after accept(2).
    ///
    /// Throws only if the socket does not report the peer's credentials.
    package func client(on socket: borrowing Descriptor) throws(SystemFault) -> ClientProcess {
        try facts.client(on: socket)
    }

    /// Describes a client that another process, which is trusted with that, has identified.
    ///
    /// A client whose process is not held is denied every touch.
    package func client(
        _ peer: PeerCredentials, process: ProcessHandle?
    ) -> ClientProcess { facts.client(peer, process: process) }

    /// Returns the names of the programs behind a client, from the client upwards; see
    /// `ClientProcess.programs`.
    package func programs(behind client: ClientProcess) -> [[UInt8]] { client.programs(facts) }

    /// Whether a client descends from the root of a tree of processes now.
    package func contains(_ client: ClientProcess, in tree: ProcessTree) -> Bool {
        tree.contains(client, facts)
    }

    /// Returns evidence that the requester behind a client is at the machine.
    ///
    /// - Throws: `notAtMachine` with the missing condition as its subject, `remoteSession`, or
    ///   `otherRequester` if the requester is not the account and `others` does not allow that.
    package func evidence(
        for client: ClientProcess, account: Account, claims: PresenceClaims,
        others: OtherAccounts = .asConfigured
    ) throws(Denial) -> Presence {
        try judge(Inquiry(client: client, account: account, claims: claims, others: others))
    }

    /// Verifies that the same evidence would be given now.
    ///
    /// The lookups are skipped if the traces of the first judgement are unchanged. Throws the
    /// denial of a new judgement, or `changedMeanwhile` if requester, seat, origin, terminal or agent
    /// differ or the agent has ended.
    package func examine(_ presence: Presence) throws(Denial) {
        if let before = presence.traces, before == traces(of: presence.inquiry) { return }
        let now = try judge(presence.inquiry)
        guard now.requester == presence.requester, now.seat == presence.seat,
            now.origin == presence.origin, now.terminal == presence.terminal,
            now.agent?.pid == presence.agent?.pid,
            presence.agent?.hasEnded != true
        else { throw .changed }
    }

    /// Repeats the examination after a touch; throws `changedMeanwhile` for whatever fails.
    package func confirm(_ presence: Presence) throws(Denial) {
        do throws(Denial) {
            try examine(presence)
        } catch { throw .changed }
    }

    /// Makes a complete judgement.
    ///
    /// Traces are stored in the evidence only if the account owns the session and no agent is
    /// involved, since nothing else can then change the result.
    private func judge(_ inquiry: Inquiry) throws(Denial) -> Presence {
        guard inquiry.claims.remoteHost.isEmpty else { throw Denial(.remoteSession) }
        // Read the traces first, so that a change during the lookups is noticed later.
        let traces = traces(of: inquiry)
        let subject = try subject(of: inquiry)
        let finding = try finding(for: subject, account: inquiry.account)
        let requester = try requester(of: inquiry, finding: finding, subject: subject)
        if requester.uid != inquiry.account.uid {
            switch inquiry.others {
            case .allowed: break
            case .asConfigured where policy.allowsOthers: break
            case .asConfigured, .refused: throw .other(requester)
            }
        }
        try checkWhatAsks(inquiry)
        let terminal = try shownTerminal(of: subject, in: finding, for: inquiry)
        // Check this last: the lookups by pid concerned these processes only if both still exist.
        guard inquiry.client.process?.hasEnded == false, !subject.process.hasEnded else {
            throw .notAtMachine(Detail.programEnded)
        }
        return Presence(
            inquiry, finding: finding, requester: requester, agent: subject.agent,
            terminal: terminal,
            traces: subject.agent == nil && finding.owner == inquiry.account.uid
                && terminal.isLasting ? traces : nil)
    }

    // MARK: What asks

    /// Verifies that the program asks for its own user, as far as its service and its name tell.
    ///
    /// A program without root's rights proves nothing about whom it asks for, so it may only be a
    /// screen locker. What serves users of other machines gets no touch, wherever it runs: a VNC
    /// server runs in the session of the user at the machine, and asks about its viewer. Requests
    /// without a PAM service are Signet's own commands.
    private func checkWhatAsks(_ inquiry: Inquiry) throws(Denial) {
        let program = inquiry.client.programName ?? []
        guard !NetworkService.hasProgram(program) else {
            throw .notAtMachine(Detail.serviceOfNetwork(program))
        }
        guard let service = inquiry.claims.service else { return }
        guard !NetworkService.has(service) else {
            throw .notAtMachine(Detail.serviceOfNetwork(service.bytes))
        }
        guard inquiry.isRoot || policy.isLocker(service) else {
            throw .notAtMachine(Detail.serviceNotLocker(service.bytes))
        }
    }

    /// Verifies that the terminal of a program in a session is shown at the machine.
    ///
    /// Without one, a login shows its question somewhere else, and only a screen locker is known to
    /// show it on the screen. Other places than sessions state themselves which terminal or screen
    /// counts.
    private func shownTerminal(
        of subject: Subject, in finding: PresenceFinding, for inquiry: Inquiry
    ) throws(Denial) -> TerminalFinding {
        switch finding.origin {
        case .session, .displaySession:
            let terminal = try terminal(of: subject.process, in: finding)
            if terminal.device == nil, finding.seat != nil, subject.agent == nil,
                let service = inquiry.claims.service, !policy.isLocker(service)
            {
                throw .notAtMachine(Detail.serviceWithoutTerminal(service.bytes))
            }
            return terminal
        case .loginScreen, .console, .withoutLogind:
            let device = try known { () throws(SystemFault) in try subject.process.terminal() }
            return TerminalFinding(device: device, isLasting: true)
        }
    }

    /// Returns the traces of a request whose judgement depends on nothing else.
    ///
    /// Such a request comes from a program in a session that runs as root or as the account, and it
    /// names no requester other than the account. Returns nil for every other request.
    private func traces(of inquiry: Inquiry) -> PresenceTraces? {
        let (client, account) = (inquiry.client, inquiry.account)
        guard case .place(.session(let id)) = client.placement, let process = client.process,
            inquiry.isRoot || client.credentials.uid == account.uid,
            inquiry.claims.requester.isEmpty
                || inquiry.claims.requester == AccountName(account.name),
            let traces = facts.traces(of: process, in: id),
            traces.realUID == 0 || traces.realUID == account.uid
        else { return nil }
        return traces
    }

    // MARK: The table

    /// Returns what the location of a process shows, or throws if it is not a place at the machine.
    private func finding(
        for subject: Subject, account: Account
    ) throws(Denial) -> PresenceFinding {
        switch subject.placement {
        // A program in a session: the session must be local, active and at a seat.
        case .place(.session(let id)):
            return try finding(in: try session(id), origin: .session(id))
        // A program of the user's service manager, outside sessions: the user's display session
        // counts.
        case .place(.userManager(let uid)):
            return try displaySession(of: uid)
        // A display manager's worker: a seat must show a greeter, or a session of the account,
        // which the worker then unlocks.
        case .place(.systemUnit(let unit)) where subject.isRoot && policy.isDisplayManager(unit):
            return try loginScreen(of: unit, account: account)
        // A login at a console: the screen must show that console.
        case .place(.systemUnit(let unit)) where subject.isRoot && policy.isConsoleUnit(unit):
            return try console(of: unit, process: subject.process)
        // cron, at, services, and programs that were moved out of their session.
        case .place(.systemUnit), .place(.outside):
            throw .notAtMachine(Detail.outsideSessions)
        case .withoutLogind:
            return try findingWithoutLogind(subject.process)
        case .unknown:
            throw .notAtMachine(Detail.sessionNotKnown)
        }
    }

    /// Accepts the display session of a user, on the same conditions as the session of a program.
    func displaySession(of uid: UInt32) throws(Denial) -> PresenceFinding {
        let display = try known { () throws(SystemFault) in try facts.displaySession(of: uid) }
        guard let session = display else { throw .notAtMachine(Detail.noActiveSession) }
        return try finding(in: session, origin: .displaySession(session.id))
    }

    /// Accepts a local, active session of class `user`.
    ///
    /// It must be at a seat, unless `login.without-seat` allows others.
    func finding(
        in session: LoginSession, origin: Presence.Origin
    ) throws(Denial) -> PresenceFinding {
        guard !session.isRemote else { throw Denial(.remoteSession) }
        guard session.class == .user else { throw .notAtMachine(Detail.sessionOfAnotherKind) }
        guard session.isActive else { throw .notAtMachine(Detail.sessionNotInFront) }
        guard session.seat != nil || policy.allowsWithoutSeat else {
            throw .notAtMachine(Detail.sessionWithoutSeat)
        }
        return PresenceFinding(owner: session.owner, seat: session.seat, origin: origin)
    }

    /// Accepts a display manager's worker if exactly one seat shows a screen that it may serve: a
    /// greeter, or a session of the account.
    ///
    /// Several are denied, because nothing tells which of them it serves.
    private func loginScreen(
        of unit: String, account: Account
    ) throws(Denial) -> PresenceFinding {
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
        // It is unknown which of them the worker serves.
        guard screens.count == 1 else { throw .notAtMachine(Detail.severalLoginScreens) }
        return PresenceFinding(
            owner: nil, seat: screen.seat, origin: .loginScreen(unit: unit, session: screen.id))
    }

    /// Accepts a login on the virtual console that is on the screen.
    ///
    /// The console is the instance of the unit's name, such as `tty1` of `getty@tty1.service`, else
    /// the controlling terminal. A login on any other terminal, such as a serial console, is
    /// accepted only if `login.without-seat` allows it.
    func console(
        of unit: String, process: any HeldProcess
    ) throws(Denial) -> PresenceFinding {
        let origin = Presence.Origin.console(unit: unit)
        let instance = UnitName(unit).instance.flatMap { Self.isConsole($0) ? $0 : nil }
        let console: String?
        if let instance { console = instance } else { console = try ownConsole(of: process) }
        guard let console else {
            guard policy.allowsWithoutSeat else {
                throw .notAtMachine(Detail.sessionWithoutSeat)
            }
            return PresenceFinding(owner: nil, seat: nil, origin: origin)
        }
        guard console == facts.activeConsole else { throw .notAtMachine(Detail.consoleNotShown) }
        return PresenceFinding(owner: nil, seat: Self.consoleSeat, origin: origin)
    }

    /// Applies `login.without-logind`: accepts any process, one with a controlling terminal, or one
    /// on the virtual console that is on the screen.
    ///
    /// The owner is the audit login uid.
    private func findingWithoutLogind(
        _ process: any HeldProcess
    ) throws(Denial) -> PresenceFinding {
        let owner = try known { () throws(SystemFault) in try process.loginUID() }
        let anywhere = PresenceFinding(owner: owner, seat: nil, origin: .withoutLogind)
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
            return PresenceFinding(owner: owner, seat: Self.consoleSeat, origin: .withoutLogind)
        }
    }

    // MARK: Who asks

    /// Returns the first user behind the request who is not the account itself, else the account.
    ///
    /// The candidates are, in this order, the owner of the session, the client's own user unless
    /// that is root, the user who started polkit's helper, the real user of the process, and the
    /// user that a root client names. A subordinate uid counts as the user that subuid(5) assigns
    /// it to.
    private func requester(
        of inquiry: Inquiry, finding: PresenceFinding, subject: Subject
    ) throws(Denial) -> Requester {
        let account = inquiry.account
        var causes: [UInt32] = []
        if let owner = finding.owner { causes.append(owner) }
        if !inquiry.isRoot { causes.append(inquiry.client.credentials.uid) }
        causes += subject.users
        // The real uid is the user who started a setuid program such as su, or the owner of an
        // agent. A real uid of 0 counts only for an agent, which then asks for root. The real uid 0
        // of a program such as sudo does not show who asks.
        let real = try known { () throws(SystemFault) in try subject.process.realUID() }
        if real != 0 || subject.agent != nil { causes.append(real) }
        for cause in causes where cause != account.uid {
            let uid = facts.owner(ofSubordinate: cause) ?? cause
            if uid != account.uid { return requester(uid) }
        }
        return claimed(by: inquiry) ?? Requester(account)
    }

    /// Returns the user that a root client names as the requester; nil if that is the account
    /// itself.
    private func claimed(by inquiry: Inquiry) -> Requester? {
        let name = inquiry.claims.requester
        guard inquiry.isRoot, !name.isEmpty, name != AccountName(inquiry.account.name) else {
            return nil
        }
        let uid = facts.uid(named: name)
        if uid == inquiry.account.uid { return nil }
        // A name without an account is certainly not the name of the requested account.
        return Requester(uid: uid ?? UInt32.max, name: name)
    }

    private func requester(_ uid: UInt32) -> Requester {
        Requester(uid: uid, name: facts.name(of: uid) ?? AccountName(String(uid)))
    }

    // MARK: The process that counts

    /// Returns the process to judge: the client's own, or polkit's agent in place of its helper.
    ///
    /// The client's process must still be where it was when it connected, otherwise `notAtMachine`
    /// is thrown. A client is taken for polkit's helper if it runs as root and claims the PAM
    /// service `polkit-1`.
    private func subject(of inquiry: Inquiry) throws(Denial) -> Subject {
        let client = inquiry.client
        guard let process = client.process else { throw .notAtMachine(Detail.programEnded) }
        guard facts.placement(of: process) == client.placement else {
            throw .notAtMachine(
                process.hasEnded ? Detail.programEnded : Detail.programMoved)
        }
        guard inquiry.isRoot, inquiry.claims.service == Self.polkitService else {
            return Subject(
                process: process, placement: client.placement, isRoot: inquiry.isRoot)
        }
        let agent = try agent(of: process, placement: client.placement, claims: inquiry.claims)
        return Subject(
            process: agent.process, placement: facts.placement(of: agent.process), isRoot: false,
            agent: agent.process, users: [agent.helperUser])
    }

    /// Returns the agent on whose behalf polkit's helper asks.
    ///
    /// Until polkit 126, the agent starts the helper, which is setuid root, and is its parent.
    /// Since polkit 127, the service manager may start the helper, and the agent is the peer of the
    /// helper's standard input. The request then carries the agent's pid and user as the kernel
    /// recorded them at connect(2); they are accepted only from a root process in that unit. Throws
    /// `notAtMachine` if the agent cannot be determined.
    private func agent(
        of helper: any HeldProcess, placement: ClientProcess.Placement, claims: PresenceClaims
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
        // Read the parent twice: if it ended before it was held, the child has a new parent now.
        guard let user = try? helper.realUID(), let parent = try? helper.parent(),
            let agent = try? facts.hold(parent), (try? helper.parent()) == parent,
            claim == nil || claim == UInt32(exactly: parent),
            facts.placement(of: agent) == placement
        else { throw .notAtMachine(Detail.agentNotKnown) }
        return PolkitAgent(process: agent, helperUser: user)
    }

    // MARK: Looking up

    func session(_ id: String) throws(Denial) -> LoginSession {
        try known { () throws(SystemFault) in try facts.session(id) }
    }

    /// Runs a lookup; a lookup that fails gives no evidence, and the request is denied.
    func known<Value>(
        _ lookup: () throws(SystemFault) -> Value
    ) throws(Denial) -> Value {
        do throws(SystemFault) {
            return try lookup()
        } catch { throw .notAtMachine(Detail.sessionNotKnown) }
    }

    /// Returns the name of the virtual console that controls a process, such as `tty2`; nil if its
    /// controlling terminal is none.
    private func ownConsole(of process: any HeldProcess) throws(Denial) -> String? {
        let terminal = try known { () throws(SystemFault) in try process.terminal() }
        return terminal?.virtualConsole.map { "tty\($0)" }
    }

    /// Returns whether a unit's instance names a virtual console, `tty1` to `tty63`.
    private static func isConsole(_ instance: String) -> Bool {
        guard instance.hasPrefix("tty"), let number = UInt8(instance.dropFirst(3)) else {
            return false
        }
        return (1...63).contains(number) && instance == "tty\(number)"
    }
}
