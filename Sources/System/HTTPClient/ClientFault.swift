// SPDX-License-Identifier: Apache-2.0
/// Why the server could not be authenticated.
package enum TLSRefusal: Equatable, Sendable {
    /// The certificate is not from a trusted authority.
    case unknownAuthority
    /// The certificate is for another name.
    case anotherName
    /// The certificate has expired, by this machine's clock.
    case expired
    /// The certificate is not valid yet, by this machine's clock.
    case notYetValid
    /// The server's key is not among the pinned ones.
    case anotherKey
    /// The file of authorities cannot be read or has no certificates.
    case unusableAuthorities
    /// Another reason, in libcurl's words.
    case other(String)
}

/// Why there is no response to a request.
package enum ClientFault: Error, Equatable, Sendable {
    /// The request is invalid and was not sent.
    case badRequest(String)
    /// No connection was made, for a reason outside this machine; nothing was sent.
    case cannotConnect(String)
    /// This machine has no free descriptor, port or memory; nothing was sent.
    case exhausted(String)
    /// The server could not be authenticated; nothing was sent.
    case tlsRefused(TLSRefusal)
    /// The time limit was reached; `sent` says whether the server may have received the request.
    case timedOut(sent: Bool)
    /// The response exceeds a limit.
    case tooLarge
    /// The connection broke, or the response was not HTTP.
    ///
    /// `sent` says whether the server may have received the request.
    case broken(sent: Bool, String)
    /// The task was cancelled; `sent` says whether the server may have received the request.
    case cancelled(sent: Bool)

    /// Whether the request can be repeated without the risk that it takes effect twice.
    package var isSafeToRepeat: Bool {
        switch self {
        case .cannotConnect, .exhausted: true
        case .timedOut(let sent), .broken(let sent, _), .cancelled(let sent): !sent
        case .badRequest, .tlsRefused, .tooLarge: false
        }
    }

    /// Whether there was no connection, and only the network or the server can be the reason.
    ///
    /// It is false for anything that an account on this machine could cause, such as a lack of
    /// descriptors.
    package var isAway: Bool {
        switch self {
        case .cannotConnect: true
        case .badRequest, .exhausted, .tlsRefused, .timedOut, .tooLarge, .broken, .cancelled:
            false
        }
    }
}

extension TLSRefusal: CustomStringConvertible {
    /// A single line without a full stop and without anything that was received.
    package var description: String {
        switch self {
        case .unknownAuthority: "its certificate is not from a trusted authority"
        case .anotherName: "its certificate is for another host name"
        case .expired: "its certificate has expired"
        case .notYetValid: "its certificate is not valid yet"
        case .anotherKey: "its key is not the pinned one"
        case .unusableAuthorities: "the file with trusted authorities cannot be used"
        case .other(let reason): reason
        }
    }
}

extension ClientFault: CustomStringConvertible {
    /// A single line without a full stop, which contains neither headers nor body.
    package var description: String {
        switch self {
        case .badRequest(let reason): "the request cannot be sent: \(reason)"
        case .cannotConnect(let reason): "the server cannot be reached: \(reason)"
        case .exhausted(let reason): "this machine lacks the resources to connect: \(reason)"
        case .tlsRefused(let reason): "the server's identity cannot be verified: \(reason)"
        case .timedOut(sent: false): "the server could not be reached in time"
        case .timedOut(sent: true): "the server did not answer in time"
        case .tooLarge: "the server's answer is too long"
        case .broken(_, let reason): "the connection to the server broke: \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }
}
