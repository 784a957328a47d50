// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// Messages of `signet operations`.
package enum CommandOperations {
    /// The forms of the command.
    package static let choose: Text =
        "operations takes list, show ID, approve ID, reject ID or watch"
    /// The argument is neither an id nor the start of one.
    package static func badID(_ typed: Bytes) -> Text {
        """
        \(typed) is not an operation's id: type 4 to 32 hexadecimal digits, as 'signet operations' \
        shows them
        """
    }
    /// Several ids start with this.
    package static func ambiguous(_ typed: Bytes) -> Text {
        "several operations begin with \(typed): type more of the id, or add '--server'"
    }
    /// No id starts with this.
    package static func unknown(_ typed: Bytes) -> Text {
        "no operation that awaits your decision begins with \(typed)"
    }

    /// No operation waits for the user.
    package static let none: Text = "no operation awaits your decision"
    /// The heading above the operations.
    package static let heading: [Text] = ["id", "server", "template", "expires", "text"]
    /// How to continue, after the operations.
    package static let next: Text =
        "to read one in full and decide: 'signet operations show ID', 'approve ID', 'reject ID'"
    /// Why one of the servers did not answer.
    package static func trouble(_ server: ServerURL, why: Text) -> Text {
        "\(server): \(why)"
    }
    /// The command is watching for operations.
    package static let watching: Text =
        "new operations are shown as they arrive. Press Ctrl-C to stop"

    /// The first column of an operation: who asks.
    package static let labels: [Text] = [
        "id", "server", "application", "account", "template", "created", "expires", "state",
        "wrong signatures",
    ]
    /// The heading above the text.
    package static let text: Text = "this is the text that is signed:"
    /// The remaining time, after a time of day; rounded down, in a unit that makes it at least two.
    package static func left(_ seconds: UInt64) -> Text {
        switch seconds {
        case ..<120: "in \(number: seconds) s"
        case ..<7_200: "in \(number: seconds / 60) min"
        case ..<172_800: "in \(number: seconds / 3_600) h"
        default: "in \(number: seconds / 86_400) days"
        }
    }
    /// A number out of a total.
    package static func failures(_ failures: OperationFailures) -> Text {
        "\(number: failures.count) of \(number: failures.most)"
    }
    /// The state of an operation.
    package static func state(_ state: OperationState) -> Text {
        switch state {
        case .pending: "pending"
        case .approved: "approved"
        case .rejected: "rejected"
        case .canceled: "withdrawn"
        case .expired: "expired"
        case .failed: "failed: too many wrong signatures"
        }
    }

    /// What the touch is for: to list operations.
    /// `action` is as in `Prompt.action`.
    package static func reading(_ action: Text) -> Text {
        "\(action) to allow operations to be listed for the next 30 days"
    }
    /// What the touch is for: to decide an operation.
    package static func touch(
        _ action: Text, choice: OperationChoice, id: Bytes, server: ServerURL
    ) -> Text {
        switch choice {
        case .approve:
            "\(action) to approve operation \(id) of \(server), or press Ctrl-C to stop"
        case .reject:
            "\(action) to reject operation \(id) of \(server), or press Ctrl-C to stop"
        }
    }
    /// The operation's text could not be shown.
    package static let unshown: Text =
        "the operation could not be written completely to standard output, and was not decided"
    /// The operation was decided.
    package static func decided(_ state: OperationState, id: Bytes, server: ServerURL) -> Text {
        switch state {
        case .approved: "operation \(id) of \(server) is approved"
        case .rejected: "operation \(id) of \(server) is rejected"
        case .pending, .canceled, .expired, .failed:
            "operation \(id) of \(server): \(CommandOperations.state(state))"
        }
    }
}
