// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Servers/MACToken.swift`.
package enum MACTokenFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            MACTokenAddRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet mac-token", logged: "signet mac-token add"),
        RequestExpectation(MACTokenListRequest.self, owner: true, other: false, proof: .none),
        RequestExpectation(
            MACTokenRemoveRequest.self, owner: true, other: false, proof: .none, readsPrints: false),
        RequestExpectation(
            MACTokenHeaderRequest.self, owner: true, other: false, proof: .none, root: false),
    ]

    package static let requests: [Request] = [
        .macTokenAdd(
            MACTokenAddRequest(
                account: account, timeoutMilliseconds: .max, server: ServerURL([1]),
                name: Bytes(repeating: 7, count: Limit.tokenName))),
        .macTokenList(account: account),
        .macTokenRemove(account: account, server: ServerURL([1]), name: [2]),
        .macTokenHeader(
            MACTokenHeaderRequest(
                account: account, server: ServerURL([1]), name: [2], method: Bytes("GET".utf8),
                resource: Bytes(repeating: 7, count: Limit.resource), bodyDigest: thirtyTwo)),
    ]

    package static let answers: [Answer] = [
        .macToken(
            MACTokenAnswer(
                since: .max, server: ServerURL([1]), expires: 2, name: [3],
                token: .sample(0..<16))),
        .authorization(Bytes("SignetMAC token=".utf8)),
    ]
}
