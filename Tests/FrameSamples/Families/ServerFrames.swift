// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Servers/ServerRequest.swift`.
package enum ServerFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            ServerEnableRequest.self, owner: true, other: false, proof: .password,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet enable", logged: "signet enable --server"),
        RequestExpectation(ServerDisableRequest.self, owner: true, other: false, proof: .password),
        RequestExpectation(
            LoginAtServerRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet login"),
        RequestExpectation(
            ServerPasswordKeyRequest.self, owner: true, other: false, proof: .password,
            root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet enable", logged: "signet enable --server"),
        RequestExpectation(ServerListRequest.self, owner: true, other: false, proof: .none),
    ]

    package static let requests: [Request] = [
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8))),
        .serverDisable(account: account, server: ServerURL([1])),
        .serverLogin(account: account, server: ServerURL([1]), timeoutMilliseconds: .max),
        .serverLogin(
            account: account, server: ServerURL([1]), timeoutMilliseconds: 1, factor: .password),
        .serverPasswordKey(account: account, server: ServerURL([1])),
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8),
                factor: .password, deviceName: DeviceName([0x61]))),
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8),
                deviceName: DeviceName(Bytes(repeating: 0x61, count: DeviceName.longest)))),
        .serverList(account: account),
    ]

    package static let answers: [Answer] = [
        .serverEnabled(
            ServerEnabledAnswer(
                account: ServerAccountName([1]), application: ApplicationName([2]),
                fingerprint: [], progress: .active, hasPasswordKey: true)),
        .server(
            ServerAnswer(
                account: ServerAccountName([1]), since: 1, state: .good,
                server: ServerURL([2]), application: ApplicationName([3]), fingerprint: [],
                hasPasswordKey: true, deviceName: DeviceName([0x61]))),
        .serverEnabled(
            ServerEnabledAnswer(
                account: "a:b", application: ApplicationName([1]), fingerprint: [],
                progress: .pendingCommit)),
        .token(TokenAnswer(accessToken: [0x61], seconds: 300, refreshToken: [])),
        .server(
            ServerAnswer(
                account: ServerAccountName([1]), since: 2, state: .removing,
                server: ServerURL([3]),
                application: ApplicationName([4]),
                fingerprint: [5])),
    ]
}
