// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What a signal asks the program to do.
package enum SignalMeaning: Equatable, Sendable {
    /// SIGHUP asks a program to exit, and a service to read its files again.
    case hangUp
    /// Any other signal asks it to exit.
    case end
}

/// Turns the signals that end a program into a readable descriptor.
///
/// The program can then restore the terminal and tell the daemon before it exits. A process may
/// have at most one instance.
package struct Interrupts: ~Copyable {
    /// Readable once a signal has arrived.
    package let descriptor: Descriptor

    private static let writeEnd = Atomic<Int32>(-1)

    /// Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGQUIT, unless they are ignored;
    /// sigaction(2).
    package static func take() throws(SystemFault) -> Interrupts {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemFault.current("pipe") }
        for end in ends {
            guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0, fcntl(end, F_SETFL, O_NONBLOCK) == 0
            else { throw SystemFault.current("fcntl") }
        }
        writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            // A program that was started with a signal ignored, as by nohup(1), continues to ignore
            // it.
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

    /// Handles a signal; it is async-signal-safe, with one atomic load and one write(2).
    private static func note(_ signal: Int32) {
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = unsafe write(writeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
        errno = saved
    }
}

/// Takes the oldest signal that has not been taken yet; nil if there is none.
package func nextSignal(_ interrupts: Int32) -> SignalMeaning? {
    var byte: UInt8 = 0
    guard unsafe read(interrupts, &byte, 1) == 1 else { return nil }
    return Int32(byte) == SIGHUP ? .hangUp : .end
}

/// Discards all signals, so that the descriptor becomes readable only for a new one.
package func drain(_ interrupts: Int32) {
    var byte: UInt8 = 0
    while unsafe read(interrupts, &byte, 1) == 1 {}
}
