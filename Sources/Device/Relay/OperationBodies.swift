// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats

/// A new MAC token.
struct MACTokenGiven: Decodable {
    let token: String
    let secret: String
    let audience: String
    let expires: UInt64
}

/// An operation as it appears in a list.
struct AwaitedBody: Decodable {
    let operation: String
    let template: String
    let data: String
    let created: UInt64
    let expires: UInt64
}

/// The operations that await an account's decision.
struct AwaitedList: Decodable {
    let operations: [AwaitedBody]
}

/// An operation with all values that a decision contains.
struct OperationBody: Decodable {
    let operation: String
    let application: String
    let audience: String
    let account: String
    let template: String
    let data: String
    let challenge: String
    let status: String
    let failureCount: UInt32
    let maxFailureCount: UInt32
    let created: UInt64
    let expires: UInt64
}

/// The result of a decision.
struct DecidedBody: Decodable {
    let status: String
}

extension OperationState {
    /// Parses a status from docs/developer/SERVER.md; nil for any other word.
    fileprivate init?(word: String) {
        switch word {
        case "PENDING": self = .pending
        case "APPROVED": self = .approved
        case "REJECTED": self = .rejected
        case "CANCELED": self = .canceled
        case "EXPIRED": self = .expired
        case "FAILED": self = .failed
        default: return nil
        }
    }
}

extension RelayAnswer {
    static func macToken(from body: Bytes) -> RelayAnswer? {
        guard let given = value(MACTokenGiven.self, of: body),
            let token = MACTokenID(hexadecimal: Bytes(given.token.utf8)),
            let secret = bytes(base64: given.secret)
        else { return nil }
        return .macToken(
            RelayMACToken(
                audience: Audience(given.audience), expires: given.expires, token: token,
                secret: secret))
    }

    static func operations(from body: Bytes) -> [RelayAnswer]? {
        guard let list = value(AwaitedList.self, of: body),
            list.operations.count <= Limit.operations
        else { return nil }
        var answers: [RelayAnswer] = []
        for awaited in list.operations {
            guard let operation = OperationID(hexadecimal: Bytes(awaited.operation.utf8)) else {
                return nil
            }
            answers.append(
                .awaited(
                    RelayAwaited(
                        OperationContent(
                            operation: operation, template: Bytes(awaited.template.utf8),
                            data: Bytes(awaited.data.utf8), created: awaited.created,
                            expires: awaited.expires))))
        }
        return answers + [.listed(count: UInt32(answers.count))]
    }

    static func operation(from body: Bytes) -> RelayAnswer? {
        guard let told = value(OperationBody.self, of: body),
            let operation = OperationID(hexadecimal: Bytes(told.operation.utf8)),
            let challenge = Challenge(base64: told.challenge),
            let state = OperationState(word: told.status)
        else { return nil }
        return .operation(
            RelayOperation(
                account: ServerAccountName(told.account), challenge: challenge,
                application: ApplicationName(told.application),
                audience: Audience(told.audience),
                content: OperationContent(
                    operation: operation, template: Bytes(told.template.utf8),
                    data: Bytes(told.data.utf8), created: told.created, expires: told.expires),
                state: state,
                failures: OperationFailures(
                    count: told.failureCount, most: told.maxFailureCount)))
    }

    static func decided(from body: Bytes) -> RelayAnswer? {
        guard let decided = value(DecidedBody.self, of: body),
            let state = OperationState(word: decided.status)
        else { return nil }
        return .decided(state)
    }
}
