// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// The command line of `signet-notify`, which `signet notify` runs.
package enum NotifierCommand {
    package static let syntax = ProgramSyntax(
        "signet-notify", summary: "shows a desktop notice for a touch that no terminal announces")
}
