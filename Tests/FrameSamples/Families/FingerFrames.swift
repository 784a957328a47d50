// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Fingers/FingerRequests.swift`.
package enum FingerFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            VerifyRequest.self, owner: true, other: false, proof: .none,
            touch: ExpectedTouch([.presence, .prints, .reader, .lid], releases: []),
            command: "signet verify"),
        RequestExpectation(
            EnrollRequest.self, owner: true, other: false, proof: .password,
            touch: ExpectedTouch([.presence], releases: []), command: "signet enroll"),
        RequestExpectation(DeleteRequest.self, owner: true, other: false, proof: .password),
        RequestExpectation(ListRequest.self, owner: true, other: false, proof: .none),
    ]

    package static let requests: [Request] = [
        .verify(account: account, timeoutMilliseconds: 1),
        .enroll(account: account, finger: .rightIndex, readerID: nil),
        .enroll(account: account, finger: nil, readerID: nil),
        .enroll(account: account, finger: .leftLittle, readerID: Bytes("usb-1".utf8)),
        .delete(account: account, finger: nil),
        .delete(account: account, finger: .leftThumb),
        .list(account: account),
        .verify(account: account, timeoutMilliseconds: 1, reason: [0x78]),
    ]

    package static let answers: [Answer] = [
        .print(
            PrintAnswer(
                finger: .leftIndex, printID: .sample(0..<16), readerID: [1], since: 3,
                intact: true, state: .lost)),
        .print(
            PrintAnswer(
                finger: .rightIndex, printID: .sample(0..<16), readerID: [1], since: 3,
                intact: true)),
        .print(
            PrintAnswer(
                finger: nil, printID: .sample(0..<16), readerID: [], since: nil, intact: false)),
        .of(ChangeEffectAnswer("signingKey")),
        .of(ChangeEffectAnswer("server", subject: [1], name: [2])),
        .of(ChangeEffectAnswer("sshKey", count: 3, stays: true)),
        .of(ChangeForecastAnswer()),
        .of(
            ChangeForecastAnswer(
                finger: .leftIndex, move: ReaderMove(old: [1], new: [2]))),
    ]
}
