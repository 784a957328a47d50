// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Servers/SessionRequests.swift`.
package enum SessionFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SessionListRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet sessions", logging: .denials),
        RequestExpectation(
            SessionEndRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet sessions"),
    ]

    /// A session with what each has, and one with everything at its longest.
    package static let session = SessionContent(
        session: .sample(0..<16), device: .sample(1..<17), factor: .fingerprint, created: 0,
        expires: .max)
    package static let longSession = SessionContent(
        session: .sample(0..<16), device: .sample(1..<17),
        deviceName: DeviceName(Bytes(repeating: 0x61, count: DeviceName.longest)), isOwn: true,
        factor: .both, created: .max, refreshed: .max, expires: 0,
        address: Bytes(repeating: 0xFF, count: Limit.text),
        agent: Bytes(repeating: 0x1B, count: Limit.text))

    package static let requests: [Request] = [
        .sessionList(SessionListRequest(account: account, timeoutMilliseconds: 1)),
        .sessionList(
            SessionListRequest(
                account: account, timeoutMilliseconds: .max, server: ServerURL([1]),
                factor: .password)),
        .sessionEnd(
            SessionEndRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]), session: nil)),
        .sessionEnd(
            SessionEndRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                session: .sample(0..<16), factor: .password)),
    ]

    package static let answers: [Answer] = [
        .of(SessionAnswer(server: ServerURL([1]), content: session)),
        .of(SessionAnswer(server: ServerURL([1]), content: longSession)),
        .of(SessionCountAnswer(server: ServerURL([1]), count: .max)),
    ]
}
