// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport

/// Where scenes are played: the people, and what they can do.
struct DemoSet {
    let signet: SignetFixture
    let screen: DemoScreen

    var host: HostFixture { signet.host }

    /// Under load everything takes its time; nothing is decided by this limit.
    static let patience = Duration.patience
    /// What stands before the cursor where a touch or the password is awaited.
    static let orPassword = "or type the password: "
    /// sudo's own prompt.
    static let sudoPrompt = "password for alice: "

    /// Fingers, as the virtual reader tells them apart.
    enum Finger: String {
        case aliceRight = "alice right index"
        case aliceLeft = "alice left index"
        case bob
        case stranger

        var text: String {
            switch self {
            case .aliceRight: "alice touches the reader with her right index finger"
            case .aliceLeft: "alice touches the reader with her left index finger"
            case .bob: "bob touches the reader"
            case .stranger: "a stranger touches the reader"
            }
        }
    }

    // MARK: What people do

    /// alice calls a program on a new terminal.
    func alice(_ arguments: String...) throws -> Terminal {
        try alice(shown: arguments.joined(separator: " "), arguments)
    }

    /// alice calls a program on a new terminal, in a shell's words if `shown` says so.
    func alice(shown: String, _ arguments: [String], at place: String = "~") throws -> Terminal {
        screen.command(shown, prompt: "alice@linux:\(place)$ ")
        return try host.terminal(arguments, as: HostFixture.alice, copyingTo: screen.terminals)
    }

    /// bob calls a program on a new terminal.
    func bob(_ arguments: String...) throws -> Terminal {
        screen.command(arguments.joined(separator: " "), prompt: "bob@linux:~$ ")
        return try host.terminal(arguments, as: HostFixture.bob, copyingTo: screen.terminals)
    }

    /// The machine's administrator calls a program on a new terminal.
    func root(_ arguments: String...) throws -> Terminal {
        try root(shown: arguments.joined(separator: " "), arguments)
    }

    /// The same, in a shell's words if `shown` says so.
    func root(shown: String, _ arguments: [String]) throws -> Terminal {
        screen.command(shown, prompt: "root@linux:~# ")
        return try host.terminal(arguments, as: HostFixture.root, copyingTo: screen.terminals)
    }

    /// A finger is put on the reader, which waits for one.
    func touch(_ finger: Finger) throws {
        screen.act(finger.text)
        try signet.touch(finger.rawValue)
    }

    /// alice types her password, which is not shown.
    func typePassword(_ terminal: Terminal) throws {
        screen.act("alice types her password")
        try terminal.sendLine(HostFixture.alice.password)
    }

    /// Somebody presses ^C at sudo's own prompt, and sudo ends without running anything.
    func giveUp(_ terminal: Terminal, who: String = "alice") throws {
        screen.act("\(who) cancels with ^C")
        let ending = try interrupt(terminal)
        try check("sudo ran nothing", ending != .exited(0), came: "\(ending)")
    }

    /// Presses ^C until the program ends: sudo misses one that comes between its prompt and its
    /// wait for the answer.
    private func interrupt(_ terminal: Terminal) throws -> Ending {
        for _ in 1..<30 {
            try? terminal.control(.c)
            do throws(TestFault) {
                return try terminal.expectEnd(within: .seconds(1))
            } catch .deadline {}
        }
        return try terminal.expectEnd()
    }

    // MARK: What is looked at

    /// Waits until a text appears.
    @discardableResult
    func see(_ text: String, on terminal: Terminal) throws -> String {
        try terminal.expect(text, within: Self.patience)
    }

    /// Waits until a finger is awaited for the command of all scenes.
    func seeInvitation(_ terminal: Terminal, to act: String = "touch the reader") throws {
        try see("\(act) to confirm: sudo whoami (alice, ", on: terminal)
        try see(Self.orPassword, on: terminal)
    }

    /// Waits until `sudo whoami` has run as root, and the end.
    func seeRoot(_ terminal: Terminal) throws {
        try see("root\r\n", on: terminal)
        try end(terminal, "sudo ran the command as root")
    }

    /// Waits for the end of a program, which must be a success.
    func end(_ terminal: Terminal, _ meaning: String) throws {
        let ending = try terminal.expectEnd(within: Self.patience)
        try check(meaning, ending == .exited(0), came: "\(ending)")
    }

    /// Says that something is so, or fails the scene.
    func check(
        _ expectation: String, _ isSo: Bool, came: @autoclosure () -> String = "something else"
    ) throws {
        guard isSo else { throw DemoFault(expected: expectation, came: came()) }
        screen.confirm(expectation)
    }

    /// Says that a text appeared or did not, or fails the scene with all that appeared.
    func check(
        _ expectation: String, _ terminal: Terminal, _ isSo: (String) -> Bool
    ) throws {
        try check(expectation, isSo(terminal.transcript), came: terminal.transcript)
    }

    // MARK: Behind the curtain

    /// Makes the virtual reader one that is touched: at first it asks for a finger to be swiped.
    func makePress() throws {
        let client = try signet.connect()
        try client.send(.enroll(account: "alice", finger: .rightIndex, readerID: nil))
        while let answer = try client.receive() {
            guard case .notice(let notice) = answer, notice.kind == .touch else { continue }
            try signet.reader().send(.scanType("press"))
            try client.send(.cancel)
            while case .notice? = try client.receive() {}
            return
        }
        throw DemoFault(expected: "a reader that waits for a finger", came: "the end")
    }

    /// Runs a shell's line as the fixture's root, unseen.
    @discardableResult
    func shell(_ line: String) throws -> String {
        let outcome = try host.run(["sh", "-c", line], within: Self.patience)
        guard outcome.succeeded else {
            throw DemoFault(expected: "'\(line)' to succeed", came: outcome.output + outcome.errors)
        }
        return outcome.output
    }
}
