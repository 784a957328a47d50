// SPDX-License-Identifier: Apache-2.0

/// What became of an attempt to deliver a callback.
enum CallbackOutcome: Equatable, Sendable {
    /// The receiver answered with a status from 200 to 299.
    case delivered
    case failed(CallbackFailure)
    /// The server is stopping, so the attempt does not count.
    case cancelled
}

/// Why a callback was not delivered.
enum CallbackFailure: Equatable, Sendable {
    /// The host's name could not be resolved.
    case resolution(String)
    /// An address is not permitted; nothing was sent.
    case address(String)
    /// No connection was made, or it broke.
    case connection(String)
    /// The receiver's certificate is not accepted.
    case certificate(String)
    /// The receiver did not answer in time.
    case timeout
    /// The receiver answered with another status, for example a redirection, which is not followed.
    case status(Int)
    /// The answer is too long.
    case answer

    /// The kinds, as figures show them.
    enum Kind: String, CaseIterable, Sendable {
        case resolution = "resolution"
        case address = "address"
        case connection = "connection"
        case certificate = "certificate"
        case timeout = "timeout"
        case status = "status"
        case answer = "answer"
    }

    var kind: Kind {
        switch self {
        case .resolution: .resolution
        case .address: .address
        case .connection: .connection
        case .certificate: .certificate
        case .timeout: .timeout
        case .status: .status
        case .answer: .answer
        }
    }

    /// One line for the administrator; it contains nothing that was received.
    var text: String {
        switch self {
        case .resolution(let reason): "the name cannot be resolved: \(reason)"
        case .address(let reason): "refused: \(reason)"
        case .connection(let reason): reason
        case .certificate(let reason): "the receiver cannot be authenticated: \(reason)"
        case .timeout: "the receiver did not answer in time"
        case .status(let status): "the receiver answered with status \(status)"
        case .answer: "the receiver's answer is too long"
        }
    }
}

/// How long a callback is put off after failures.
enum CallbackBackOff {
    /// The longest time, in seconds, also with jitter.
    static let longest: Int64 = 3_600
    private static let first: Int64 = 5

    /// The seconds until the next attempt after `failures` in a row, at least one.
    ///
    /// The time doubles from 5 s to an hour. The second half of it is drawn, so that receivers that
    /// failed together are not all tried again at once.
    static func seconds(
        afterFailures failures: Int64, using random: inout some RandomNumberGenerator
    ) -> Int64 {
        let doublings = min(20, max(0, failures - 1))
        let whole = min(longest, first << doublings)
        return Int64.random(in: (whole - whole / 2)...whole, using: &random)
    }
}
