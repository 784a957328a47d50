// SPDX-License-Identifier: Apache-2.0
import Loop
import ReaderProtocol

/// Sleep and waking, as far as readers are concerned.
@ReaderActor
struct Rest {
    /// How long after waking a reader may still be about to go, or to come back.
    private static let unrest = Duration.seconds(10)
    /// How long a reader that was there before is waited for, of that time.
    static let patience = Duration.seconds(3)

    /// Whether nothing may run.
    private(set) var isSuspended = false
    /// Whether readers may have come and gone without its being told.
    var isDoubtful = false
    /// Whether there was a reader before the machine slept.
    private(set) var hadReaders = false
    private var woke: SuspendingClock.Instant?
    private var appearance: Pending<Void>?

    /// The machine is about to sleep.
    mutating func begin(hasReaders: Bool) {
        isSuspended = true
        hadReaders = hasReaders
    }

    /// The machine has woken up.
    mutating func end() {
        isSuspended = false
        isDoubtful = true
        woke = .now
    }

    /// Whether the machine woke up so shortly ago that readers may not have come to rest.
    var isRecent: Bool { woke.map { .now - $0 < Self.unrest } ?? false }

    /// A reader was found.
    mutating func appeared() {
        appearance?.settle(())
        appearance = nil
    }

    /// What is settled when the next reader is found.
    mutating func nextAppearance() -> Pending<Void> {
        let next = appearance ?? Pending()
        appearance = next
        return next
    }
}

extension Readers {
    /// Ends what runs on the readers with `suspended`, and closes them; nothing runs on them until
    /// `resume()`. Returns when they are closed, or after some seconds where a driver does not heed it.
    ///
    /// They are closed and not suspended (`fp_device_suspend`): that is for operations that shall
    /// outlive the sleep, and none shall.
    package func suspend() async {
        guard !rest.isSuspended else { return }
        rest.begin(hasReaders: !descriptions.isEmpty)
        let tasks = devices.map { device in
            let done = Pending<Void>()
            onReader {
                await device.suspend()
                done.settle(())
            }
            return done
        }
        for task in tasks { await task.wait() }
    }

    /// Lets the readers be used again. They may be others now: see `renew(after:)`.
    package func resume() {
        guard rest.isSuspended else { return }
        rest.end()
        for device in devices { device.resume() }
    }

    /// Finds the readers anew, if a fault is one that a reader shows which is not the one any more
    /// that was found, or that finding it anew may mend: after sleep, unplugged and plugged in, or
    /// not to be opened. Tells whether it is worth while to try again. Nothing is done while a reader
    /// is in use.
    ///
    /// A reader that was there before the machine slept, and is not yet back, is waited for.
    package func renew(after fault: ReaderFault) async -> Bool {
        guard isStale(fault) else { return false }
        guard await enumerate() else { return false }
        rest.isDoubtful = false
        if devices.isEmpty, rest.isRecent, rest.hadReaders {
            let appearance = rest.nextAppearance()
            let limit = Timer(onReaderAfter: Rest.patience) { appearance.settle(()) }
            await appearance.wait()
            limit.cancel()
        }
        return !devices.isEmpty
    }

    private func isStale(_ fault: ReaderFault) -> Bool {
        guard !rest.isSuspended else { return false }
        if fault == .noReader {
            return rest.isDoubtful || devices.count < known || devices.contains(where: \.isGone)
        }
        guard fault.mayBeOfStaleReader else { return false }
        return rest.isRecent || devices.contains(where: \.isStale)
    }
}
