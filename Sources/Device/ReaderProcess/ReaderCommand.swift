// SPDX-License-Identifier: Apache-2.0
import Posix

/// The command line of `signet-reader`.
package enum ReaderCommand: Equatable {
    case serve
    case version
    case help
    /// An unknown argument.
    case unknown(String)

    /// Parses the arguments after the program's name. Only the first one counts.
    package init(_ arguments: [String]) {
        switch arguments.first {
        case nil: self = .serve
        case "--version": self = .version
        case "--help", "-h": self = .help
        case let argument?: self = .unknown(argument)
        }
    }

    /// The text of `--help`.
    package static let usage = """
        usage: signet-reader [--version] [--help]

        Drives the fingerprint readers for signetd, and does nothing else. systemd starts it when
        signetd asks at /run/signet/reader.sock; it ends when nothing has been asked for 30 s.
        """
}

/// Hardens the process; call it before anything else.
///
/// Protects its memory from other processes (`hardenProcess`) and clears the environment, which
/// could influence libfprint, except for what systemd passes.
package func enterReaderProcess() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"])
}
