// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import State

/// Checks everything that must hold before a finger is asked for.
///
/// A request's `TouchRule` lists its guards in order; the first that does not pass is the denial.
/// If all pass, the result is `Presence`, the evidence that the requester is at the machine and may
/// use this account. `signet status`, `list`, `verify` and `doctor` report what the same function
/// says about a login of the client that asks (`verdict(on:client:)`); that changes nothing.
@ServiceActor
final class TouchGuards {
    let clock: Clock
    let examiner: PresenceExaminer
    let lids: String
    let logind: Logind
    let readers: ReaderPool
    let inForce: SettingsInForce
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let policy: LoginPolicy

    init(
        clock: Clock, examiner: PresenceExaminer, lids: String, logind: Logind, readers: ReaderPool,
        inForce: SettingsInForce, vaults: Vaults, accounts: Accounts, credentials: Credentials,
        policy: LoginPolicy
    ) {
        self.clock = clock
        self.examiner = examiner
        self.lids = lids
        self.logind = logind
        self.readers = readers
        self.inForce = inForce
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.policy = policy
    }

    private var settings: Configuration { inForce.settings }
}

extension TouchGuards {
    /// The user whose share of the queue a request without a touch consumes.
    func accountable(_ client: any Client) -> Requester {
        let uid = client.process.accountable
        let name = (try? Account.with(uid: uid))?.name ?? "uid \(uid)"
        return Requester(uid: uid, name: AccountName(name))
    }

    /// The names of the programs behind a client, from the client upwards; see
    /// `ClientProcess.programs`.
    func programs(of client: any Client) -> [Bytes] {
        examiner.programs(behind: client.process)
    }

    /// Returns the evidence that the requester is at the machine and may use this account.
    ///
    /// Sets the client's `requester`, for the log and the messages. Throws the examiner's denial if
    /// there is no such evidence.
    func presence(
        for plan: TouchPlan, rule: TouchRule, client: any Client,
        for purpose: GuardPurpose = .touch
    ) throws(Denial) -> Presence {
        let login = plan.login
        let evidence = try examiner.evidence(
            for: client.process, account: plan.account,
            claims: PresenceClaims(
                service: login?.service, remoteHost: login?.remoteHost ?? [],
                requester: login?.requester ?? .none, agent: login?.agent,
                agentUser: login?.agentUser),
            others: others(rule, client: client))
        if purpose == .touch { client.requester = evidence.requester }
        return evidence
    }

    /// The accounts that may be used: for a login as `login.others` says, for a command any account
    /// if the client is root, else only the requester's own.
    private func others(_ rule: TouchRule, client: any Client) -> OtherAccounts {
        if rule.mayServeOthers { return .asConfigured }
        return client.peer.uid == 0 ? .allowed : .refused
    }
}

/// A request that needs a finger: what must hold, for which account, and for how long.
struct TouchPlan {
    /// The guards; nil for a request that may not ask for a finger.
    let rule: TouchRule?
    let account: Account
    /// How many fingers may fail to match before the request is denied.
    var tries: Int
    /// How long to wait for the turn, and then for a finger from the moment it is asked for.
    var timeout: Duration
    /// For a command, how it is described to clients that wait in the queue, such as `signet
    /// enroll`.
    var command = ""
    /// The reason for the touch in the words of a command's caller.
    var reason: Bytes?
    /// What the readers are needed for.
    var purpose = Applicant.Purpose.touch
    /// The only finger that may match; nil for any of the account's.
    var finger: Finger?
    /// What the touch confirms, where the daemon has found that out itself; nil for a command whose
    /// name says it.
    var confirmed: Bytes?
    /// What the PAM module states about the login; nil for a command.
    var login: AuthenticateRequest?
}

extension TouchGuards {
    /// How many fingers may fail to match before a command is denied.
    private static let commandTries = 3

    /// The plan for a command that a touch confirms.
    ///
    /// `milliseconds` is the caller's limit for the wait; `touch.timeout` and `touch.tries` are
    /// upper bounds.
    func plan(
        for request: any DaemonRequest.Type, account: Account, milliseconds: UInt32
    ) -> TouchPlan {
        TouchPlan(
            rule: request.rule.touch, account: account,
            tries: min(Self.commandTries, settings.count(Settings.touchTries)),
            timeout: touchTime(milliseconds), command: request.command)
    }

