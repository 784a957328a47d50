// SPDX-License-Identifier: Apache-2.0
import Authorization
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

/// The comparison of a finger with those of all accounts before it is enrolled, so that no finger
/// belongs to two accounts.
///
/// If an enrolment continues after this scan, the finger belongs to no other account. For an
/// attacker who tries fingers, an enrolment is therefore a login to all accounts at once. So each
/// comparison is counted, on disk before the reader is asked, even for an account without fingers
/// (`EnrolmentComparisons` has the limits). A finger that belongs to another account also counts as
/// a failed match of that account, and is an alert in the journal. The user who enrols is not told:
/// the enrolment runs to its end, and then nothing is enrolled.
///
/// Only readers that can identify a finger among many compare; on other readers, a finger can be
/// enrolled twice. With host matching, a scan that matches may be answered faster than one that
/// does not; a guess reveals that much at once, but is counted anyway. The number of disk
/// writes is the same either way.
struct EnrolmentComparison {
    /// Whether the finger belongs to another account.
    private let isTaken: Bool
    /// The count of this comparison; nil if it could reveal nothing about other accounts.
    private let counted: CountedComparison?

    /// The account's own print of the finger, if that matched.
    let own: Template?

    fileprivate init(
        isTaken: Bool = false, counted: CountedComparison? = nil, own: Template? = nil
    ) {
        self.isTaken = isTaken
        self.counted = counted
        self.own = own
    }

    /// The denial for a finger that the reader stores already.
    ///
    /// It does not reveal that the finger belongs to another account: `fingerNotEnrolled` is also
    /// the denial of an enrolment that ran to its end.
    var duplicate: Denial { Denial(isTaken ? .fingerNotEnrolled : .fingerOnReader) }

    /// Throws `fingerNotEnrolled` if the finger belongs to another account.
    ///
    /// Call this after the enrolment's scans and before the print is stored.
    func refuseTaken() throws(Denial) {
        if isTaken { throw Denial(.fingerNotEnrolled) }
    }

    /// Takes back the count of this comparison, and of no other, because the enrolment was
    /// completed.
    ///
    /// That happens a limited number of times; see `EnrolmentComparisons.forgiven`.
    func completed() { counted?.settle { $0.afterCompletion() } }
}

/// One comparison, which is counted on disk before the reader is asked.
private struct CountedComparison {
    private let store: EnrolmentComparisonStore
    private let account: Account
    private let time: LockoutTime
    private let journal: DecisionJournal
    private let begun: EnrolmentComparisons

