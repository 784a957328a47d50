// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A process, held by a pidfd so that a reused process id is noticed; pidfd_open(2).
///
/// The kernel reuses the number of a process once it has been waited for. Anything that was looked
/// up by number is therefore valid only if `hasEnded` is false afterwards. The functions that read
/// proc(5) check this themselves, and throw ESRCH.
package final class ProcessHandle: Sendable {
    /// The process id in this process's pid namespace.
    package let pid: Int32
    private let descriptor: Descriptor

    private init(pid: Int32, descriptor: consuming Descriptor) {
        self.pid = pid
        self.descriptor = descriptor
    }

    /// Opens a handle on the process that has this id now; pidfd_open(2).
    ///
    /// - Throws: ESRCH if there is none, and for ids that are not positive.
    package static func holding(_ pid: Int32) throws(SystemFault) -> ProcessHandle {
        guard pid > 0 else { throw SystemFault("pidfd_open", on: String(pid), code: ESRCH) }
        let result = retryingInterrupted { pidfd_open(pid, 0) }
        return ProcessHandle(
            pid: pid,
            descriptor: try Descriptor(result: result, of: "pidfd_open", on: String(pid)))
    }

    /// Takes over a pidfd that another process, which is trusted, has sent together with the id.
    package static func adopting(
        _ descriptor: consuming Descriptor, pid: Int32
    ) -> ProcessHandle {
        ProcessHandle(pid: pid, descriptor: descriptor)
    }

    /// Opens a handle on the process that connected a Unix socket; unix(7) SO_PEERPIDFD, Linux 6.5.
    ///
    /// Older kernels report only the number. On these, another process may have the number if the
    /// one that connected has ended before this call; calling this right after accept(2) keeps that
    /// window short.
    package static func holding(
        peerOf socket: borrowing Descriptor, peer: PeerCredentials
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

    /// Whether the process has ended.
    ///
    /// It is also true if this cannot be determined, so that nothing which was looked up by number
    /// is taken as valid.
    package var hasEnded: Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return retryingInterrupted { unsafe poll(&entry, 1, 0) } != 0
    }
}

/// SO_PEERPIDFD of <asm-generic/socket.h>, which the headers of Debian 12 do not define.
private let peerPIDDescriptor: Int32 = 77

/// A device number; makedev(3).
package struct DeviceNumber: Equatable, Sendable {
    /// The major number, which identifies the driver.
    package let major: UInt32
    /// The minor number, which identifies the device within the driver.
    package let minor: UInt32

    /// Combines a major and a minor number.
    package init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }

    /// Decodes the encoding that proc(5) uses for `tty_nr`.
    init(encoded: UInt32) {
        major = encoded >> 8 & 0xFFF
        minor = encoded & 0xFF | encoded >> 12 & 0xFFF00
    }

    /// The number of this virtual console, console(4); nil for any other device.
    package var virtualConsole: UInt32? {
        major == 4 && (1...63).contains(minor) ? minor : nil
    }

    /// The name of this terminal below `/dev`, such as `pts/3` or `tty1`; nil for any other device.
    package var terminalName: [UInt8]? {
        if let number = pseudoTerminal { return Array("pts/\(number)".utf8) }
        if let number = virtualConsole { return Array("tty\(number)".utf8) }
        // Serial lines; see serial(4).
        return major == 4 && minor >= 64 ? Array("ttyS\(minor - 64)".utf8) : nil
    }

    /// The number of this pseudo-terminal, pts(4): 3 is `/dev/pts/3`; nil for any other device.
    package var pseudoTerminal: UInt32? { major == 136 ? minor : nil }
}

/// Properties of a process that the kernel reveals to every user; proc(5).
extension ProcessHandle {
    /// The largest file that is read, in bytes.
    private static let cap = 8_192

    /// Reads the id of the parent process.
    package func parent() throws(SystemFault) -> Int32 {
        let fields = try statusFields()
        guard let parent = Int32(fields[1]) else { throw malformed("stat") }
        return parent
    }

    /// Reads the program's name, at most 15 bytes of it; comm of proc(5).
    ///
    /// The program itself can change it.
    package func name() throws(SystemFault) -> [UInt8] {
        [UInt8](try contents("comm").prefix { $0 != UInt8(ascii: "\n") })
    }

    /// Reads the id of the session in the sense of setsid(2), which is the pid of its leader; 0 if
    /// the leader is in another pid namespace.
    package func terminalSession() throws(SystemFault) -> Int32 {
        let fields = try statusFields()
        guard let session = Int32(fields[3]) else { throw malformed("stat") }
        return session
    }

    /// Reads the controlling terminal; nil if the process has none.
    package func terminal() throws(SystemFault) -> DeviceNumber? {
        let fields = try statusFields()
        guard let number = Int32(fields[4]) else { throw malformed("stat") }
        return number == 0 ? nil : DeviceNumber(encoded: UInt32(bitPattern: number))
    }

    /// Reads the real uid.
    package func realUID() throws(SystemFault) -> UInt32 {
        // The line has "Uid:" and the real, effective, saved and file system uid, each after a tab.
        // It is parsed as bytes because this runs after each touch, and as text it takes ten times
        // as long.
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

    /// Reads the uid with which the user logged in, whatever uid the process has taken since.
    ///
    /// It is nil if the process does not descend from a login, or the kernel does not record it.
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

    /// Reads the fields of `stat` after the program's name, starting with the state; at least five.
    private func statusFields() throws(SystemFault) -> [Substring] {
        let text = String(decoding: try contents("stat"), as: UTF8.self)
        // The program chooses its name, which may contain parentheses and spaces.
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

    /// Returns the ids of all processes that there are now.
    package static func all() throws(SystemFault) -> [Int32] {
        do throws(FileFault) {
            return try Directory.open("/proc").list().compactMap { Int32($0) }
        } catch { throw SystemFault("opendir", on: "/proc", code: EIO) }
    }

    private func malformed(_ name: String) -> SystemFault {
        SystemFault("read", on: "/proc/\(pid)/\(name)", code: EBADMSG)
    }
}
