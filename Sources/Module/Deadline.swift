// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// A moment on CLOCK_BOOTTIME by which something must be finished.
///
/// That clock also advances while the process is stopped and while the machine is suspended. If it
/// cannot be read, every deadline has passed.
struct Deadline {
    private let nanoseconds: UInt64

    /// The moment this many milliseconds from now.
    @inline(never)
    init(milliseconds: UInt32) {
        let (end, overflow) = Deadline.now.addingReportingOverflow(UInt64(milliseconds) * 1_000_000)
        // If the clock cannot be read, the deadline has passed already.
        nanoseconds = overflow ? 0 : end
    }

    private init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The earlier of this deadline and the moment this many milliseconds from now.
    func within(milliseconds: UInt32) -> Deadline {
        let other = Deadline(milliseconds: milliseconds)
        return Deadline(nanoseconds: min(nanoseconds, other.nanoseconds))
    }

    /// The remaining milliseconds, rounded up; 0 once the deadline has passed.
    var millisecondsLeft: Int32 {
        // Not inlined, for the size of the module.
        @inline(never) get {
            let now = Deadline.now
            guard nanoseconds > now else { return 0 }
            return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
        }
    }

    /// The seconds since this moment, rounded up; 0 before it, or if the clock could not be read then.
    var secondsPassed: UInt32 {
        let now = Deadline.now
        guard nanoseconds > 0, now > nanoseconds else { return 0 }
        return UInt32(clamping: (now - nanoseconds) / 1_000_000_000 + 1)
    }

    /// Waits, and returns true when the time has passed.
    ///
    /// The timer also runs while the machine is suspended, so that the wait ends with it.
    ///
    /// - Parameter descriptor: one that ends the wait, with false, when it is readable or was closed
    ///   at the other end; negative for none.
    @inline(never)
    static func passes(in milliseconds: UInt32, unlessReady descriptor: Int32 = -1) -> Bool {
        let end = Deadline(milliseconds: milliseconds)
        let timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC))
        defer { if timer >= 0 { _ = close(timer) } }
        var time = itimerspec()
        time.it_value.tv_sec = Int(milliseconds / 1_000)
        time.it_value.tv_nsec = Int(milliseconds % 1_000) * 1_000_000
        unsafe timerfd_settime(timer, 0, &time, nil)
        while true {
            let left = end.millisecondsLeft
            guard left > 0 else { return true }
            // Negative descriptors are ignored; without a timer, the time limit is enough.
            var watched: InlineArray<2, pollfd> = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: timer, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe withUnsafeMutableBytes(of: &watched) { watched in
                unsafe poll(watched.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, left)
            }
            if watched[0].revents != 0 { return false }
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .max }
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
