// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import LoginMessages
import Posix

/// `signet notify`: runs the program that shows notices of touches on a desktop.
struct NotifyCommand: Command {
    static let helpPosition = 140
    static let syntax = CommandSyntax(
        "notify", summary: "show a desktop notice for a touch that no terminal announces")

    let run: Invocation

    /// Replaces this process by the program that shows notices, so that this one needs no message
    /// bus.
    func perform() throws(CommandFault) {
        // It returns only on failure.
        _ = becomeProgram(run.environment.notifier)
        throw .fault(NotificationText.notInstalled(run.environment.notifier.bytes))
    }
}
