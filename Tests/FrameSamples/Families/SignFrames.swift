// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Servers/SignRequest.swift`.
package enum SignFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SignRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet sign"),
        RequestExpectation(
            SigningEnableRequest.self, owner: true, other: false, proof: .password,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet enable", logged: "signet enable --signing"),
        RequestExpectation(
            SigningDisableRequest.self, owner: true, other: false, proof: .password,
            readsPrints: false),
        RequestExpectation(SigningKeyRequest.self, owner: true, other: false, proof: .none),
    ]

    package static let requests: [Request] = [
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1, matter: .file(name: [], digest: thirtyTwo)
            )),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .files([
                    FileDigest(name: [], digest: thirtyTwo),
                    FileDigest(name: Bytes("a.pdf".utf8), digest: thirtyTwo),
                ]))),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .files(
                    [FileDigest](
                        repeating: FileDigest(
                            name: Bytes(repeating: 7, count: Limit.listedNames / Limit.files),
                            digest: thirtyTwo), count: Limit.files)))),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: .max,
                matter: .challenge(
                    audience: Audience([1]), text: Bytes(repeating: 7, count: Limit.challengeText)))
        ),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .request(
                    server: ServerURL([1]), method: Bytes("GET".utf8), resource: Bytes("/".utf8),
                    body: thirtyTwo))),
        .signingEnable(account: account),
        .signingDisable(account: account),
        .signingKey(account: account),
    ]

    package static let answers: [Answer] = [
        .signed(SignedAnswer(signature: [1])),
        .of(SignedFileAnswer(digest: thirtyTwo, signature: [1])),
        .signed(SignedAnswer(statement: [1], signature: [2])),
        .signingKey(
            SigningKeyAnswer(
                since: .max, state: .invalidated, vault: [1], credential: .sample(0..<16),
                publicKey: .sample(repeating: 4))),
    ]
}
