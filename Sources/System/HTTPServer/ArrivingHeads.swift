// SPDX-License-Identifier: Apache-2.0
import CGnuTLS
import CMicrohttpd
import Glibc
import Synchronization

/// The requests whose head has begun and is not complete, so that each gets one answer.
///
/// The library itself answers a complete head with a wrong `Content-Length`, without `Host`, or with
/// more cookies than its buffer holds. libmicrohttpd 0.9.75 goes on with the request after that, and
/// sends the head of its answer twice. It reports the fault first, without saying of which request.
/// That is found here: among the requests that the thread serves, it is the only one whose head is
/// complete but was not passed on. The server then answers it, and the library's answer is not sent.
final class ArrivingHeads: Sendable {
    /// How the library's report begins.
    private static let report = "Error processing request (HTTP response code is "

    private struct Head {
        let exchange: Exchange
        /// The address of the `MHD_Connection`; only `thread` may use it.
        let connection: UInt
        let thread: pthread_t
        /// Whether it was answered here. It is kept until the library has finished with it.
        var isAnswered = false

        var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: connection) }

        /// Whether the library has read the whole head. The size is known only then.
        var isComplete: Bool {
            guard let pointer = unsafe pointer else { return false }
            return unsafe signet_mhd_head_size(pointer) > 0
        }
    }

    private let heads = Mutex<[ObjectIdentifier: Head]>([:])

    /// Notes a request whose request line has arrived, on the thread that serves it.
    func add(_ exchange: Exchange, on connection: OpaquePointer) {
        let head = Head(
            exchange: exchange, connection: UInt(bitPattern: connection), thread: pthread_self())
        heads.withLock { $0[exchange.key] = head }
    }

    /// Removes a request whose head was passed on.
    func remove(_ exchange: Exchange) {
        heads.withLock { heads in
            if heads[exchange.key]?.isAnswered == false { heads[exchange.key] = nil }
        }
    }

    /// Removes the requests of a connection that the library is about to free.
    ///
    /// There are none, unless the library did not report the end of one: 0.9.75 closes a connection
    /// without that if it would have to answer a request a second time. The address then belongs to
    /// nothing, or to another connection.
    func forget(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        let left = heads.withLock { heads in
            let left = heads.values.filter { $0.connection == address }
            for head in left { heads.removeValue(forKey: head.exchange.key) }
            return left
        }
        for head in left {
            head.exchange.end()
            // In place of the callback for completed requests, which is not called any more.
            unsafe Unmanaged.passUnretained(head.exchange).release()
        }
    }

    /// Removes a request that has ended, whether its head was passed on or not.
    func end(_ exchange: Exchange) {
        _ = heads.withLock { $0.removeValue(forKey: exchange.key) }
    }

    /// Answers a request of this thread that the library is about to answer, if `line`, a message of
    /// the library, reports one.
    func answerRefused(_ line: String) {
        guard let status = Self.status(line) else { return }
        let thread = pthread_self()
        let found = heads.withLock { heads -> Head? in
            let found = heads.values.first {
                pthread_equal($0.thread, thread) != 0 && !$0.isAnswered && $0.isComplete
            }
            if let found { heads[found.exchange.key]?.isAnswered = true }
            return found
        }
        guard let found, let pointer = unsafe found.pointer else { return }
        unsafe send(found.exchange.response(toUnread: status), instead: pointer)
    }

    private static func status(_ line: String) -> Int? {
        guard line.hasPrefix(report) else { return nil }
        return Int(line.dropFirst(report.count).prefix(3))
    }
}

/// Sends a response past the library, and ends the sending direction of the connection, so that the
/// library's own answer cannot follow.
///
/// It does not wait: nothing was sent on the connection that could still fill its buffer, except by
/// a client that does not read its answers.
private func send(_ response: HTTPResponse, instead connection: OpaquePointer) {
    let descriptor = unsafe signet_mhd_descriptor(connection)
    let bytes = rendered(response)
    if let session = unsafe signet_mhd_session(connection) {
        let session = OpaquePointer(session)
        _ = unsafe gnutls_record_send(session, bytes, bytes.count)
        _ = unsafe gnutls_bye(session, GNUTLS_SHUT_WR)
    } else {
        _ = unsafe Glibc.send(
            descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    _ = shutdown(descriptor, Int32(SHUT_WR))
}

/// The bytes of a response after which the connection is closed.
private func rendered(_ response: HTTPResponse) -> [UInt8] {
    let reason = unsafe text(MHD_get_reason_phrase_for(UInt32(clamping: response.status))) ?? ""
    var head = "HTTP/1.1 \(response.status) \(reason)\r\nDate: \(date())\r\nConnection: close\r\n"
    for header in response.headers where isFit(header) {
        head += "\(header.name): \(header.value)\r\n"
    }
    head += "Content-Length: \(response.body.count)\r\n\r\n"
    return Array(head.utf8) + response.body
}

/// The present time in the form of RFC 9110, section 5.6.7.
private func date() -> String {
    var now = Glibc.time(nil)
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&now, &parts)
    var line = [CChar](repeating: 0, count: 64)
    let count = unsafe strftime(&line, line.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: line[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
