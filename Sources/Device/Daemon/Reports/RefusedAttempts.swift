// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Records refused attempts on disk, so that the owner of the account sees them in `signet log`.
///
/// Only refusals that mean something to the owner are recorded, such as a finger that did not match
/// or a request from another user. The first of its kind is written at once; repetitions only
/// increase a count, which is written after `refusalPause` at the latest, so that repeated requests
/// cannot keep the disk busy. The journal has every decision, so failures here are only logged.
@ServiceActor
final class RefusedAttempts {
    let journal: DecisionJournal
    let state: StateDirectory
    let accounts: Accounts
    let guards: TouchGuards
    /// Refusals that were counted and are not on disk yet, by uid.
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
    /// Records a refusal if it means something to the account's owner.
    ///
    /// Service and terminal of a login are recorded only if the caller was permitted to make the
    /// request, since an unauthorised user may state anything.
    ///
    /// - Parameter pending: the proof that the client was to confirm before, if any.
    func keepRefusal(
        _ denial: Denial, of request: Request, pending: (any AwaitedConfirmation)?,
        from client: any Client
    ) {
        guard let reason = denial.meaningful(for: request),
            let name = request.account.flatMap({ String(validating: $0.bytes, as: UTF8.self) }),
            let account = (try? Account.named(name)) ?? nil, account.name == name
        else { return }
        var login: (service: ServiceName, terminal: Bytes) = (.none, [])
        // The details of a login that an unauthorised user has stated prove nothing.
        if reason != .notPermitted {
            let context = request.content.context
            login = (context.service, context.terminal)
            if let pending, request.content is ConfirmRequest {
                login = (pending.service, pending.terminal)
            }
        }
        let moment = accounts.instant.seconds
        let refusal = Refusal(
            request.verb, service: login.service, terminal: login.terminal,
            requester: requester(denial, client: client), reason: reason, since: moment,
            until: moment)
        do throws(StoreFault) {
            // The list of a former account is not this one's; the refusal itself is in the journal.
            guard let kept = try accounts.keptIfOwn(account) else { return }
            var list = refusals(of: account, kept: kept)
            let isNew = list.add(refusal, to: kept.name)
            countedRefusals[account.uid] = CountedRefusals(name: kept.name, list: list)
            if isNew { return try save(kept) }
            // Repeated requests must not keep the disk busy.
            guard refusalTimer == nil else { return }
            refusalTimer = Timer(after: Self.refusalPause) { [weak self] in self?.saveRefusals() }
        } catch { journal.fault(error.description, account: account.name) }
    }

    /// How long a repetition may remain unwritten.
    private static let refusalPause = Duration.seconds(10)

    /// Writes the counts that are not on disk yet.
    ///
    /// Also called when the daemon stops.
    func saveRefusals() {
        refusalTimer = nil
        for uid in countedRefusals.keys {
            do throws(StoreFault) {
                if let kept = try state.account(uid: uid) { try save(kept) }
            } catch { journal.fault(error.description) }
        }
        countedRefusals = [:]
    }

    /// Writes the counted refusals of an account, unless the records are another account's by now.
    private func save(_ kept: AccountState) throws(StoreFault) {
        guard let counted = countedRefusals.removeValue(forKey: kept.uid),
            counted.name == kept.name
        else { return }
        try kept.refusals.save(counted.list)
    }

    /// Returns the refused attempts of an account; an empty list if they cannot be read, which is
    /// logged.
    func refusals(of account: Account, kept: AccountState) -> RefusalList {
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

    /// Returns the name of the requester, as far as it is known.
    private func requester(_ denial: Denial, client: any Client) -> AccountName {
        if let found = client.requester { return found.name }
        if denial.reason == .otherRequester, let subject = denial.subject {
            return AccountName(Bytes(subject.prefix(Limit.account)))
        }
        return guards.accountable(client).name
    }
}

/// An account's refusals, of which some are not written yet.
struct CountedRefusals {
    let name: AccountName
    let list: RefusalList
}

extension Denial {
    /// Returns the reason to record for a refused touch; nil if it means nothing to the owner.
    ///
    /// The latter is so if, for example, the user gave up, the machine has a problem, or login by
    /// finger is off. Only requests that ask for a touch, and confirmations, are considered.
    fileprivate func meaningful(for request: Request) -> DenialReason? {
        let rule = request.rule
        guard rule.touch != nil || request.content is ConfirmRequest else { return nil }
        switch reason {
        case .noMatch, .lockedForNow, .lockedUntilPassword, .remoteSession, .notPermitted,
            .wrongPassword, .lidClosed, .otherSeat, .inBackground, .notAtMachine, .otherRequester,
            .answerTooLate, .changedMeanwhile:
            return reason
        case .timedOut where mismatches == 0 && rule.proof == .none: return reason
        // A finger did not match; the reason why the request ended after that does not matter.
        default: return mismatches > 0 ? .noMatch : nil
        }
    }
}
