// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol

extension Denial {
    /// The texts about MAC tokens and operations.
    var operationText: Text {
        let told = subject ?? []
        let about = told.isEmpty ? CommandTable.unknown : Text(escaping: told)
        return switch reason {
        case .unknownMacToken:
            "there is no valid MAC token \(about). Run 'signet mac-token list' to list the tokens"
        case .tooManyMacTokens:
            "too many MAC tokens are stored. Remove one with 'signet mac-token remove NAME'"
        case .readingTokenWanted:
            """
            reading operations at \(about) needs a touch once every 30 days. Run 'signet \
            operations'
            """
        case .unknownOperation:
            "there is no such operation for this account and device at \(about)"
        default: overText
        }
    }

    private var overText: Text {
        let state = OperationState.allCases.first { Bytes($0.protocolName.utf8) == subject }
        return switch state {
        case .approved: "the operation has already been approved: there is nothing left to decide"
        case .rejected: "the operation has already been rejected: there is nothing left to decide"
        case .canceled:
            """
            the application has withdrawn the operation: there is nothing left to decide
            """
        case .expired: "the operation was not decided in time and has expired"
        case .failed: "the operation has ended after too many wrong signatures"
        case .pending, nil: "the operation cannot be decided now"
        }
    }
}