    /// The time to wait for a finger: as requested, but at most `touch.timeout`.
    func touchTime(_ milliseconds: UInt32) -> Duration {
        let longest = settings.duration(Settings.touchTimeout) ?? .seconds(60)
        return min(.milliseconds(Int64(milliseconds)), longest)
    }

    /// Checks the guards of the plan's rule, in order, and returns the evidence of presence.
    ///
    /// Throws `settingsNotUnderstood` while no settings are understood, the denial of the first
    /// guard that does not pass, and `notPermitted` for a request that may not ask for a touch or
    /// whose guards do not include presence. Every touch of the daemon's begins here.
    ///
    /// - Parameter inquiry: what was found out ahead, for this client and a plan of the same rule and
    ///   account; nil if nothing was.
    func admit(
        _ plan: TouchPlan, client: any Client, inquiry: GuardInquiry? = nil
    ) async throws(Denial) -> Presence {
        guard let rule = plan.rule else { throw Denial(.notPermitted) }
        let evidence = try await pass(
            plan, rule: rule, inquiry: inquiry, for: .touch
        ) { () throws(Denial) in
            if let judged = inquiry?.presence { return try judged.get() }
            return try presence(for: plan, rule: rule, client: client)
        }
        guard let evidence else { throw Denial(.notPermitted) }
        return evidence
    }

    /// Throws the denial of a place from which the plan's touch would not be accepted.
    func checkPlace(_ plan: TouchPlan, client: any Client) throws(Denial) {
        try inForce.requireUnderstood()
        guard let rule = plan.rule else { throw Denial(.notPermitted) }
        if rule.guards.contains(.presence) {
            _ = try presence(for: plan, rule: rule, client: client)
        }
    }

    /// Checks the guards of a rule in order; throws the denial of the first that does not pass.
    ///
    /// - Parameter place: judges presence; nil leaves the place open, which only a report may.
    /// - Returns: the evidence of presence; nil if the rule does not ask for it or the place was left
    ///   open.
    private func pass(
        _ plan: TouchPlan, rule: TouchRule, inquiry: GuardInquiry? = nil,
        for purpose: GuardPurpose, judging place: () throws(Denial) -> Presence?
    ) async throws(Denial) -> Presence? {
        try inForce.requireUnderstood()
        var evidence: Presence?
        var fingers = GuardedFingers()
        var inquiry = inquiry
        defer { inquiry?.cancel() }
        for check in rule.guards {
            switch check {
            case .presence: evidence = try place()
            case .loginLists:
                try policy.checkLists(plan.login?.service ?? .signet, account: plan.account)
            case .background: try policy.checkBackground(plan.login, presence: evidence)
            case .credential:
                fingers = try await credentials.guardedFingers(of: plan.account, for: purpose)
            case .prints: fingers = try guardedPrints(of: plan.account)
            case .reader:
                fingers.prints.removeAll { plan.finger != nil && $0.finger != plan.finger }
                // logind need not wait for the readers.
                if inquiry == nil, fingers.lockout == nil {
                    inquiry = await inquire(for: rule.guards)
                }
                try await checkReaders(
                    for: fingers, at: seat(of: evidence), inquiry: inquiry, for: purpose)
            case .lid:
                var isClosed = await inquiry?.isLidClosed()
                if isClosed == nil { isClosed = await isLidClosed() }
                if isClosed == true { throw Denial(.lidClosed) }
            }
        }
        return evidence
    }

    /// Checks the guards of the plan's rule that hold for the password in place of a finger, in
    /// order, and returns the evidence of presence.
    ///
    /// These are all but the lockout, which the gate for passwords checks by its own rule, and those
    /// about readers and the lid, since no reader is used. Throws as `admit` does.
    func admitPassword(_ plan: TouchPlan, client: any Client) async throws(Denial) -> Presence {
        guard let rule = plan.rule else { throw Denial(.notPermitted) }
        try inForce.requireUnderstood()
        if logind.isSuspending { throw Denial(.suspending) }
        var evidence: Presence?
        for check in rule.guards {
            switch check {
            case .presence: evidence = try presence(for: plan, rule: rule, client: client)
            case .loginLists:
                try policy.checkLists(plan.login?.service ?? .signet, account: plan.account)
            case .background: try policy.checkBackground(plan.login, presence: evidence)
            case .credential, .prints: _ = try credentials.revokingSnapshot(of: plan.account)
            case .reader, .lid: continue
            }
        }
        guard let evidence else { throw Denial(.notPermitted) }
        return evidence
    }

