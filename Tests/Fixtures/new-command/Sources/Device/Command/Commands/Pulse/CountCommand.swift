// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages

/// `signet count`: counts the account's fingers, with a request that exists already.
struct CountCommand: Command {
    static let helpPosition = 35
    static let syntax = CommandSyntax(
        "count", summary: "count the fingers of an account", options: [.account, .json])

    let run: Invocation

    func perform() throws(CommandFault) {
        let prints: [PrintAnswer] = try run.collect(.list(account: try run.account())) { answer in
            if case .print(let print) = answer { print } else { nil }
        }
        run.say(
            .document("count", members: [("fingers", .number(UInt64(prints.count)))]),
            [CountResultMessages.fingers(UInt64(prints.count))])
    }
}

/// What `signet count` shows.
enum CountResultMessages {
    /// The number of fingers, which may be 0.
    static func fingers(_ count: UInt64) -> Text { "fingers: \(number: count)" }
}
