// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// The part of a response that has been received, within the limits.
final class Reception {
    private let headerLimit: Int
    private let bodyLimit: Int
    /// The only addresses that may be connected to; nil if there is no such restriction.
    private let addresses: [InternetAddress]?
    private var headerBytes = 0
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    private(set) var isMalformed = false
    /// Whether this machine lacked the resources to connect to one of the server's addresses.
    private(set) var isExhausted = false
    /// Whether a connection stood that was made for this request, with TLS or still without.
    ///
    /// What libcurl says of that depends on its version: newer ones wait for TLS.
    private(set) var hasConnected = false
    /// The sockets made for this request; libcurl may have closed them, and their numbers may be
    /// those of other files.
    private var sockets: [(number: Int32, identity: UInt64)] = []
    let cancelled: CancelFlag

    init(_ configuration: ClientConfiguration, cancelled: CancelFlag) {
        headerLimit = configuration.headerLimit
        bodyLimit = configuration.bodyLimit
        addresses = configuration.addresses
        self.cancelled = cancelled
    }

    /// Whether an address, given by its bytes, may be connected to.
    func permits(_ address: [UInt8]) -> Bool {
        guard let addresses else { return true }
        return addresses.contains { $0.bytes == address }
    }

    /// Creates a socket for a connection; nil if that fails, which sets `isExhausted` as
    /// appropriate.
    func openSocket(family: Int32, type: Int32, protocol: Int32) -> Int32? {
        let socket = OutgoingSocket(family: family, type: type, protocol: `protocol`)
        if socket.isExhausted { isExhausted = true }
        let number = socket.release()
        if let number, let identity = OutgoingSocket.identity(number) {
            sockets.append((number, identity))
        }
        return number
    }

    /// Sets `hasConnected` if one of the sockets is connected; libcurl calls it after each step.
    func lookForConnection() {
        guard !hasConnected else { return }
        hasConnected = sockets.contains {
            OutgoingSocket.isConnected($0.number, identity: $0.identity)
        }
    }

    /// Parses a header line; returns false to abort the transfer if it is malformed or exceeds the
    /// limit.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= headerLimit else {
            isTooLarge = true
            return false
        }
        var line = unsafe bytes[...]
        while let last = unsafe line.last, last == 0x0d || last == 0x0a {
            unsafe line.removeLast()
        }
        if unsafe line.isEmpty { return true }
        if unsafe line.starts(with: "HTTP/".utf8) {
            // The headers so far were those of an interim response; only the last response counts.
            headers = []
            return true
        }
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")),
            let name = unsafe String(validating: line[..<colon], as: UTF8.self),
            let value = unsafe String(validating: line[(colon + 1)...], as: UTF8.self),
            !value.utf8.contains(0)
        else {
            isMalformed = true
            return false
        }
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = value.drop(while: isBlank)
        let end = start.reversed().prefix(while: isBlank).count
        headers.append((name.lowercased(), String(start.dropLast(end))))
        return true
    }

    /// Appends a part of the body; returns false to abort the transfer if it exceeds the limit.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= bodyLimit else {
            isTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }
}

/// A flag that is set once, from any thread, when the caller no longer waits for the response.
final class CancelFlag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
