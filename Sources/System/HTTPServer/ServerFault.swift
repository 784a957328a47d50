// SPDX-License-Identifier: Apache-2.0
import Posix

/// Why an `HTTPServer` does not start or cannot use a certificate.
package enum ServerFault: Error, Equatable, Sendable {
    /// The address is not a numeric IPv4 or IPv6 address.
    case badAddress(String)
    /// Another program listens on this address and port.
    case portTaken(address: String, port: UInt16)
    /// The kernel refuses to listen there.
    case cannotListen(SystemFault)
    /// The descriptor passed in is not a listening stream socket.
    case notListening(descriptor: Int32)
    /// RLIMIT_NOFILE permits fewer descriptors than the connection limit needs.
    case tooFewDescriptors(allowed: Int, needed: Int)
    /// The certificate or key cannot be read, they do not match, or the key may not sign.
    case identity(String)
    /// Another fault of the library, with its message.
    case library(String)
    /// The server has been stopped.
    case stopped
}

extension ServerFault: CustomStringConvertible {
    /// A single line without a full stop.
    package var description: String {
        switch self {
        case .badAddress(let address):
            "'\(address)' is not an IPv4 or IPv6 address"
        case .portTaken(let address, let port):
            "another program listens on \(address) port \(port)"
        case .cannotListen(let fault):
            "cannot listen: \(fault)"
        case .notListening(let descriptor):
            "descriptor \(descriptor) is not a listening stream socket"
        case .tooFewDescriptors(let allowed, let needed):
            "only \(allowed) open files are allowed, but the connection limit needs \(needed)"
        case .identity(let reason):
            "the TLS certificate and key cannot be used: \(reason)"
        case .library(let reason):
            "the HTTP server cannot start: \(reason)"
        case .stopped:
            "the HTTP server has been stopped"
        }
    }
}
