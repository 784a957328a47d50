// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Glibc
import Posix

/// A listening TCP socket, closed when the value is destroyed.
struct ListeningSocket: ~Copyable, Sendable {
    let descriptor: Descriptor

    /// Binds and listens on an address, or adopts a socket that is already listening.
    ///
    /// - Throws: `.badAddress`, `.portTaken`, `.cannotListen`, or `.notListening` for a descriptor
    ///   that is no listening stream socket.
    init(_ place: ServerConfiguration.Place) throws(ServerFault) {
        switch place {
        case .address(let address, let port):
            descriptor = try bound(address, port: port)
        case .listening(let number):
            descriptor = try adopted(number)
        }
    }

    /// Duplicates the descriptor; the library closes the duplicate.
    func duplicate() throws(ServerFault) -> Descriptor {
        do { return try descriptor.duplicate() } catch { throw .cannotListen(error) }
    }

    /// The port that the socket listens on; 0 if it has none.
    var port: UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor.number, $0, &length)
            }
        }
        guard result == 0 else { return 0 }
        return unsafe withUnsafeBytes(of: address) { bytes in
            switch Int32(address.ss_family) {
            case AF_INET, AF_INET6:
                UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            default: 0
            }
        }
    }
}

private func bound(_ address: String, port: UInt16) throws(ServerFault) -> Descriptor {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(address, String(port), &hints, &found) == 0, let first = unsafe found
    else { throw .badAddress(address) }
    defer { unsafe freeaddrinfo(first) }
    let information = unsafe first.pointee
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = Descriptor(adopting: socket(unsafe information.ai_family, type, 0))
    guard descriptor.number >= 0 else { throw .cannotListen(.current("socket", on: address)) }
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, size)
    guard unsafe bind(descriptor.number, information.ai_addr, information.ai_addrlen) == 0,
        listen(descriptor.number, 4096) == 0
    else {
        if errno == EADDRINUSE { throw .portTaken(address: address, port: port) }
        throw .cannotListen(.current("bind", on: "\(address) port \(port)"))
    }
    return descriptor
}

private func adopted(_ number: Int32) throws(ServerFault) -> Descriptor {
    var listens: Int32 = 0
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1,
        unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) == 0,
        type == Int32(SOCK_STREAM.rawValue)
    else { throw .notListening(descriptor: number) }
    let descriptor = Descriptor(adopting: number)
    let flags = fcntl(number, F_GETFL)
    guard fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0,
        fcntl(number, F_SETFD, FD_CLOEXEC) == 0
    else { throw .cannotListen(.current("fcntl")) }
    return descriptor
}

/// Raises RLIMIT_NOFILE so that `count` connections fit, with 256 more descriptors for files.
///
/// - Throws: `.tooFewDescriptors` if that is not permitted.
func allowConnections(_ count: Int) throws(ServerFault) {
    let needed = rlim_t(count + 256)
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0 else {
        throw .cannotListen(.current("getrlimit"))
    }
    if limit.rlim_cur >= needed { return }
    // Only root can raise the hard limit; for other users the fault says how many are needed.
    var wanted = rlimit(rlim_cur: needed, rlim_max: max(limit.rlim_max, needed))
    if unsafe setrlimit(resource, &wanted) != 0 {
        throw .tooFewDescriptors(allowed: Int(clamping: limit.rlim_max), needed: Int(needed))
    }
}

/// The number of online processors.
func processorCount() -> Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

/// Returns the numeric address of a peer without its port; an IPv4-mapped IPv6 address as IPv4.
///
/// An address of another family is returned as an empty string.
func peerName(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    let family = Int32(unsafe address.pointee.sa_family)
    var length = MemoryLayout<sockaddr_in>.size
    if family == AF_INET6 { length = MemoryLayout<sockaddr_in6>.size }
    guard family == AF_INET || family == AF_INET6 else { return "" }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let result = unsafe getnameinfo(
        address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard result == 0 else { return "" }
    let name = String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.hasPrefix("::ffff:") ? String(name.dropFirst(7)) : name
}
