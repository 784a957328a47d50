// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a wait ended.
package enum Awaited: Equatable, Sendable {
    /// The awaited descriptor is readable, or its other end is gone.
    case readable
    /// The interrupting descriptor is readable; this takes precedence if both are.
    case interrupted
    /// The deadline has passed.
    case timedOut
}

/// Waits until one of two descriptors is readable or the deadline has passed; poll(2).
///
/// A negative descriptor is never readable. If `deadline` is nil, there is no time limit. A failure
/// of poll(2) is reported as `timedOut`.
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

/// Waits until one of some descriptors is readable, or the other end of one of the others is closed;
/// poll(2). Returns false if the deadline passes first.
package func waitForAny(
    readable: [Int32], hungUp: some Collection<Int32>, until deadline: ContinuousClock.Instant
) -> Bool {
    var entries = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    entries += hungUp.map { pollfd(fd: $0, events: 0, revents: 0) }
    while true {
        let result = unsafe poll(&entries, nfds_t(entries.count), milliseconds(until: deadline))
        if result > 0 { return true }
        if result < 0 && errno != EINTR || ContinuousClock.now >= deadline { return false }
    }
}

/// Whether the other end of a connected socket is closed, whatever it has sent before; POLLHUP, poll(2).
package func isHungUp(_ number: Int32) -> Bool {
    var entry = pollfd(fd: number, events: 0, revents: 0)
    return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
}

/// Waits until a descriptor is writable, poll(2); returns false if it is not before the deadline.
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

/// The result of reading one byte.
package enum ReceivedByte: Equatable, Sendable {
    /// The byte.
    case byte(UInt8)
    /// The end of the stream.
    case end
    /// No byte is available yet.
    case wouldBlock
}

/// Reads a single byte and leaves the rest unread; read(2).
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

/// Reads up to `count` bytes that are available, and appends them to an array; read(2).
///
/// The temporary buffer is wiped. If the bytes are secret, reserve enough capacity in the array
/// first, because an array that grows leaves a copy of its bytes in freed memory.
///
/// - Returns: the number of bytes read, 0 at the end of the stream, nil if nothing is available
///   yet.
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
