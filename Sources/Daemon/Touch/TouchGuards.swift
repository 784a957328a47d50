// SPDX-License-Identifier: Apache-2.0
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store
import Vault

/// What has to hold before a finger is asked for, and who asks: the guards that the verb's row names.
@ServiceActor
final class TouchGuards {
    let clock: Clock
    let examiner: PresenceExaminer
    let lids: String
    let logind: Logind
    let readers: ReaderPool
    let settings: Configuration
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let policy: LoginPolicy

    init(
        clock: Clock, examiner: PresenceExaminer, lids: String, logind: Logind, readers: ReaderPool,
        settings: Configuration, vaults: Vaults, accounts: Accounts, credentials: Credentials,
        policy: LoginPolicy
    ) {
        self.clock = clock
        self.examiner = examiner
        self.lids = lids
        self.logind = logind
        self.readers = readers
        self.settings = settings
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.policy = policy
    }
}

extension TouchGuards {
    /// The user whose share of the queue a request without a touch takes.
    func accountable(_ client: any Client) -> Requester {
        let uid = client.process.accountable
        let name = (try? Account.with(uid: uid))?.name ?? "uid \(uid)"
        return Requester(uid: uid, name: Bytes(name.utf8))
    }

    /// The evidence that the person who asks is there, and may ask for this account; throws where
    /// there is none.
    func presence(
        for plan: TouchPlan, _ rule: TouchRule, _ client: any Client
    ) throws(Denial) -> Presence {
        let login = plan.login
        let evidence = try examiner.evidence(
            for: client.process, account: plan.account,
            claims: PresenceClaims(
                service: login?.service ?? [], remoteHost: login?.remoteHost ?? [],
                requester: login?.requester ?? [], agent: login?.agent,
                agentUser: login?.agentUser),
            others: others(rule, client))
        client.requester = evidence.requester
        return evidence
    }

    /// Root may run a command for any account; in a login, whose session it is counts.
    private func others(_ rule: TouchRule, _ client: any Client) -> OtherAccounts {
        if rule.mayServeOthers { return .asConfigured }
        return client.peer.uid == 0 ? .allowed : .refused
    }
}

/// A request that needs a finger.
struct TouchPlan {
    let verb: Verb
    let account: Account
    /// How many fingers may fail to match.
    var tries: Int
    /// How long a finger is awaited, the turn included.
    var timeout: Duration
    /// When the wait ends, since the start of the machine.
    var end: Duration
    /// The line of whoever waits behind a command of Signet's: `signet enroll`.
    var command = ""
    /// What the caller of a command says that the touch is for.
    var reason: Bytes?
    /// What the PAM module says of the login; nil for a command.
    var login: AuthenticateRequest?
}

extension TouchGuards {
    /// Fingers that may fail to match before a command of the account's own is refused.
    private static let commandTries = 3

    /// The plan of a command that a touch confirms.
    func plan(
        _ verb: Verb, _ command: String, _ account: Account, milliseconds: UInt32
    ) -> TouchPlan {
        let timeout = touchTime(milliseconds)
        return TouchPlan(
            verb: verb, account: account,
            tries: min(Self.commandTries, settings.count(Settings.touchTries)), timeout: timeout,
            end: clock.sinceBoot() + timeout, command: command)
    }

    /// How long a finger is awaited for a caller who asks for so long.
    func touchTime(_ milliseconds: UInt32) -> Duration {
        let longest = settings.duration(Settings.touchTimeout) ?? .seconds(60)
        return min(.milliseconds(Int64(milliseconds)), longest)
    }

    /// Passes the guards that the verb's row names, and gives the evidence that the person who asks
    /// is there. A verb without such a row gets no touch.
    func admit(_ plan: TouchPlan, _ client: any Client) async throws(Denial) -> Presence {
        guard let rule = VerbTable.rule(for: plan.verb).touch else { throw Denial(.notPermitted) }
        return try await admit(plan, by: rule, client)
    }

    /// The same by other guards than those of the plan's verb.
    func admit(
        _ plan: TouchPlan, by rule: TouchRule, _ client: any Client
    ) async throws(Denial) -> Presence {
        var evidence: Presence?
        var lockout: Denial?
        for check in rule.guards {
            switch check {
            case .presence: evidence = try presence(for: plan, rule, client)
            case .loginLists:
                try policy.checkLists(plan.login?.service ?? signetService, plan.account)
            case .background: try policy.checkBackground(plan.login, evidence)
            case .credential, .prints, .reader, .lid:
                try await pass(check, plan.account, at: seat(of: evidence), &lockout, for: .touch)
            }
        }
        guard let evidence else { throw Denial(.notPermitted) }
        return evidence
    }

