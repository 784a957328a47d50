// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store

/// Attempts that were refused, for the account's owner to see in `signet log`.
@ServiceActor
final class RefusedAttempts {
    let journal: DecisionJournal
    let state: StateDirectory
    let accounts: Accounts
    let guards: TouchGuards
    /// Refused attempts that were counted and have yet to be written, by uid, and when that is.
    private var countedRefusals: [UInt32: CountedRefusals] = [:]
    private var refusalTimer: Timer?

    init(
        journal: DecisionJournal, state: StateDirectory, accounts: Accounts, guards: TouchGuards
    ) {
        self.journal = journal
        self.state = state
        self.accounts = accounts
        self.guards = guards
    }
}

extension RefusedAttempts {
    /// Keeps a refusal where it means something to the account's owner. `pending` is the proof that
    /// the client had been given.
    ///
    /// The journal has every decision. Nothing hangs on this one, so what goes wrong here is noted
    /// and goes no further.
    func keepRefusal(
        _ denial: Denial, of request: Request, _ pending: (any AwaitedConfirmation)?,
        from client: any Client
    ) {
        guard let reason = denial.meaningful(for: request.verb),
            let name = request.account.flatMap({ String(validating: $0, as: UTF8.self) }),
            let account = (try? Account.named(name)) ?? nil, account.name == name
        else { return }
        var login: (service: Bytes, terminal: Bytes) = ([], [])
        switch request {
        // What another user says of a login that is not to be shows nothing.
        case _ where reason == .notPermitted: break
        case .authenticate(let request): login = (request.service, request.terminal)
        case .confirm: login = pending.map { ($0.service, $0.terminal) } ?? ([], [])
        default: break
        }
        let moment = accounts.instant.seconds
        let refusal = Refusal(
            request.verb, service: login.service, terminal: login.terminal,
            requester: requester(denial, client), reason: reason, since: moment, until: moment)
        do throws(StoreFault) {
            guard let kept = try accounts.kept(account) else { return }
            var list = refusals(of: account, kept)
            let isNew = list.add(refusal, to: kept.name)
            countedRefusals[account.uid] = CountedRefusals(name: kept.name, list: list)
            if isNew { return try save(kept) }
            // Whoever asks the same again and again does not keep the disk busy.
            guard refusalTimer == nil else { return }
            refusalTimer = Timer(after: Self.refusalPause) { [weak self] in self?.saveRefusals() }
        } catch { journal.fault(error.description, account: account.name) }
    }

    /// How long an attempt that only adds to a count may go unwritten.
    private static let refusalPause = Duration.seconds(10)

    /// Writes what was counted and is not written yet.
    func saveRefusals() {
        refusalTimer = nil
        for uid in countedRefusals.keys {
            do throws(StoreFault) {
                if let kept = try state.account(uid: uid) { try save(kept) }
            } catch { journal.fault(error.description) }
        }
        countedRefusals = [:]
    }

    private func save(_ kept: AccountState) throws(StoreFault) {
        guard let counted = countedRefusals.removeValue(forKey: kept.uid),
            counted.name == kept.name
        else { return }
        try kept.refusals.save(counted.list)
    }

    /// The refusals of an account; none where they cannot be read.
    func refusals(of account: Account, _ kept: AccountState) -> RefusalList {
        if let counted = countedRefusals[account.uid], counted.name == kept.name {
            return counted.list
        }
        do throws(StoreFault) {
            return try kept.refusals.load()
        } catch {
            journal.fault(error.description, account: account.name)
            return RefusalList()
        }
    }

    /// Who asked, as far as that was found out.
    private func requester(_ denial: Denial, _ client: any Client) -> Bytes {
        if let found = client.requester { return found.name }
        if denial.reason == .otherRequester, let subject = denial.subject {
            return Bytes(subject.prefix(Limit.account))
        }
        return guards.accountable(client).name
    }
}

/// The refusals of an account, where not all are written yet.
struct CountedRefusals {
    let name: Bytes
    let list: RefusalList
}

extension Denial {
    /// What a refusal of a touch tells the account's owner; nil where it tells nothing: the person
    /// changed their mind, the machine is in trouble, or fingerprint login is off anyway.
    fileprivate func meaningful(for verb: Verb) -> DenialReason? {
        let rule = VerbTable.rule(for: verb)
        guard rule.touch != nil || verb == .confirm else { return nil }
        switch reason {
        case .noMatch, .lockedForNow, .lockedUntilPassword, .remoteSession, .notPermitted,
            .wrongPassword, .lidClosed, .otherSeat, .inBackground, .notAtMachine, .otherRequester,
            .answerTooLate, .changedMeanwhile:
            return reason
        case .timedOut where mismatches == 0 && rule.proof == .none: return reason
        // A finger did not match, whatever ended the request after it.
        default: return mismatches > 0 ? .noMatch : nil
        }
    }
}
