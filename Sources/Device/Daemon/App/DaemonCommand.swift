// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import Posix
import Sealing

/// The command line of `signetd`.
package enum DaemonCommand {
    /// Log entries go to standard error if there is no journal.
    package static let foreground = OptionSyntax(
        "foreground", summary: "write journal messages to standard error if there is no journal")

    package static let syntax = ProgramSyntax(
        "signetd", summary: "owns the keys that a touch opens, and decides when one opens them",
        options: [foreground],
        notes: [
            """
            systemd starts it when a program connects to /run/signet/signetd.sock; started by hand, \
            it creates the socket itself
            """
        ])
}

/// Prepares the process before it reads any input.
///
/// Clears the environment except for the variables that systemd sets, so that it cannot influence
/// the daemon or its libraries, and protects its memory from debuggers and core dumps. Call this
/// while the process has a single thread.
package func enterDaemon() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY",
    ])
    // Changes the environment, so it must run while there is only one thread.
    try TPMVault.keepLibraryQuiet()
}
