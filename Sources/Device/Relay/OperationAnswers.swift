// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import ServerAPI
import SignedFormats

// How the server's answers about MAC tokens and operations become frames.

extension OperationState {
    fileprivate init(_ status: OperationStatus) {
        self =
            switch status {
            case .pending: .pending
            case .approved: .approved
            case .rejected: .rejected
            case .canceled: .canceled
            case .expired: .expired
            case .failed: .failed
            }
    }
}

extension RelayAnswer {
    static func macToken(from body: Bytes) -> RelayAnswer? {
        guard let given = value(IssuedMACToken.self, of: body),
            let expires = UInt64(exactly: given.expires)
        else { return nil }
        return .macToken(
            RelayMACToken(
                audience: Audience(given.audience), expires: expires, token: given.token,
                secret: given.secret.bytes))
    }

    static func operations(from body: Bytes) -> [RelayAnswer]? {
        guard let list = value(PendingOperations.self, of: body),
            list.operations.count <= Limit.operations
        else { return nil }
        var answers: [RelayAnswer] = []
        for pending in list.operations {
            guard
                let content = OperationContent(
                    pending.operation, template: pending.template, data: pending.data,
                    created: pending.created, expires: pending.expires)
            else { return nil }
            answers.append(.awaited(RelayAwaited(content)))
        }
        return answers + [.listed(count: UInt32(answers.count))]
    }

    static func operation(from body: Bytes) -> RelayAnswer? {
        guard let told = value(OperationDetail.self, of: body),
            let content = OperationContent(
                told.operation, template: told.template, data: told.data, created: told.created,
                expires: told.expires),
            let count = UInt32(exactly: told.failureCount),
            let most = UInt32(exactly: told.maxFailureCount)
        else { return nil }
        return .operation(
            RelayOperation(
                account: ServerAccountName(told.account), challenge: told.challenge,
                application: ApplicationName(told.application), audience: Audience(told.audience),
                content: content, state: OperationState(told.status),
                failures: OperationFailures(count: count, most: most),
                factors: told.factors.map { OperationFactors($0) },
                missing: told.missing.map { ConfirmingFactor($0) }))
    }

    static func decided(from body: Bytes) -> RelayAnswer? {
        value(DecisionAnswer.self, of: body).map { .decided(OperationState($0.status)) }
    }
}

extension OperationFactors {
    fileprivate init(_ factors: AcceptedFactors) {
        self =
            switch factors {
            case .fingerprint: .fingerprint
            case .password: .password
            case .either: .either
            case .both: .both
            }
    }
}

extension ConfirmingFactor {
    fileprivate init(_ factor: KeyFactor) {
        self =
            switch factor {
            case .fingerprint: .finger
            case .password: .password
            }
    }
}

extension OperationContent {
    /// Returns nil if a time is before 1970.
    fileprivate init?(
        _ operation: OperationID, template: String, data: String, created: Int64, expires: Int64
    ) {
        guard let created = UInt64(exactly: created), let expires = UInt64(exactly: expires) else {
            return nil
        }
        self.init(
            operation: operation, template: Bytes(template.utf8), data: Bytes(data.utf8),
            created: created, expires: expires)
    }
}
