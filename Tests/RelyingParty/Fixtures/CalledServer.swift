// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import RelyingParty

/// A server that tests call: its dispatcher alone, or its process.
protocol CalledServer {
    associatedtype Time: TellingTime
    /// The server's own time.
    var time: Time { get }

    /// Sends a call; `key` is the API key it comes with.
    func send(
        _ method: String, _ path: String, _ body: [String: Any]?, key: String?,
        headers: [(name: String, value: String)], from peer: String
    ) async throws -> Reply

    /// Sends a call with the API key of `shop`.
    func ask(_ method: String, _ path: String, _ body: [String: Any]?) async throws -> Reply
}

extension CalledServer {
    /// Sends a call without a key.
    func send(
        _ method: String, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Reply {
        try await send(method, path, body, key: nil, headers: [], from: "192.0.2.1")
    }
}

/// Where the time comes from.
protocol TellingTime {
    /// Seconds since 1970.
    var now: Int64 { get }
}

extension TestTime: TellingTime {}

/// The machine's own time.
struct RealTime: TellingTime {
    var now: Int64 { Int64(Date().timeIntervalSince1970) }
}

extension TestServer: CalledServer {}