    /// Judges a login to an account by the client that asks, without changing anything.
    ///
    /// It is what a login would answer: the same guards in the same order, and the account's key must
    /// open. Three things differ. No service is known, so that a list of services excludes nothing. A
    /// print that a reader has reported as lost counts as lost, while a login asks the reader again.
    /// And the place from which root asks says nothing about where the account logs in: if no touch
    /// is accepted there, the verdict says so (`elsewhere`) and is about a login at the machine. Only
    /// where logind does not run, no other place is known either, and root's counts like any other.
    func verdict(on account: Account, client: any Client) async -> LoginVerdict {
        let rule = TouchRule.login
        let plan = TouchPlan(
            rule: rule, account: account, tries: 0, timeout: .zero)
        var verdict = LoginVerdict()
        do throws(Denial) {
            _ = try await pass(plan, rule: rule, for: .report) { () throws(Denial) -> Presence? in
                do throws(Denial) {
                    return try presence(for: plan, rule: rule, client: client, for: .report)
                } catch {
                    guard client.peer.uid == 0, !client.process.isWithoutLogind else { throw error }
                    verdict.elsewhere = error
                    return nil
                }
            }
            try await checkKey(of: account)
        } catch { verdict.refusal = error }
        return verdict
    }

    /// The seat whose readers may be used; nil for any, also if `login.seat` is `ignore`.
    func seat(of presence: Presence?) -> String? {
        settings.word(Settings.loginSeat) == Settings.refuse ? presence?.seat : nil
    }

    /// Throws if no reader could be asked for a finger of the account, or if it is locked out.
    ///
    /// The quick checks come first. A lockout is not revealed if all readers are at other seats. If
    /// other readers are connected than those of the account's fingers, the denial names the latter.
    private func checkReaders(
        for fingers: GuardedFingers, at seat: String?, inquiry: GuardInquiry?,
        for purpose: GuardPurpose
    ) async throws(Denial) {
        if logind.isSuspending { throw Denial(.suspending) }
        // A lockout is told without asking about readers if no seat matters.
        if seat == nil, let lockout = fingers.lockout { throw lockout }
        var found = try await readers(of: inquiry)
        if let seat, !found.isEmpty, !found.contains(where: { $0.seat == seat }) {
            throw Denial(.otherSeat)
        }
        if let lockout = fingers.lockout { throw lockout }
        var places = FingerPlaces(readers: found, seat: seat)
        if !places.canServe(fingers.prints), purpose == .touch {
            found = try await readers(lookAgain: true)
            places = FingerPlaces(readers: found, seat: seat)
        }
        // The readers may have been closed meanwhile, because the machine is about to be suspended.
        guard places.canServe(fingers.prints) else {
            if logind.isSuspending { throw Denial(.suspending) }
            guard !found.isEmpty else { throw Denial(.noReader) }
            let missing = places.missing(fingers.prints)
            throw missing.isEmpty ? Denial(.otherSeat) : Denial(.noReader, subject: missing)
        }
        // At a touch, the reader itself says what it has lost.
        guard purpose == .report, let kept = fingers.kept else { return }
        places.lost = lostPrints(kept)
        guard fingers.prints.contains(where: { places.state(of: $0) == .usable }) else {
            throw Denial(.printLost)
        }
    }

    /// The prints that readers have reported as lost; none if that cannot be read.
    func lostPrints(_ kept: AccountState) -> LostPrintList {
        do throws(StoreFault) {
            return try kept.lostPrints.load()
        } catch { return LostPrintList() }
    }

    /// Where fingers can be used now, for a client that asks about them; nil if the readers are not
    /// known.
    func fingerPlaces(
        _ kept: AccountState, account: Account, client: any Client
    ) async -> FingerPlaces? {
        guard case .success(let found) = await readers.present() else { return nil }
        let plan = TouchPlan(
            rule: .login, account: account, tries: 0, timeout: .zero)
        let presence = try? presence(for: plan, rule: .login, client: client, for: .report)
        return FingerPlaces(readers: found, seat: seat(of: presence), lost: lostPrints(kept))
    }