    /// Why a login of an account would be refused now, before a finger is asked for; nil where it
    /// would not be. A login's own guards say so, except those about who asks, from where and for
    /// which service; and its key is got ready as for a login. Changes nothing.
    func loginRefusal(of account: Account) async -> Denial? {
        var lockout: Denial?
        do throws(Denial) {
            for check in VerbTable.rule(for: .authenticate).touch?.guards ?? [] {
                switch check {
                case .presence, .loginLists, .background: continue
                case .credential, .prints, .reader, .lid:
                    try await pass(check, account, at: nil, &lockout, for: .report)
                }
            }
            try await checkKey(of: account)
            return nil
        } catch { return error }
    }

    /// A guard that is about the account and the machine alone.
    private func pass(
        _ check: TouchGuard, _ account: Account, at seat: String?, _ lockout: inout Denial?,
        for purpose: GuardPurpose
    ) async throws(Denial) {
        switch check {
        case .credential: lockout = try await credentials.lockout(of: account, for: purpose)
        case .prints: lockout = try printsLockout(of: account)
        case .reader: try await checkReaders(at: seat, lockout: lockout, for: purpose)
        case .lid: if await isLidClosed() { throw Denial(.lidClosed) }
        case .presence, .loginLists, .background: throw Denial(.notPermitted)
        }
    }

    /// The seat whose readers may be used; nil where any may.
    func seat(of presence: Presence?) -> String? {
        settings.word(Settings.loginSeat) == Settings.refuse ? presence?.seat : nil
    }

    /// Throws where no reader could be asked for a finger. What is quickly known comes first, and a
    /// lockout is told to nobody at another seat.
    private func checkReaders(
        at seat: String?, lockout: Denial?, for purpose: GuardPurpose
    ) async throws(Denial) {
        if logind.isSuspending { throw Denial(.suspending) }
        if let seat {
            let areElsewhere = try await asking { () throws(ReaderFault) in
                try await readers.areElsewhere(than: seat)
            }
            if areElsewhere { throw Denial(.otherSeat) }
        }
        if let lockout { throw lockout }
        let areThere = try await asking { () throws(ReaderFault) in
            try await readers.areThere(lookingAgain: purpose == .touch)
        }
        // On the way to sleep they may have been closed meanwhile.
        if !areThere { throw Denial(logind.isSuspending ? .suspending : .noReader) }
    }

    /// Asks for the readers there are; throws why they cannot be told.
    private func asking(
        _ body: () async throws(ReaderFault) -> Bool
    ) async throws(Denial) -> Bool {
        do throws(ReaderFault) {
            return try await body()
        } catch { throw logind.isSuspending ? Denial(.suspending) : Denial(of: error) }
    }

    private func isLidClosed() async -> Bool {
        guard settings.word(Settings.loginLid) == Settings.refuse else { return false }
        let kernel = Lids.areClosed(in: lids)
        return await logind.isLidClosed(elseAsking: kernel != nil) ?? kernel ?? false
    }

    /// The lockout of an account that has fingers; throws where it has none.
    private func printsLockout(of account: Account) throws(Denial) -> Denial? {
        let (kept, _) = try accounts.fingers(of: account)
        return Denial(of: kept.lockout.load(), at: accounts.now)
    }
}

/// The kernel's own word on lids, where logind has none.
enum Lids {
    /// The most lids that are looked at, and the most bytes of what each says.
    private static let (most, cap) = (8, 256)

    /// Whether a lid is closed, by `LID0/state` and the like in a directory; nil where none tells.
    static func areClosed(in directory: String) -> Bool? {
        guard let found = try? Directory.open(directory).list() else { return nil }
        let states = found.prefix(most).compactMap { name -> Bool? in
            guard let bytes = try? readFile("\(directory)/\(name)/state", cap: cap),
                bytes.count <= cap
            else { return nil }
            // state:      closed
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
    /// Throws where the key could not be got ready for a touch, for the same reason as a login. Changes
    /// nothing.
    func checkKey(of account: Account) async throws(Denial) {
        let standing = try credentials.readStanding(of: account)
        let key = try accounts.reading(account) { () throws(StoreFault) in try standing.key() }
        let readying = KeyPreparation(key, nil, in: vaults) {}
        defer { readying.end() }
        do throws(VaultError) {
            _ = try await readying.items()
        } catch { throw Denial(of: error) }
    }
}