    /// Counts a comparison on disk.
    ///
    /// Throws `enrolmentPaused` with the seconds left, `enrolmentLocked` until root unlocks it, or
    /// `storage`; the reader must not be asked then.
    init(
        in store: EnrolmentComparisonStore, by account: Account, time: LockoutTime,
        journal: DecisionJournal
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

    /// Saves that the finger was compared; a pause that this comparison caused starts now.
    func compared() { settle { $0.afterComparison(at: time.now) } }

    /// Takes the count back, because nothing was compared, or only the account's own finger
    /// matched.
    func takeBack() { settle { $0.takenBack() } }

    /// Saves the outcome, unless root has reset the count meanwhile.
    ///
    /// If the disk fails, the comparison stays counted.
    func settle(_ change: (EnrolmentComparisons) -> EnrolmentComparisons) {
        let current = store.load(uid: account.uid)
        guard current.count == begun.count, current.completions == begun.completions else { return }
        do throws(StoreFault) {
            try store.save(change(current), uid: account.uid)
        } catch { journal.fault(error.description, account: account.name) }
    }
}

/// When the finger is scanned once more, for a comparison, before it is enrolled.
enum ComparisonRule: Sendable {
    /// If there is a print that it could match.
    case ifUseful
    /// On each reader that can compare: the number of scans was announced before.
    case always
}

extension Enrolments {
    /// Scans the finger once and compares it with the prints of all accounts that the reader can
    /// use.
    ///
    /// A comparison by root is not counted, since root could read the prints anyway. Nor does an
    /// enrolment by root reset the count; only `unlock` does, so that no count is lost by accident.
    /// Nothing is scanned if the reader cannot identify fingers, nor, unless `rule` says so, if there
    /// is no print that could match.
    ///
    /// Throws `fingerKnown` if it is enrolled as another finger of this account, `fingerOnReader`
    /// if the reader stores it for no account here, the denial of a count that has reached its
    /// limit, or the reader's fault.
    ///
    /// - Parameters:
    ///   - finger: the finger that the user wants to enrol.
    ///   - rule: whether to scan the finger also if there is no print that could match.
    /// - Returns: the result, which says nothing to the user yet if the finger belongs to another
    ///   account.
    func compare(
        _ account: Account, finger: Finger, scans: EnrolmentScans, rule: ComparisonRule,
        during turn: borrowing Turn, client: any Client
    ) async throws(Denial) -> EnrolmentComparison {
        let (reader, left) = (scans.reader, scans.end - clock.sinceBoot())
        guard reader.features.contains(.identify) else { return EnrolmentComparison() }
        let owned = try ownedTemplates(on: reader, for: account)
        // A foreign print on the reader may match instead of the new one.
        var isCompared = rule == .always || !owned.isEmpty
        if !isCompared { isCompared = await keepsForeignPrints(reader) }
        guard isCompared else { return EnrolmentComparison() }
        var counted: CountedComparison?
        if client.peer.uid != 0, owned.contains(where: { $0.owner.uid != account.uid }) {
            counted = try CountedComparison(
                in: state.comparisons, by: account, time: LockoutTime(boot: boot, clock: clock),
                journal: journal)
        }
        let templates = owned.map(\.template)
        let sight = FingerSight()
        let result = await interruptible(by: scans.interruption) { [readers] in
            await readers.match(among: templates, on: reader.id, limit: left) { notice in
                // The user must not learn which prints of other accounts were lost.
                if notice.kind == .printLost { return }
                if notice.kind != .touch { sight.isFingerSeen = true }
                client.tell(notice)
            }
        }
        queue.noteTouch(turn)
        switch result {
        // The reader has no print left to compare with.
        case .failure(.notFound):
            counted?.takeBack()
            return EnrolmentComparison()
        case .failure(let fault):
            // Once a finger was seen, the reader's light may have shown the result, and cancelling
            // is too late: the comparison counts.
            if sight.isFingerSeen { counted?.compared() } else { counted?.takeBack() }
            throw Denial(of: fault)
        case .success(let found):
            guard case .matched(let index) = found.result, owned.indices.contains(index) else {
                counted?.compared()
                // Write as often as for a finger of another account, so that the number of writes
                // does not tell the two apart.
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

    /// Whether a reader lists prints that belong to no account here; false if that cannot be
    /// determined.
    private func keepsForeignPrints(_ reader: ReaderDescription) async -> Bool {
        guard reader.features.contains(.list),
            case .success(let contents) = await readers.list(reader)
        else { return false }
        do throws(StoreFault) {
            return try !coverage.ownedPrints().isSuperset(of: contents.digests())
        } catch { return false }
    }

    /// Receives whether a finger was seen on the reader.
    private final class FingerSight {
        var isFingerSeen = false
    }

    /// Handles a finger of another account: logs an alert, and counts a failed match of its owner.
    ///
    /// So trying fingers by enrolling them locks the owner's fingers just as trying to log in
    /// would.
    private func noteTaken(_ owner: AccountState, by account: Account) {
        journal.taken(String(decoding: owner.name.bytes, as: UTF8.self), by: account)
        let now = accounts.now
        let counted = owner.lockout.load().beginningAttempt(at: now).afterMismatch(at: now)
        do throws(StoreFault) {
            try owner.lockout.save(counted)
        } catch { journal.fault(error.description, account: account.name) }
    }

    /// A print to compare with, and its owner.
    private struct OwnedTemplate {
        let owner: AccountState
        let finger: Finger
        let template: Template
    }

    /// Returns the prints of all accounts that this reader can compare with, the account's own
    /// first.
    ///
    /// Throws `storage` if prints of another account cannot be opened: without them, the comparison
    /// would mean nothing.
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
            guard case .closed(let why) = error else {
                throw accounts.denial(for: error, account: account)
            }
            // The account's own key is open, so it is another account's. The user must not learn
            // whose.
            throw accounts.denial(for: .othersClosed(why.description), account: account)
        }
        return own + others
    }

    /// Lifts the lockout of an account's fingers, and for root also the lock on its enrolments.
    ///
    /// The account itself, which gives its password, may not lift the lock on enrolments: an
    /// attacker who tries other people's fingers may have its password. Throws `notEnrolled` if the
    /// account has no records and no such lock was lifted.
    func unlock(
        _: UnlockRequest, account: Account, client: any Client
    ) throws(Denial) -> Answer {
        let isLifted = client.peer.uid == 0 ? try liftComparisons(of: account) : false
        do throws(Denial) {
            return try enabling.unlock(account, because: "unlocked with the password")
        } catch {
            // Most accounts that are locked out of enrolling have not enrolled anything.
            guard isLifted, error.reason == .notEnrolled else { throw error }
            return .done(DoneAnswer())
        }
    }

    /// Resets the count of comparisons, and logs that; returns false if there was none.
    private func liftComparisons(of account: Account) throws(Denial) -> Bool {
        try accounts.reading(account) { () throws(StoreFault) in
            let none = EnrolmentComparisons()
            guard state.comparisons.load(uid: account.uid) != none else { return false }
            try state.comparisons.save(none, uid: account.uid)
            journal.service("\(account.name) may enrol fingers again: allowed by root")
            return true
        }
    }
}
