// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// What `signet operations` says.
package enum CommandOperations {
    /// What it takes.
    package static let choose: Text =
        "operations takes list, show ID, approve ID, reject ID or watch"
    /// No id, and no beginning of one.
    package static func badID(_ typed: Bytes) -> Text {
        """
        \(typed) is not an operation's id: type 4 to 32 hexadecimal digits, as 'signet operations' \
        shows them
        """
    }
    /// Several operations begin so.
    package static func ambiguous(_ typed: Bytes) -> Text {
        "several operations begin with \(typed): type more of the id, or add '--server'"
    }
    /// None begins so.
    package static func unknown(_ typed: Bytes) -> Text {
        "no operation that awaits your decision begins with \(typed)"
    }

    /// Nothing awaits the person.
    package static let none: Text = "no operation awaits your decision"
    /// Above the operations.
    package static let heading: [Text] = ["id", "server", "template", "expires", "text"]
    /// How to go on, below them.
    package static let next: Text =
        "to read one in full and decide: 'signet operations show ID', 'approve ID', 'reject ID'"
    /// Why one of the servers has told nothing.
    package static func trouble(_ server: ServerURL, why: Text) -> Text {
        "\(server): \(why)"
    }
    /// It is being watched.
    package static let watching: Text =
        "new operations are shown as they arrive. Press Ctrl-C to stop"

    /// The first column of one operation: who asks.
    package static let labels: [Text] = [
        "id", "server", "application", "account", "template", "created", "expires", "state",
        "wrong signatures",
    ]
    /// Above the text.
    package static let text: Text = "this is the text that is signed:"
    /// How long until then, behind a moment; rounded down, in a unit that makes it at least two.
    package static func left(_ seconds: UInt64) -> Text {
        switch seconds {
        case ..<120: "in \(number: seconds) s"
        case ..<7_200: "in \(number: seconds / 60) min"
        case ..<172_800: "in \(number: seconds / 3_600) h"
        default: "in \(number: seconds / 86_400) days"
        }
    }
    /// So many of so many.
    package static func failures(_ failures: OperationFailures) -> Text {
        "\(number: failures.count) of \(number: failures.most)"
    }
    /// How it stands.
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

    /// What the touch is for: to read.
    /// `action` as `Prompt.action` has it.
    package static func reading(_ action: Text) -> Text {
        "\(action) to allow operations to be listed for the next 30 days"
    }
    /// What the touch is for.
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
    /// Its text did not get out.
    package static let unshown: Text =
        "the operation could not be written completely to standard output, and was not decided"
    /// It is decided.
    package static func decided(_ state: OperationState, id: Bytes, server: ServerURL) -> Text {
        switch state {
        case .approved: "operation \(id) of \(server) is approved"
        case .rejected: "operation \(id) of \(server) is rejected"
        case .pending, .canceled, .expired, .failed:
            "operation \(id) of \(server): \(CommandOperations.state(state))"
        }
    }
}
