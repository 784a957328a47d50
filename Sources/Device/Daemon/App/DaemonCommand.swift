// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing

/// What the command line of `signetd` asks for.
package enum DaemonCommand: Equatable {
    /// Run the daemon. With `foreground`, log entries go to standard error if there is no journal.
    case serve(foreground: Bool)
    /// Print the version.
    case version
    /// Print `usage`.
    case help
    /// Reject this argument, which is not known.
    case unknown(String)

    /// Parses the arguments that follow the program name.
    ///
    /// `--version`, `--help` and unknown arguments win over anything that comes after them.
    package init(_ arguments: [String]) {
        self = .serve(foreground: false)
        for argument in arguments {
            switch argument {
            case "--foreground": self = .serve(foreground: true)
            case "--version":
                self = .version
                return
            case "--help", "-h":
                self = .help
                return
            default:
                self = .unknown(argument)
                return
            }
        }
    }

    /// The text that `--help` prints.
    package static let usage = """
        usage: signetd [--foreground] [--version] [--help]

        Owns the fingerprint readers and the keys. systemd starts it when somebody asks at
        /run/signet/signetd.sock; by hand it makes the socket itself.

          --foreground  write to standard error what the journal would get, where there is none
        """
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
