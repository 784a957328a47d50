// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol

// The texts of denials about MAC tokens, operations and sessions at servers; see
// `Denial.text(account:)`.
extension Denial {
    /// There is no MAC token of this name.
    var unknownMACTokenText: Text {
        """
        there is no valid MAC token \(serverSubject). Run 'signet mac-token list' to list the \
        tokens
        """
    }

    /// The token with which operations are read has expired.
    var readingTokenText: Text {
        """
        reading operations at \(serverSubject) needs a touch once every 30 days. Run 'signet \
        operations'
        """
    }

    /// The server does not know the operation.
    var unknownOperationText: Text {
        "there is no such operation for this account and device at \(serverSubject)"
    }

    /// The account has no such session.
    var unknownSessionText: Text {
        "there is no session \(subject ?? []) of this account. See 'signet sessions'"
    }

    /// The session has already ended.
    var sessionOverText: Text {
        "the session \(subject ?? []) has already ended: there is nothing left to do"
    }

    /// The server is too old for sessions.
    var sessionsUnknownText: Text {
        """
        \(serverSubject) cannot list or end sessions, because its software is older than this \
        device's. Ask its administrator to end them
        """
    }

    /// The operation cannot be decided any more.
    var operationOverText: Text {
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
