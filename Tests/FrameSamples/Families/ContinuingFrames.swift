// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/ContinuingRequests.swift`.
package enum ContinuingFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            PasswordRequest.self, owner: true, other: true, proof: .none, begins: false,
            isAboutAccount: false),
        RequestExpectation(
            CancelRequest.self, owner: true, other: true, proof: .none, begins: false,
            isAboutAccount: false),
        RequestExpectation(
            ShownRequest.self, owner: true, other: true, proof: .none, begins: false,
            isAboutAccount: false),
    ]

    package static let requests: [Request] = [
        .password([]),
        .password(Bytes(repeating: 0, count: Limit.password)),
        .cancel,
        .shown,
    ]

    package static let answers: [Answer] =
        [
            .notice(Notice(.touch)),
            .notice(
                Notice(
                    .stage, scan: .swipe, retry: .tooShort, done: 1, total: 2, triesLeft: 3,
                    subject: Bytes("reader".utf8), requester: "bob",
                    wantsAcknowledgement: true)),
            .denial(
                Denial(
                    .invalidated, cause: .hostSecretChanged, seconds: 1, since: 2,
                    subject: [], finger: .rightLittle, mismatches: 255)),
            .passwordWanted(account: account),
            .done(DoneAnswer()),
            .done(DoneAnswer(finger: .leftRing, prints: 3, state: .valid)),
            .done(DoneAnswer(state: .valid, keyring: .on)),
            .done(
                DoneAnswer(
                    finger: .leftRing, prints: 3, state: .valid, secrets: .max,
                    sshKeysKept: 2, sshKeysEnded: .max, keptOut: Bytes("login.groups".utf8),
                    printsLeft: 10)),
        ] + DenialReason.allCases.map { .denial(Denial($0)) }
        + NoticeKind.allCases.map { .notice(Notice($0)) }
}
