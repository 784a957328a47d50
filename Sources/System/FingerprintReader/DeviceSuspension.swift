// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol

/// Records when the machine slept and woke, as far as it matters to readers.
///
/// For some seconds after waking, readers may disappear and come back, and not every such change is
/// announced. All times exclude the time spent asleep.
@ReaderActor
struct DeviceSuspension {
    /// How long after waking readers may still come and go.
    private static let unrest = Duration.seconds(10)
    /// How much of that time to wait for a reader, if there was one before the machine slept.
    static let patience = Duration.seconds(3)

    /// Whether the machine is about to sleep or asleep, so that no operation may run.
    private(set) var isSuspended = false
    /// Whether readers may have come and gone without an event.
    var isDoubtful = false
    /// Whether there was a reader before the machine slept.
    private(set) var hadReaders = false
    private var woke: SuspendingClock.Instant?
    private var appearance: Pending<Void>?

    /// Records that the machine is about to sleep.
    mutating func begin(hasReaders: Bool) {
        isSuspended = true
        hadReaders = hasReaders
    }

    /// Records that the machine has woken up.
    mutating func end() {
        isSuspended = false
        isDoubtful = true
        woke = .now
    }

    /// Whether the machine woke up so recently that readers may still come and go.
    var isRecent: Bool { woke.map { .now - $0 < Self.unrest } ?? false }

    /// Records that a reader was found, and ends all waits for it.
    mutating func appeared() {
        appearance?.settle(())
        appearance = nil
    }

    /// Returns what settles when the next reader is found.
    mutating func nextAppearance() -> Pending<Void> {
        let next = appearance ?? Pending()
        appearance = next
        return next
    }
}

extension Readers {
    /// Ends all operations with `suspended`, and keeps the readers closed until `resume()`.
    ///
    /// Returns when they are closed, or after two seconds if a driver does not respond. They are
    /// closed rather than suspended (`fp_device_suspend`), because that call is meant for
    /// operations that continue after the sleep, and here none does.
    package func suspend() async {
        guard !suspension.isSuspended else { return }
        suspension.begin(hasReaders: !descriptions.isEmpty)
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

    /// Allows the readers to be used again; the list of readers may be outdated, see
    /// `renew(after:)`.
    package func resume() {
        guard suspension.isSuspended else { return }
        suspension.end()
        for device in devices { device.resume() }
    }

    /// Enumerates the readers again if the fault may be due to an outdated list of readers.
    ///
    /// That is so for the faults that a reader shows after a sleep, after it was unplugged and
    /// plugged in again, or when it could not be opened. Nothing is done while a reader is in use.
    /// If no reader is found shortly after waking, and there was one before the sleep, the call
    /// waits up to three seconds for one to appear.
    ///
    /// - Returns: whether it is worth trying the operation again.
    package func renew(after fault: ReaderFault) async -> Bool {
        guard isStale(fault) else { return false }
        guard await enumerate() else { return false }
        suspension.isDoubtful = false
        if devices.isEmpty, suspension.isRecent, suspension.hadReaders {
            let appearance = suspension.nextAppearance()
            let limit = Timer(onReaderAfter: DeviceSuspension.patience) { appearance.settle(()) }
            await appearance.wait()
            limit.cancel()
        }
        return !devices.isEmpty
    }

    private func isStale(_ fault: ReaderFault) -> Bool {
        guard !suspension.isSuspended else { return false }
        if fault == .noReader {
            return suspension.isDoubtful || devices.count < known
                || devices.contains(where: \.isGone)
        }
        guard fault.mayBeOfStaleReader else { return false }
        return suspension.isRecent || devices.contains(where: \.isStale)
    }
}
