// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// One process, held by a descriptor, so that its number cannot come to mean another one unnoticed.
///
/// The kernel gives a number to a new process as soon as the old one has been waited for. What is
/// looked up by number therefore counts only if `hasEnded` is false afterwards. pidfd_open(2)
package final class ProcessHandle: Sendable {
    /// Its number in this process's namespace.
    package let pid: Int32
    private let descriptor: Descriptor

    private init(pid: Int32, descriptor: consuming Descriptor) {
        self.pid = pid
        self.descriptor = descriptor
    }

    /// Holds whichever process has the number now; pidfd_open(2).
    ///
    /// Throws ESRCH where none has it, also for the numbers that mean no process.
    package static func holding(_ pid: Int32) throws(SystemFault) -> ProcessHandle {
        guard pid > 0 else { throw SystemFault("pidfd_open", on: String(pid), code: ESRCH) }
        let result = retryingInterrupted { pidfd_open(pid, 0) }
        return ProcessHandle(
            pid: pid,
            descriptor: try Descriptor(result: result, of: "pidfd_open", on: String(pid)))
    }

    /// Holds the process that connected a Unix socket; unix(7) SO_PEERPIDFD, Linux 6.5.
    ///
    /// An older kernel has only the number. There, a process that connects and ends before this call
    /// may have left its number to another: to ask right after accept(2) keeps that time short.
    package static func holding(
        peerOf socket: borrowing Descriptor, _ peer: PeerCredentials
    ) throws(SystemFault) -> ProcessHandle {
        guard peer.pid > 0 else { throw SystemFault("getsockopt", code: ESRCH) }
        var number: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(
            socket.number, SOL_SOCKET, peerPIDDescriptor, &number, &size)
        if result == 0, number >= 0 {
            return ProcessHandle(pid: peer.pid, descriptor: Descriptor(adopting: number))
        }
        guard result != 0, errno == ENOPROTOOPT else { throw SystemFault.current("getsockopt") }
        return try holding(peer.pid)
    }

    /// Whether it has ended, or that cannot be found out: then nothing looked up by its number counts.
    package var hasEnded: Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return retryingInterrupted { unsafe poll(&entry, 1, 0) } != 0
    }
}

/// SO_PEERPIDFD of <asm-generic/socket.h>, which Debian 12's headers do not have.
private let peerPIDDescriptor: Int32 = 77

/// A device's numbers; makedev(3).
package struct DeviceNumber: Equatable, Sendable {
    /// Its driver.
    package let major: UInt32
    /// Which of the driver's.
    package let minor: UInt32

    /// Two numbers.
    package init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }

    /// From the form of proc(5), "tty_nr".
    init(encoded: UInt32) {
        major = encoded >> 8 & 0xFFF
        minor = encoded & 0xFF | encoded >> 12 & 0xFFF00
    }

    /// The number of the virtual console that this is, nil for every other device; console(4).
    package var virtualConsole: UInt32? {
        major == 4 && (1...63).contains(minor) ? minor : nil
    }
}

/// What the kernel tells everybody about a process; proc(5). Nothing here needs a capability.
extension ProcessHandle {
    /// The longest file that is read.
    private static let cap = 8_192

    /// The number of its parent process.
    package func parent() throws(SystemFault) -> Int32 {
        let fields = try statusFields()
        guard let parent = Int32(fields[1]) else { throw malformed("stat") }
        return parent
    }

    /// Its controlling terminal, nil if it has none.
    package func terminal() throws(SystemFault) -> DeviceNumber? {
        let fields = try statusFields()
        guard let number = Int32(fields[4]) else { throw malformed("stat") }
        return number == 0 ? nil : DeviceNumber(encoded: UInt32(bitPattern: number))
    }

    /// Its real user id.
    package func realUID() throws(SystemFault) -> UInt32 {
        // "Uid:", then the real, effective, saved and file system's id, a tab before each. This is
        // read after each touch: as bytes, since text takes ten times as long.
        var rest = try contents("status")[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard line.starts(with: "Uid:\t".utf8) else { continue }
            let word = line.dropFirst(5).prefix { $0 != UInt8(ascii: "\t") }
            guard let uid = UInt32(String(decoding: word, as: UTF8.self)) else { break }
            return uid
        }
        throw malformed("status")
    }

    /// The user that logged in, whatever it became since; nil where none did, or the kernel does not
    /// keep it.
    package func loginUID() throws(SystemFault) -> UInt32? {
        let text: String
        do {
            text = String(decoding: try contents("loginuid"), as: UTF8.self)
        } catch {
            guard error.code == ENOENT, !hasEnded else { throw error }
            return nil
        }
        guard let uid = UInt32(text.split(separator: "\n").first ?? "") else {
            throw malformed("loginuid")
        }
        return uid == UInt32.max ? nil : uid
    }

    /// The fields of `stat` after the program's name, from the state on: at least five.
    private func statusFields() throws(SystemFault) -> [Substring] {
        let text = String(decoding: try contents("stat"), as: UTF8.self)
        // The name is the program's own choice, with parentheses and spaces if it likes.
        guard let end = text.lastIndex(of: ")") else { throw malformed("stat") }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count >= 5 else { throw malformed("stat") }
        return fields
    }

    private func contents(_ name: String) throws(SystemFault) -> [UInt8] {
        let bytes = try readFile("/proc/\(pid)/\(name)", cap: Self.cap)
        guard bytes.count <= Self.cap else { throw malformed(name) }
        guard !hasEnded else { throw SystemFault("read", on: "/proc/\(pid)/\(name)", code: ESRCH) }
        return bytes
    }

    private func malformed(_ name: String) -> SystemFault {
        SystemFault("read", on: "/proc/\(pid)/\(name)", code: EBADMSG)
    }
}
