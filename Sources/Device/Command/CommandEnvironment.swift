// SPDX-License-Identifier: Apache-2.0
import Doctor
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import Synchronization

/// Everything through which the command interacts with the outside.
///
/// The installed program uses the defaults. No option and no environment variable changes any of
/// them, except the language.
package struct CommandEnvironment: Sendable {
    /// The path of the daemon's socket.
    package var socketPath = "/run/signet/signetd.sock"
    /// The uid that the daemon must have.
    package var daemonUID: UInt32 = 0
    /// The effective uid of the caller.
    package var uid = effectiveUID()
    /// The daemon's configuration file; its drop-ins are beside it.
    package var configurationFile = "/etc/signet/signet.conf"
    /// The machine that `doctor` examines and whose PAM services `status` reads.
    package var machine = Machine()
    /// The terminal at which a password is typed.
    package var terminal = "/dev/tty"
    /// The descriptor that `--password-stdin` and `secret set` read.
    package var input: Int32 = 0
    /// Writes results to standard output; returns false on failure.
    package var output: @Sendable (Bytes) -> Bool = { writeAll($0, to: 1) }
    /// Writes a released secret to standard output; returns false on failure.
    package var release: @Sendable (Bytes) -> Bool = { writeAll($0, to: 1) }
    /// Writes messages to standard error.
    package var errors: @Sendable (Bytes) -> Void = { writeAll($0, to: 2) }
    /// Whether standard error is a terminal, which echoes Ctrl-C as '^C'.
    package var isAtTerminal: @Sendable () -> Bool = { isTerminal(2) }
    /// The width of the terminal that is standard output, in columns; nil if it is not a terminal.
    package var columns: @Sendable () -> Int? = { terminalColumns(1) }
    /// The machine's name; empty if it has none.
    package var machineName: @Sendable () -> Bytes = { hostName() }
    /// When an account's home directory was created, in seconds since 1970; nil if unknown.
    package var homeBirth: @Sendable (AccountName) -> Int64? = { name in
        let account = try? Account.named(String(decoding: name.bytes, as: UTF8.self))
        return account.flatMap { FileLook.birth(of: $0.home) }
    }
    /// The program that shows notices on a desktop, from this installation.
    package var notifier = programDirectory() + "/../libexec/signet/signet-notify"
    /// Where OpenSSH's provider may be installed.
    package var sshProviders = [
        "/usr/lib/x86_64-linux-gnu/signet/libsk-signet.so",
        "/usr/lib/aarch64-linux-gnu/signet/libsk-signet.so", "/usr/lib64/signet/libsk-signet.so",
    ]
    /// OpenSSH's program that makes keys.
    package var sshKeygen = "/usr/bin/ssh-keygen"
    /// Whether there is something at a path, or that cannot be determined.
    package var isThere: @Sendable (String) -> Bool = { !FileLook.isMissing($0) }
    /// Runs a program at the terminal; returns its exit status, or nil if a signal ended it.
    package var runProgram: @Sendable (String, [String]) throws(SystemFault) -> Int32? = {
        (path, arguments) throws(SystemFault) in
        try runForegroundProgram(path, arguments: arguments)
    }
    /// A descriptor that becomes readable when a signal asks the program to end; -1 for none.
    package var interrupts: Int32 = -1
    /// The pause of `operations watch` between two requests while servers are reachable.
    package var watchInterval = Duration.seconds(10)
    /// The time limit for the daemon's first answer, and between two answers.
    package var answerLimit = Duration.seconds(120)

    /// The translations for the user's language; nil for English.
    package var catalogue: Catalogue?

    /// Whether any output was lost; shared by all copies of this value.
    private let loss = Loss()

    /// Creates the environment of the installed program, which tests then modify.
    package init() {}
}

extension CommandEnvironment {
    /// Prints a line.
    func say(_ text: Text) { put(rendering(text) + [10]) }
    /// Prints a JSON document.
    func say(_ document: JSON) { put(document.text + [10]) }
    /// Writes bytes to standard output.
    func put(_ bytes: Bytes) {
        if !output(bytes) { loss.hasHappened.store(true, ordering: .relaxed) }
    }
    /// Whether some output could not be written.
    var hasLostOutput: Bool { loss.hasHappened.load(ordering: .relaxed) }
    /// Prints a line on standard error.
    func complain(_ text: Text) {
        loss.isTold.store(true, ordering: .relaxed)
        errors(rendering(text) + [10])
    }
    /// Whether output was lost and nothing was printed on standard error.
    var hasUntoldLoss: Bool { hasLostOutput && !loss.isTold.load(ordering: .relaxed) }
    /// Translates a text into the user's language.
    func rendering(_ text: Text) -> Bytes {
        text.rendered { catalogue?.translation(of: $0) }
    }
}

/// Records that output was lost.
private final class Loss: Sendable {
    let hasHappened = Atomic(false)
    /// Whether anything was printed on standard error, about the loss or otherwise.
    let isTold = Atomic(false)
}
