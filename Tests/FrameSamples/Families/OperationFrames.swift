// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Servers/Operation.swift`.
package enum OperationFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            OperationListRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet operations", logging: .denials),
        RequestExpectation(
            OperationShowRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet operations"),
        RequestExpectation(
            OperationDecideRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet operations"),
    ]

    package static let requests: [Request] = [
        .operationList(OperationListRequest(account: account, timeoutMilliseconds: nil)),
        .operationList(
            OperationListRequest(account: account, timeoutMilliseconds: 1, server: ServerURL([1]))),
        .operationList(
            OperationListRequest(account: account, timeoutMilliseconds: 1, factor: .password)),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16), factor: .password)),
        .operationDecide(
            OperationDecideRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16), decision: .approve, factor: .password)),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: nil, server: ServerURL([1]),
                operation: .sample(0..<16))
        ),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16))),
        .operationDecide(
            OperationDecideRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16),
                decision: .reject)),
    ]

    package static let answers: [Answer] = [
        .operation(
            OperationAnswer(
                account: ServerAccountName([1]), server: ServerURL([2]),
                application: ApplicationName([3]),
                content: operation,
                state: .pending)),
        .operation(
            OperationAnswer(
                account: ServerAccountName([1]), server: ServerURL([2]),
                application: ApplicationName([3]),
                content: longOperation,
                state: .failed, failures: OperationFailures(count: 1, most: .max))),
        .operation(
            OperationAnswer(
                account: ServerAccountName([1]), server: ServerURL([2]),
                application: ApplicationName([3]), content: operation, state: .pending,
                failures: OperationFailures(count: 0, most: 3), factors: .both,
                missing: .finger)),
        .serverTrouble(
            ServerTroubleAnswer(server: ServerURL([1]), reason: .serverUnreachable, subject: [])
        ),
        .decided(.approved),
        .decided(.canceled),
    ]

    package static let operation = OperationContent(
        operation: .sample(0..<16), template: [], data: [], created: 0, expires: 1)

    package static let longOperation = OperationContent(
        operation: .sample(0..<16), template: Bytes(repeating: 7, count: Limit.template),
        data: Bytes(repeating: 7, count: Limit.operationData), created: .max, expires: .max)
}
