// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store
import Vault

/// A finger compared with everyone's before it is enrolled, so that none is two accounts' at once.
///
/// To go on after such a scan is to say that the finger is nobody else's, so an enrolment is a login
/// to all accounts at once for the one who guesses: it is counted, on disk before the reader is
/// asked, and by an account that has no finger yet as well. Where a finger is another account's, that
/// is a failed match of that account's too, and an alert in the journal. The one who enrols does not
/// hear of it: the enrolment goes on to its end, and then nothing was enrolled.
///
/// Only readers that find one among many compare; on the others a finger can be enrolled twice. With
/// host matching a scan that matches may be answered sooner than one that does not; that much a guess
/// tells at once, and it is counted all the same. What is written to the disk is as much either way.
struct EnrolmentComparison {
    /// Whether the finger is another account's.
    private let isTaken: Bool
    /// What is counted; nil where nothing of other accounts' fingers could be told.
    private let counted: CountedComparison?

    /// The account's own print of the finger, where it was that.
    let own: Template?

    fileprivate init(
        isTaken: Bool = false, counted: CountedComparison? = nil, own: Template? = nil
    ) {
        self.isTaken = isTaken
        self.counted = counted
        self.own = own
    }

    /// Why the reader refused a finger that it has already: of another account's nothing is said.
    var duplicate: Denial { Denial(isTaken ? .fingerNotEnrolled : .fingerOnReader) }

    /// Before what was scanned is kept: nothing is of a finger that is another account's.
    func refuseTaken() throws(Denial) {
        if isTaken { throw Denial(.fingerNotEnrolled) }
    }

    /// The enrolment was completed: takes this comparison back, and no other.
    func completed() { counted?.settle { $0.afterCompletion() } }
}

/// One comparison, on disk from its first moment.
private struct CountedComparison {
    private let store: EnrolmentComparisonStore
    private let account: Account
    private let time: LockoutTime
    private let journal: DecisionJournal
    private let begun: EnrolmentComparisons

    /// Counts, unless it is a time to pause, or root has to look first.
    init(
        in store: EnrolmentComparisonStore, by account: Account, _ time: LockoutTime,
        _ journal: DecisionJournal
    ) throws(Denial) {
        let before = store.load(uid: account.uid)
        switch before.verdict(at: time.now) {
        case .open: break
        case .paused(let left): throw Denial(.enrolmentPaused, seconds: left.wholeSecondsUp)
        case .lockedUntilRoot: throw Denial(.enrolmentLocked)
        }
        begun = before.beginning(at: time.now)
        (self.store, self.account, self.time, self.journal) = (store, account, time, journal)
        do throws(StoreFault) {
            try store.save(begun, uid: account.uid)
        } catch {
            journal.fault(error.description, account: account.name)
            throw Denial(.storage, subject: Bytes(error.description.utf8.prefix(Limit.text)))
        }
    }

    /// The finger was compared: a pause is counted from now.
    func compared() { settle { $0.afterComparison(at: time.now) } }

    /// Nothing was compared, or nothing of another account's.
    func takeBack() { settle { $0.takenBack() } }

    /// Writes what became of it, unless root has lifted the count meanwhile. Where the disk does not
    /// let it, the comparison counts.
    func settle(_ change: (EnrolmentComparisons) -> EnrolmentComparisons) {
        let current = store.load(uid: account.uid)
        guard current.count == begun.count, current.completions == begun.completions else { return }
        do throws(StoreFault) {
            try store.save(change(current), uid: account.uid)
        } catch { journal.fault(error.description, account: account.name) }
    }
}

