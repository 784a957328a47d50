// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Posix

/// `signet notify`
struct NotifyCommand: Command {
    static let description = CommandDescription(
        "notify", CommandHelp.notify, writesJSON: false)

    let run: Invocation

    /// `signet notify`: becomes the program that shows notices, so that this one needs no bus.
    func perform() throws(CommandFault) {
        // Returns only where it fails.
        _ = becomeProgram(run.surroundings.notifier)
        throw .fault(NotificationText.notInstalled(run.surroundings.notifier.bytes))
    }
}
