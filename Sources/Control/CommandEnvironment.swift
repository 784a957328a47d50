// SPDX-License-Identifier: Apache-2.0
import Doctor
import LoginMessages
import LoginProtocol
import Posix
import Synchronization

/// All that the command meets outside itself. What is installed uses the defaults: no option and
/// no variable of the environment changes any of them but the language.
package struct CommandEnvironment: Sendable {
    /// Where the daemon listens.
    package var socketPath = "/run/signet/signetd.sock"
    /// Whose the other end must be.
    package var daemonUID: UInt32 = 0
    /// The caller, as the daemon sees it.
    package var uid = effectiveUID()
    /// The daemon's configuration; its drop-ins lie beside it.
    package var configurationFile = "/etc/signet/signet.conf"
    /// What the doctor looks at, and `status` for the PAM services.
    package var machine = Machine()
    /// The terminal that a password is typed at.
    package var terminal = "/dev/tty"
    /// Where `--password-stdin` and `secret set` read.
    package var input: Int32 = 0
    /// Takes what was asked for; standard output. False where that fails.
    package var output: @Sendable (Bytes) -> Bool = { writeAll($0, to: 1) }
    /// Takes a secret that was released; standard output. False where that fails.
    package var release: @Sendable (Bytes) -> Bool = { writeAll($0, to: 1) }
    /// Takes what went wrong; standard error.
    package var errors: @Sendable (Bytes) -> Void = { writeAll($0, to: 2) }
    /// Whether standard error is a terminal, which shows '^C' where that is typed.
    package var isAtTerminal: @Sendable () -> Bool = { isTerminal(2) }
    /// The columns of the terminal that output goes to; nil if it goes elsewhere.
    package var columns: @Sendable () -> Int? = { terminalColumns(1) }
    /// When an account's home directory was made, in seconds since 1970; nil where that is not known.
    package var homeBirth: @Sendable (Bytes) -> Int64? = { name in
        let account = try? Account.named(String(decoding: name, as: UTF8.self))
        return account.flatMap { FileLook.birth(of: $0.home) }
    }
    /// The program that shows notices on a desktop, which belongs to this one.
    package var notifier = programDirectory() + "/../libexec/signet/signet-notify"
    /// Becomes readable when a signal asks the program to end; -1 if none can.
    package var interrupts: Int32 = -1
    /// How long `operations watch` waits before it asks again, while servers answer.
    package var watchInterval = Duration.seconds(10)
    /// How long the daemon may take for its first answer, and for one after another.
    package var answerLimit = Duration.seconds(5)

    /// The texts in the person's language; English without.
    package var catalogue: Catalogue?

    /// Whether anything that was to be shown got lost, in any copy of these.
    private let loss = Loss()

    /// The machine itself; a test then changes what it must.
    package init() {}
}

extension CommandEnvironment {
    /// Says a line.
    func say(_ text: Text) { put(rendering(text) + [10]) }
    /// Says a JSON document.
    func say(_ document: JSON) { put(document.text + [10]) }
    /// Gives bytes to standard output.
    func put(_ bytes: Bytes) {
        if !output(bytes) { loss.hasHappened.store(true, ordering: .relaxed) }
    }
    /// Whether something that was to be shown could not be.
    var hasLostOutput: Bool { loss.hasHappened.load(ordering: .relaxed) }
    /// Says a line about what went wrong.
    func complain(_ text: Text) {
        loss.isTold.store(true, ordering: .relaxed)
        errors(rendering(text) + [10])
    }
    /// Whether something was lost, and nothing was said of what went wrong.
    var hasUntoldLoss: Bool { hasLostOutput && !loss.isTold.load(ordering: .relaxed) }
    /// A text in the person's language.
    func rendering(_ text: Text) -> Bytes {
        text.rendered { catalogue?.translation(of: $0) }
    }
}

/// Whether standard output has failed to take something.
private final class Loss: Sendable {
    let hasHappened = Atomic(false)
    /// Whether something was said of what went wrong, be it that or another thing.
    let isTold = Atomic(false)
}
