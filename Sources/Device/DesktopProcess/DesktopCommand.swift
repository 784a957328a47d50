// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import Posix

/// The command line of `signet-fprint`.
package enum DesktopCommand {
    package static let syntax = ProgramSyntax(
        "signet-fprint", summary: "answers the programs of desktops on the system bus",
        notes: [
            """
            the message bus starts it when a program asks for net.reactivated.Fprint; it exits after \
            30 seconds without a client
            """
        ])
}

/// Hardens the process; call it before anything else.
///
/// Protects its memory from other processes (`hardenProcess`) and clears the environment, which
/// could influence GLib, except for the variables that systemd passes.
package func enterDesktopProcess() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: ["NOTIFY_SOCKET"])
}
