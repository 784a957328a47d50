// SPDX-License-Identifier: Apache-2.0
import Posix

/// What `signet-reader` is started with.
package enum ReaderCommand: Equatable {
    case serve
    case version
    case help
    /// An argument that is not known.
    case unknown(String)

    /// Reads the arguments after the program's name.
    package init(_ arguments: [String]) {
        switch arguments.first {
        case nil: self = .serve
        case "--version": self = .version
        case "--help", "-h": self = .help
        case let argument?: self = .unknown(argument)
        }
    }

    /// What `--help` shows.
    package static let usage = """
        usage: signet-reader [--version] [--help]

        Drives the fingerprint readers for signetd, and does nothing else. systemd starts it when
        signetd asks at /run/signet/reader.sock; it ends when nothing has been asked for 30 s.
        """
}

/// What the process does before it looks at anything: nothing in the environment may steer it or
/// libfprint, and its memory is nobody's to read.
package func enterReaderProcess() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"])
}
