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
            """
            there is no MAC token \(about) that is good now. Run 'signet mac-token list' to see which \
            there are
            """
        case .tooManyMacTokens:
            "no more MAC tokens fit. Run 'signet mac-token remove' for one"
        case .readingTokenWanted:
            """
            a touch is wanted to read operations at \(about): once in 30 days. Run \
            'signet operations'
            """
        case .unknownOperation:
            "there is no such operation for this account and device at \(about)"
        default: overText
        }
    }

    private var overText: Text {
        let state = OperationState.allCases.first { Bytes($0.protocolName.utf8) == subject }
        return switch state {
        case .approved: "the operation was approved already: there is nothing left to decide"
        case .rejected: "the operation was rejected already: there is nothing left to decide"
        case .canceled: "the application took the operation back: there is nothing left to decide"
        case .expired: "the operation was not decided in time, and is over"
        case .failed: "the operation is over, after too many wrong signatures"
        case .pending, nil: "the operation cannot be decided now"
        }
    }
}
