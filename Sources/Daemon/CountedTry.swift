import Policy
import Store

/// One try of a finger, on disk as a failure from its first moment.
///
/// Nothing else counts while it is under way, since there is one touch at a time; but a password
/// may lift the lockout meanwhile, and then its word holds.
struct CountedTry {
    private let store: LockoutStore
    private let before: Lockout
    private let counted: Lockout

    /// Counts the try as failed, durably, before the reader is asked.
    init(in store: LockoutStore, at now: Lockout.Moment) throws(StoreFault) {
        self.store = store
        before = store.load()
        counted = before.beginningAttempt(at: now)
        try store.save(counted)
    }

    /// The finger did not match: gives the state that this leads to. Where the lockout was lifted
    /// meanwhile, this is the first failure since.
    func failed(at now: Lockout.Moment) throws(StoreFault) -> Lockout {
        let current = store.load()
        let attempt = current == counted ? counted : current.beginningAttempt(at: now)
        let after = attempt.afterMismatch(at: now)
        if after != current { try store.save(after) }
        return after
    }

    /// No finger was judged, or not its fault: nothing failed.
    func takeBack() throws(StoreFault) {
        if store.load() == counted { try store.save(before) }
    }

    /// The finger matched and proved it: nothing failed since the last success.
    func succeeded() throws(StoreFault) {
        try store.save(counted.lifted())
    }
}