    /// The readers, as they were asked for ahead or now; translates a fault into a denial.
    private func readers(
        of inquiry: GuardInquiry? = nil, lookAgain: Bool = false
    ) async throws(Denial) -> [ReaderDescription] {
        var answer = await inquiry?.readers()
        if answer == nil { answer = await readers.present(lookAgain: lookAgain) }
        if Task.isCancelled { throw Denial(.cancelled) }
        do throws(ReaderFault) { return try answer?.get() ?? [] } catch {
            throw logind.isSuspending ? Denial(.suspending) : Denial(of: error)
        }
    }

    /// Whether `login.lid` denies a touch: logind's answer counts, then the kernel's.
    ///
    /// If neither is known, the lid counts as open.
    func isLidClosed() async -> Bool {
        guard settings.word(Settings.loginLid) == Settings.refuse else { return false }
        let kernel = Lids.areClosed(in: lids)
        return await logind.isLidClosed(elseAsking: kernel != nil) ?? kernel ?? false
    }

    /// Throws unless what held at a touch still does: its requester is at the machine, the lid is
    /// open, and the machine has not been suspended since.
    func checkStillHolds(_ touch: Touch<ScannedFinger>) async throws(Denial) {
        try examiner.examine(touch.match.presence)
        if await isLidClosed() { throw Denial(.lidClosed) }
        if logind.hasSlept(since: touch.suspensions) { throw Denial(.suspending) }
    }

    /// The fingers of an account, and its lockout; throws `notEnrolled` if it has none.
    private func guardedPrints(of account: Account) throws(Denial) -> GuardedFingers {
        let (kept, enrolment) = try accounts.fingers(of: account)
        return GuardedFingers(
            lockout: Denial(of: kept.lockout.load(), at: accounts.now), kept: kept,
            prints: enrolment.prints)
    }
}

/// What the guards of a login say about an account, for a report.
struct LoginVerdict {
    /// The denial of the first guard that does not pass; nil if a finger would be asked for.
    var refusal: Denial?
    /// Why no touch is accepted where the client is, if that was left out of account.
    var elsewhere: Denial?
}

/// The state of the lids according to the kernel, for when logind cannot tell.
enum Lids {
    /// The maximum number of lids, and the maximum size of a state file in bytes.
    private static let (most, cap) = (8, 256)

    /// Whether any lid is closed, read from files such as `LID0/state` in a directory; nil if there
    /// is none that can be read.
    static func areClosed(in directory: String) -> Bool? {
        guard let found = try? Directory.open(directory).list() else { return nil }
        let states = found.prefix(most).compactMap { name -> Bool? in
            guard let bytes = try? readFile("\(directory)/\(name)/state", cap: cap),
                bytes.count <= cap
            else { return nil }
            // The file reads like `state:      closed`.
            let words = bytes.split { $0 <= UInt8(ascii: " ") }
            switch words.last.map({ String(decoding: $0, as: UTF8.self) }) {
            case "closed": return true
            case "open": return false
            default: return nil
            }
        }
        return states.isEmpty ? nil : states.contains(true)
    }
}

extension TouchGuards {
    /// Throws if the account's key could not sign for a touch now, with the denial that a login would
    /// give.
    ///
    /// Only a match opens a key for use. Whether it opens at all is shown by sealing it again to the
    /// same fingers, and dropping the result. Changes nothing.
    func checkKey(of account: Account) async throws(Denial) {
        let snapshot = try credentials.snapshot(of: account)
        let key = try accounts.reading(account) { () throws(StoreFault) in try snapshot.key() }
        let preparation = KeyPreparation(key, data: nil, in: vaults) {}
        defer { preparation.end() }
        do throws(VaultError) {
            _ = try await preparation.items()
            _ = try await vaults.call(key.vault) { vault throws(VaultError) in
                try vault.reseal(key: key.sealed, from: key.context, to: key.context)
            }
        } catch {
            switch error {
            case .doesNotOpen, .malformed:
                let cause = try accounts.reading(account) { () throws(StoreFault) in
                    try snapshot.kept.credential.explain(
                        snapshot.credential, enrolment: snapshot.enrolment)
                }
                throw Denial(.invalidated, cause: cause)
            case .crypto, .trouble: throw Denial(of: error)
            }
        }
    }
}
