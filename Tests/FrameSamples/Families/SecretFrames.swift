// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Secrets/SecretRequests.swift`.
package enum SecretFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SecretPartRequest.self, owner: true, other: true, proof: .none, begins: false,
            isAboutAccount: false),
        RequestExpectation(SecretSetRequest.self, owner: true, other: false, proof: .none),
        RequestExpectation(
            SecretGetRequest.self, owner: true, other: false, proof: .none,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .secret]),
            command: "signet secret get"),
        RequestExpectation(SecretListRequest.self, owner: true, other: false, proof: .none),
        RequestExpectation(
            SecretDeleteRequest.self, owner: true, other: false, proof: .none, readsPrints: false),
    ]

    package static let requests: [Request] = [
        .secretSet(
            SecretSetRequest(
                account: account, size: .max, name: Bytes("mail".utf8), replaces: false)),
        .secretSet(
            SecretSetRequest(
                account: account, size: 0, name: Bytes(repeating: 1, count: Limit.secretName),
                replaces: true)),
        .secretPart([]),
        .secretPart(Bytes(repeating: 7, count: Limit.secretPart)),
        .secretGet(account: account, name: [0x20], timeoutMilliseconds: .max),
        .secretList(account: account),
        .secretDelete(account: account, name: [0xFF]),
    ]

    package static let answers: [Answer] = [
        .secretPart([]),
        .secretPart(Bytes(repeating: 7, count: Limit.secretPart)),
        .secret(
            SecretAnswer(name: [1], size: .max, since: 3, vault: [4], state: .fits)),
        .secret(SecretAnswer(name: [1], size: 0, since: 0, vault: [], state: .stale)),
        .secret(SecretAnswer(name: [1], size: 0, since: 0, vault: [], state: .damaged)),
        .secretWanted,
    ]
}
