// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What a signal asks a program for.
package enum SignalMeaning: Equatable, Sendable {
    /// SIGHUP: to end, or of a service to read files anew.
    case hangUp
    /// Any other: to end.
    case end
}

/// Signals that end the program, as a descriptor that becomes readable.
///
/// So that the terminal is restored and the daemon told before the program goes. Once a process.
package struct Interrupts: ~Copyable {
    /// Readable from the first signal on.
    package let descriptor: Descriptor

    private static let writeEnd = Atomic<Int32>(-1)

    /// Takes SIGINT, SIGTERM, SIGHUP and SIGQUIT over; pipe2(2), sigaction(2).
    package static func take() throws(SystemFault) -> Interrupts {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemFault.current("pipe") }
        for end in ends {
            guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0, fcntl(end, F_SETFL, O_NONBLOCK) == 0
            else { throw SystemFault.current("fcntl") }
        }
        writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            // Who starts a program with a signal ignored, as nohup(1) does, wants that to last.
            if try isIgnored(signal) { continue }
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { Interrupts.note($0) }
            action.sa_flags = SA_RESTART
            guard unsafe sigaction(signal, &action, nil) == 0 else {
                throw SystemFault.current("sigaction")
            }
        }
        return Interrupts(descriptor: Descriptor(adopting: ends[0]))
    }

    private static func isIgnored(_ signal: Int32) throws(SystemFault) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else {
            throw SystemFault.current("sigaction")
        }
        let handler = unsafe action.__sigaction_handler.sa_handler
        return unsafe unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
    }

    /// Async-signal-safe: one atomic load and one write(2).
    private static func note(_ signal: Int32) {
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = unsafe write(writeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
        errno = saved
    }
}

/// Takes what the signal wrote that came first; nil where all were taken.
package func nextSignal(_ interrupts: Int32) -> SignalMeaning? {
    var byte: UInt8 = 0
    guard unsafe read(interrupts, &byte, 1) == 1 else { return nil }
    return Int32(byte) == SIGHUP ? .hangUp : .end
}

/// Takes what the signals wrote, so that the next one is seen as a new one.
package func drain(_ interrupts: Int32) {
    var byte: UInt8 = 0
    while unsafe read(interrupts, &byte, 1) == 1 {}
}
