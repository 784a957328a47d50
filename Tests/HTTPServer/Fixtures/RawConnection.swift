// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// A client that sends what it likes, well-formed or not.
struct RawConnection: ~Copyable {
    private let number: Int32

    /// Connects to a port of this machine.
    init(port: UInt16) throws {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = number
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, size)
            }
        }
        guard result == 0 else {
            throw TestFault.system(call: "connect", subject: "\(port)", code: errno)
        }
        // No test waits longer for a byte.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let limitSize = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, limitSize)
    }

    deinit { close(number) }

    /// Sends bytes; false where the other end has closed.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            == bytes.count
    }

    /// Reads until a text has come so many times; what came until then, or until the end.
    func receive(until end: String, times: Int = 1) -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let text = String(decoding: all, as: UTF8.self)
            if text.ranges(of: end).count >= times { return text }
            let count = unsafe read(number, &buffer, buffer.count)
            guard count > 0 else { return text }
            all += buffer[..<count]
        }
    }

    /// Reads all until the other end closes; nil if it does not.
    func receiveAll() -> String? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(number, &buffer, buffer.count)
            if count > 0 {
                all += buffer[..<count]
            } else if count == 0 || errno == ECONNRESET {
                return String(decoding: all, as: UTF8.self)
            } else {
                return nil
            }
        }
    }
}

/// Sends one request, and returns all that comes until the server closes.
func exchange(_ port: UInt16, _ request: String) throws -> String? {
    let connection = try RawConnection(port: port)
    connection.send(request)
    return connection.receiveAll()
}
