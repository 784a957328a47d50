// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// An open descriptor; closed with its owner.
struct Descriptor: ~Copyable {
    let number: Int32

    init(owning number: Int32) { self.number = number }

    /// Takes what a C function returned: a descriptor, or `-errno`.
    init(_ result: Int32, _ call: String, _ subject: String) throws(TestFault) {
        guard result >= 0 else { throw .system(call: call, subject: subject, code: -result) }
        number = result
    }

    deinit { close(number) }

    /// Waits until something can be read, the other end is closed, or the time is over.
    func isReady(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while true {
            var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            let count = unsafe poll(&waiting, 1, Int32(max(0, left.rounded(.up))))
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }

    /// Writes all of it, or throws.
    func write(_ bytes: [UInt8]) throws(TestFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe write_quietly(number, buffer.baseAddress, UInt(buffer.count))
            }
            guard count > 0 else {
                throw .system(call: "write", subject: "a child", code: Int32(-count))
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads so many bytes, or throws: when the other end closes first, or the time is over.
    func read(
        exactly count: Int, until deadline: ContinuousClock.Instant, _ awaited: String
    ) throws(TestFault) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while all.count < count {
            guard isReady(within: deadline - ContinuousClock.now) else {
                throw .deadline(awaited: awaited, transcript: "\(all)")
            }
            let got = unsafe Glibc.read(number, &buffer, count - all.count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw .closed(awaited: awaited, transcript: "\(all)") }
            all += buffer[..<got]
        }
        return all
    }
}

/// Two connected ends, not inherited by other programs.
struct Pipe: ~Copyable {
    let read: Descriptor
    let write: Descriptor

    /// pipe2(2)
    init() throws(TestFault) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe open_pipe(&ends.0, &ends.1)
        guard result == 0 else { throw .system(call: "pipe2", subject: "a child", code: -result) }
        read = Descriptor(owning: ends.0)
        write = Descriptor(owning: ends.1)
    }
}

/// The two sides of a pseudo-terminal, not inherited by other programs.
struct TerminalPair: ~Copyable {
    let path: String
    let master: Descriptor
    let slave: Descriptor

    /// posix_openpt(3)
    init() throws(TestFault) {
        var sides: (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 64)
        let result = unsafe open_terminal(&sides.0, &sides.1, &name, UInt(name.count))
        guard result == 0 else {
            throw .system(call: "posix_openpt", subject: "a terminal", code: -result)
        }
        master = Descriptor(owning: sides.0)
        slave = Descriptor(owning: sides.1)
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}

/// Sends a text through a connection of its own to a Unix stream socket, and closes it.
package func deliver(_ text: String, to path: String) throws(TestFault) {
    let stream = try Descriptor(unsafe connect_stream(path), "connect", path)
    try stream.write(Array(text.utf8))
}