extension Enrolments {
    /// Scans once to see whether the finger is known here already.
    ///
    /// Root is not counted: it could read the prints. Nor does what root enrols lift anything: that
    /// is said with `unlock`, so that a count is not lost by the way.
    func compare(
        _ account: Account, _ finger: Finger, _ scans: EnrolmentScans,
        during turn: borrowing Turn, _ client: any Client
    ) async throws(Denial) -> EnrolmentComparison {
        let (reader, left) = (scans.reader, scans.end - clock.sinceBoot())
        guard reader.features.contains(.identify) else { return EnrolmentComparison() }
        let owned = try ownedTemplates(on: reader, for: account)
        // A print that another system left may be found in the place of the new one.
        var isCompared = !owned.isEmpty
        if !isCompared { isCompared = await keepsForeignPrints(reader) }
        guard isCompared else { return EnrolmentComparison() }
        var counted: CountedComparison?
        if client.peer.uid != 0, owned.contains(where: { $0.owner.uid != account.uid }) {
            counted = try CountedComparison(
                in: state.comparisons, by: account, LockoutTime(boot: boot, clock: clock), journal)
        }
        let templates = owned.map(\.template)
        let sight = FingerSight()
        let result = await interruptible(by: scans.interruption) { [readers] in
            await readers.match(among: templates, on: reader.id, limit: left) { notice in
                // Nobody hears what others have lost.
                if notice.kind == .printLost { return }
                if notice.kind != .touch { sight.isFingerSeen = true }
                client.post(.notice(notice))
            }
        }
        queue.noteTouch(turn)
        switch result {
        // There is nothing left on the reader to compare with.
        case .failure(.notFound):
            counted?.takeBack()
            return EnrolmentComparison()
        case .failure(let fault):
            // Who takes a request back when the reader's light has told the result has been told.
            if sight.isFingerSeen { counted?.compared() } else { counted?.takeBack() }
            throw Denial(of: fault)
        case .success(let found):
            guard case .matched(let index) = found.result, owned.indices.contains(index) else {
                counted?.compared()
                // As much as is written for a finger that is another account's.
                counted?.compared()
                guard found.stranger == nil else { throw Denial(.fingerOnReader) }
                return EnrolmentComparison(counted: counted)
            }
            let match = owned[index]
            guard match.owner.uid == account.uid else {
                counted?.compared()
                noteTaken(match.owner, by: account)
                return EnrolmentComparison(isTaken: true, counted: counted)
            }
            counted?.takeBack()
            guard match.finger == finger else {
                throw Denial(.fingerKnown, finger: match.finger)
            }
            return EnrolmentComparison(own: match.template)
        }
    }

    /// Whether a reader lists prints that no account has; not where it cannot be told.
    private func keepsForeignPrints(_ reader: ReaderDescription) async -> Bool {
        guard reader.features.contains(.list),
            case .success(let contents) = await readers.list(reader)
        else { return false }
        do throws(StoreFault) {
            return try !coverage.ownedPrints().isSuperset(of: contents.digests())
        } catch { return false }
    }

    /// Whether a finger was on the reader, as far as that tells.
    private final class FingerSight {
        var isFingerSeen = false
    }

    /// Counts a finger that another account tried to enrol as a failed match of its owner's.
    private func noteTaken(_ owner: AccountState, by account: Account) {
        journal.taken(String(decoding: owner.name, as: UTF8.self), by: account)
        let now = accounts.now
        let counted = owner.lockout.load().beginningAttempt(at: now).afterMismatch(at: now)
        do throws(StoreFault) {
            try owner.lockout.save(counted)
        } catch { journal.fault(error.description, account: account.name) }
    }

    /// A print that the finger is compared with.
    private struct OwnedTemplate {
        let owner: AccountState
        let finger: Finger
        let template: Template
    }

    /// All accounts' prints that the reader can compare with, the account's own first.
    private func ownedTemplates(
        on reader: ReaderDescription, for account: Account
    ) throws(Denial) -> [OwnedTemplate] {
        var own: [OwnedTemplate] = []
        var others: [OwnedTemplate] = []
        do throws(StoreFault) {
            for kept in try state.accounts() {
                for print in try kept.prints.enrolment().prints {
                    guard let template = try? Template(bytes: print.template),
                        template.driver == reader.driver, template.deviceID == reader.deviceID
                    else { continue }
                    let owned = OwnedTemplate(owner: kept, finger: print.finger, template: template)
                    if kept.uid == account.uid { own.append(owned) } else { others.append(owned) }
                }
            }
        } catch {
            guard case .closed(let why) = error else { throw accounts.denial(for: error, account) }
            // Another account's: its own could be opened. Whose, does not concern who enrols.
            throw accounts.denial(for: .othersClosed(why.description), account)
        }
        return own + others
    }

    /// Lifts the lockout, and for root what keeps the account from enrolling, too.
    ///
    /// Not for the account itself: the one who guesses other people's fingers has its password.
    func unlock(_ account: Account, for client: any Client) throws(Denial) -> Answer {
        let isLifted = client.peer.uid == 0 ? try liftComparisons(of: account) : false
        do throws(Denial) {
            return try enabling.unlock(account, because: "unlocked with the password")
        } catch {
            // Most that are locked out of enrolling have enrolled nothing.
            guard isLifted, error.reason == .notEnrolled else { throw error }
            return .done(DoneAnswer())
        }
    }

    private func liftComparisons(of account: Account) throws(Denial) -> Bool {
        try accounts.reading(account) { () throws(StoreFault) in
            let none = EnrolmentComparisons()
            guard state.comparisons.load(uid: account.uid) != none else { return false }
            try state.comparisons.save(none, uid: account.uid)
            journal.service("\(account.name) may enrol fingers again: root said so")
            return true
        }
    }
}
