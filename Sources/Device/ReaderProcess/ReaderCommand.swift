// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import Posix

/// The command line of `signet-reader`.
package enum ReaderCommand {
    package static let syntax = ProgramSyntax(
        "signet-reader", summary: "drives the fingerprint readers for signetd",
        notes: [
            """
            systemd starts it when signetd connects to /run/signet/reader.sock; it exits after 30 \
            seconds without a request
            """
        ])
}

/// Hardens the process; call it before anything else.
///
/// Protects its memory from other processes (`hardenProcess`) and clears the environment, which
/// could influence libfprint, except for the variables that systemd passes.
package func enterReaderProcess() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"])
}
