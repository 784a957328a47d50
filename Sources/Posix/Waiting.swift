// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a wait ended with.
package enum Awaited: Equatable, Sendable {
    /// The awaited descriptor can be read, or its other end is gone.
    case readable
    /// The interrupting descriptor can be read; it comes first where both can.
    case interrupted
    /// The time is over.
    case timedOut
}

/// Waits until one of two descriptors can be read, or the time is over; poll(2).
///
/// A negative descriptor never can be, and without a deadline the wait has no end of its own.
package func wait(
    for number: Int32, or interrupts: Int32, until deadline: ContinuousClock.Instant?
) -> Awaited {
    while true {
        var entries = [
            pollfd(fd: interrupts, events: Int16(POLLIN), revents: 0),
            pollfd(fd: number, events: Int16(POLLIN), revents: 0),
        ]
        let result = unsafe poll(&entries, 2, milliseconds(until: deadline))
        if result < 0 && errno != EINTR { return .timedOut }
        if result > 0 && entries[0].revents != 0 { return .interrupted }
        if result > 0 { return .readable }
        if let deadline, ContinuousClock.now >= deadline { return .timedOut }
    }
}

/// Waits until a descriptor takes bytes again; false where it does not in time, poll(2).
package func isWritable(_ number: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        let result = unsafe poll(&entry, 1, milliseconds(until: deadline))
        if result < 0 && errno != EINTR { return false }
        if result > 0 { return true }
        if ContinuousClock.now >= deadline { return false }
    }
}

private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = max(.zero, deadline - ContinuousClock.now).components
    return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
}

/// What one byte was asked for and came.
package enum ReceivedByte: Equatable, Sendable {
    /// The byte.
    case byte(UInt8)
    /// Nothing more will come.
    case end
    /// Nothing is there now.
    case wouldBlock
}

/// Reads one byte and none behind it; read(2).
package func readByte(from number: Int32) throws(SystemFault) -> ReceivedByte {
    var byte: UInt8 = 0
    switch retryingInterrupted({ unsafe read(number, &byte, 1) }) {
    case 1: return .byte(byte)
    case 0: return .end
    default:
        guard errno == EAGAIN else { throw SystemFault.current("read") }
        return .wouldBlock
    }
}

/// Appends up to `count` bytes that can be read now, and returns how many; 0 at the end, nil where
/// nothing is there now; read(2). What is between is wiped.
///
/// The array should have room for them: where it grows, it leaves a copy behind.
package func readSome(
    from number: Int32, into bytes: inout [UInt8], count: Int
) throws(SystemFault) -> Int? {
    var buffer = [UInt8](repeating: 0, count: count)
    defer { wipe(&buffer) }
    let got = unsafe buffer.withUnsafeMutableBytes { place in
        retryingInterrupted { unsafe read(number, place.baseAddress, place.count) }
    }
    guard got >= 0 else {
        guard errno == EAGAIN else { throw SystemFault.current("read") }
        return nil
    }
    bytes.append(contentsOf: buffer[..<got])
    return got
}
