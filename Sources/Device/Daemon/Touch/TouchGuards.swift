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
/// use this account. `signet status` runs guards of a login as well, to report why a login would be
/// denied; that changes nothing.
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
        for plan: TouchPlan, rule: TouchRule, client: any Client
    ) throws(Denial) -> Presence {
        let login = plan.login
        let evidence = try examiner.evidence(
            for: client.process, account: plan.account,
            claims: PresenceClaims(
                service: login?.service, remoteHost: login?.remoteHost ?? [],
                requester: login?.requester ?? .none, agent: login?.agent,
                agentUser: login?.agentUser),
            others: others(rule, client: client))
        client.requester = evidence.requester
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
    /// How long to wait for a finger, including the wait for the turn.
    var timeout: Duration
    /// When the wait ends, as a time since boot.
    var end: Duration
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
        let timeout = touchTime(milliseconds)
        return TouchPlan(
            rule: request.rule.touch, account: account,
            tries: min(Self.commandTries, settings.count(Settings.touchTries)), timeout: timeout,
            end: clock.sinceBoot() + timeout, command: request.command)
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
        try inForce.requireUnderstood()
        var evidence: Presence?
        var lockout: Denial?
        var inquiry = inquiry
        defer { inquiry?.cancel() }
        for check in rule.guards {
            switch check {
            case .presence:
                if let judged = inquiry?.presence {
                    evidence = try judged.get()
                } else {
                    evidence = try presence(for: plan, rule: rule, client: client)
                }
            case .loginLists:
                try policy.checkLists(plan.login?.service ?? .signet, account: plan.account)
            case .background: try policy.checkBackground(plan.login, presence: evidence)
            case .credential, .prints, .reader, .lid:
                // logind need not wait for the readers.
                if check == .reader, inquiry == nil, lockout == nil {
                    inquiry = await inquire(for: rule.guards)
                }
                try await pass(
                    check, account: plan.account, at: seat(of: evidence), lockout: &lockout,
                    inquiry: inquiry, for: .touch)
            }
        }
        guard let evidence else { throw Denial(.notPermitted) }
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

    /// Why a login to an account would be denied now; nil if a finger would be asked for.
    ///
    /// Checks the guards of a login except presence, the login lists and the background check, and
    /// prepares the key as a login does. Changes nothing.
    func loginRefusal(of account: Account) async -> Denial? {
        var lockout: Denial?
        do throws(Denial) {
            try inForce.requireUnderstood()
            for check in TouchRule.login.guards {
                switch check {
                case .presence, .loginLists, .background: continue
                case .credential, .prints, .reader, .lid:
                    try await pass(
                        check, account: account, at: nil, lockout: &lockout, for: .report)
                }
            }
            try await checkKey(of: account)
            return nil
        } catch { return error }
    }

    /// Checks a guard that depends on the account and the machine only.
    ///
    /// `.credential` and `.prints` store the account's lockout in `lockout`. It is thrown by
    /// `.reader`, once the seat was checked.
    private func pass(
        _ check: TouchGuard, account: Account, at seat: String?, lockout: inout Denial?,
        inquiry: GuardInquiry? = nil, for purpose: GuardPurpose
    ) async throws(Denial) {
        switch check {
        case .credential: lockout = try await credentials.lockout(of: account, for: purpose)
        case .prints: lockout = try printsLockout(of: account)
        case .reader:
            try await checkReaders(at: seat, lockout: lockout, inquiry: inquiry, for: purpose)
        case .lid:
            var isClosed = await inquiry?.isLidClosed()
            if isClosed == nil { isClosed = await isLidClosed() }
            if isClosed == true { throw Denial(.lidClosed) }
        case .presence, .loginLists, .background: throw Denial(.notPermitted)
        }
    }

    /// The seat whose readers may be used; nil for any, also if `login.seat` is `ignore`.
    func seat(of presence: Presence?) -> String? {
        settings.word(Settings.loginSeat) == Settings.refuse ? presence?.seat : nil
    }

    /// Throws if no reader could be asked for a finger, or if the account is locked out.
    ///
    /// The quick checks come first. A lockout is not revealed if all readers are at other seats.
    private func checkReaders(
        at seat: String?, lockout: Denial?, inquiry: GuardInquiry?, for purpose: GuardPurpose
    ) async throws(Denial) {
        if logind.isSuspending { throw Denial(.suspending) }
        // A lockout is told without asking about readers if no seat matters.
        if seat == nil, let lockout { throw lockout }
        var found = try await readers(of: inquiry)
        if let seat, !found.isEmpty, !found.contains(where: { $0.seat == seat }) {
            throw Denial(.otherSeat)
        }
        if let lockout { throw lockout }
        if found.isEmpty, purpose == .touch { found = try await readers(lookAgain: true) }
        // The readers may have been closed meanwhile, because the machine is about to be suspended.
        if found.isEmpty { throw Denial(logind.isSuspending ? .suspending : .noReader) }
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

    /// The lockout of an account that has fingers; throws `notEnrolled` if it has none.
    private func printsLockout(of account: Account) throws(Denial) -> Denial? {
        let (kept, _) = try accounts.fingers(of: account)
        return Denial(of: kept.lockout.load(), at: accounts.now)
    }
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
    /// Throws if the account's key could not be prepared for a touch, with the denial that a login
    /// would give.
    ///
    /// Changes nothing.
    func checkKey(of account: Account) async throws(Denial) {
        let snapshot = try credentials.snapshot(of: account)
        let key = try accounts.reading(account) { () throws(StoreFault) in try snapshot.key() }
        let preparation = KeyPreparation(key, data: nil, in: vaults) {}
        defer { preparation.end() }
        do throws(VaultError) {
            _ = try await preparation.items()
        } catch { throw Denial(of: error) }
    }
}
