// SPDX-License-Identifier: Apache-2.0
/// Why a server does not prove to be the one that is meant.
package enum TLSRefusal: Equatable, Sendable {
    /// Its certificate is of an authority that is not trusted, or of none.
    case unknownAuthority
    /// Its certificate is for another name.
    case anotherName
    /// Its certificate has ended, by this machine's clock.
    case expired
    /// Its certificate has not begun, by this machine's clock.
    case notYetValid
    /// Its key is not the one that is pinned.
    case anotherKey
    /// The file of authorities cannot be used.
    case unusableAuthorities
    /// Something else, in libcurl's words.
    case other(String)
}

/// Why there is no answer.
package enum ClientFault: Error, Equatable, Sendable {
    /// The request is not one that may be sent.
    case badRequest(String)
    /// Nobody was reached, by no doing of this machine's; nothing was sent.
    case cannotConnect(String)
    /// This machine has nothing left to connect with: files, ports or memory; nothing was sent.
    case exhausted(String)
    /// The server does not prove to be the one that is meant; nothing was sent.
    case tlsRefused(TLSRefusal)
    /// The time is over; whether the server may have the request.
    case timedOut(sent: Bool)
    /// The answer is longer than the limit.
    case tooLarge
    /// The connection ended early, or what came was no HTTP; whether the server may have the request.
    case broken(sent: Bool, String)
    /// The caller's task was cancelled; whether the server may have the request.
    case cancelled(sent: Bool)

    /// Tells whether the same request can be made again without being done twice.
    package var isSafeToRepeat: Bool {
        switch self {
        case .cannotConnect, .exhausted: true
        case .timedOut(let sent), .broken(let sent, _), .cancelled(let sent): !sent
        case .badRequest, .tlsRefused, .tooLarge: false
        }
    }

    /// Tells whether no connection came about, and only the way to the server can have done that:
    /// what anybody with an account here could bring about is no such thing.
    package var isAway: Bool {
        switch self {
        case .cannotConnect: true
        case .badRequest, .exhausted, .tlsRefused, .timedOut, .tooLarge, .broken, .cancelled:
            false
        }
    }
}

extension TLSRefusal: CustomStringConvertible {
    /// One line without a full stop; it holds nothing that was received.
    package var description: String {
        switch self {
        case .unknownAuthority: "its certificate is of no authority that is trusted here"
        case .anotherName: "its certificate is for another name"
        case .expired: "its certificate has expired"
        case .notYetValid: "its certificate is not valid yet"
        case .anotherKey: "its key is another one than is pinned here"
        case .unusableAuthorities: "the file of authorities cannot be used"
        case .other(let reason): reason
        }
    }
}

extension ClientFault: CustomStringConvertible {
    /// One line without a full stop; it holds no header and no body.
    package var description: String {
        switch self {
        case .badRequest(let reason): "the request cannot be sent: \(reason)"
        case .cannotConnect(let reason): "the server cannot be reached: \(reason)"
        case .exhausted(let reason): "this machine has nothing left to connect with: \(reason)"
        case .tlsRefused(let reason): "the server does not prove who it is: \(reason)"
        case .timedOut(sent: false): "the server cannot be reached in time"
        case .timedOut(sent: true): "the server does not answer in time"
        case .tooLarge: "the server's answer is too long"
        case .broken(_, let reason): "the connection to the server broke: \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }
}
