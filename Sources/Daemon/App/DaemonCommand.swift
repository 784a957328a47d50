// SPDX-License-Identifier: Apache-2.0
import Posix
import Vault

/// What `signetd` is started with.
package enum DaemonCommand: Equatable {
    /// Serve; in the foreground, entries go to standard error where there is no journal.
    case serve(foreground: Bool)
    case version
    case help
    /// An argument that is not known.
    case unknown(String)

    /// Reads the arguments after the program's name.
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

    /// What `--help` shows.
    package static let usage = """
        usage: signetd [--foreground] [--version] [--help]

        Owns the fingerprint readers and the keys. systemd starts it when somebody asks at
        /run/signet/signetd.sock; by hand it makes the socket itself.

          --foreground  write to standard error what the journal would get, where there is none
        """
}

/// What the daemon does before it looks at anything: nothing in the environment may steer it or
/// the libraries it uses, and its memory is nobody's to read.
package func enterDaemon() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY",
    ])
    // Here, while there is one thread.
    try TPMVault.keepLibraryQuiet()
}
