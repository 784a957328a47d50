// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("what a touch at sudo and su confirms", .timeLimit(.minutes(5)))
struct PurposeTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(allowsOthers: true)
        for (service, login) in [("sudo", "sudo-i"), ("su", "su-l")] {
            try host.write("/etc/pam.d/\(login)", host.read("/etc/pam.d/\(service)"))
        }
    }

    /// What the prompt says, and then the receipt, after a touch.
    private func confirmed(_ words: [String], by finger: String = Touch.alice) throws -> String {
        let terminal = try host.terminal(words, as: HostFixture.alice)
        try terminal.expect("\(SignetFixture.invitation) to confirm: ")
        let shown = try terminal.expect(SignetFixture.orPassword)
        try signet.touch(finger)
        try terminal.expectEnd()
        return shown
    }

    /// The purposes in the receipts of an account, as they stand there.
    private func receipts(of account: Account) throws -> [String] {
        let text = try host.read("\(SignetFixture.state(of: account))/receipts")
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
            $0.hasPrefix("purpose: ") ? String($0.dropFirst(9)) : nil
        }
    }

    @Test(
        "is the command line in the prompt, whichever way sudo is called",
        arguments: [
            ("sudo -v", "sudo -v"), ("sudo -u bob id", "sudo id [-u bob]"),
            ("sudo -s true", "sudo -s true [shell /bin/bash]"), ("sudo -k true", "sudo true [-k]"),
            ("sudo -p x true", "sudo true [-p x]"), ("sudo -l", "sudo -l"),
            ("sudo -i -u bob true", "sudo -i true [-u bob; shell /bin/bash]"),
            ("sudo A=b B=c true", "sudo true [A=b B=c]"),
            ("sudo /usr/bin/././true", "sudo /usr/bin/true"),
            ("sudo /usr/bin/../../usr//bin/true", "sudo /usr/bin/true"),
        ])
    func sudo(_ call: String, _ line: String) throws {
        let words = call.split(separator: " ").map(String.init)
        #expect(try confirmed(words).hasPrefix("\(line) (alice, pts/"))
        #expect(try receipts(of: HostFixture.alice).last == line)
    }

    @Test("is sudoedit where sudo edits")
    func edits() throws {
        let terminal = try host.terminal(
            ["sudoedit", "/etc/x"], as: HostFixture.alice, environment: ["SUDO_EDITOR": "/bin/true"]
        )
        try terminal.expect("to confirm: sudoedit /etc/x [with SUDO_EDITOR=/bin/true] (alice, pts/")
        try signet.touch(Touch.alice)
        try terminal.expectEnd()
    }

    @Test("is kept by sudo's own timestamp: the second command asks for nothing, -k asks again")
    func timestamp() throws {
        try signet.shell("sed -i s/timestamp_timeout=0/timestamp_timeout=5/ /etc/sudoers")
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("sudo id -un")
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        try terminal.expect("$ ")
        try terminal.sendLine("sudo id -gn; echo a\"gain\"")
        let second = try terminal.expect("again\r\n")
        #expect(second.contains("root\r\n") && !second.contains(SignetFixture.invitation))
        try terminal.expect("$ ")
        try terminal.sendLine("sudo -k; sudo id -un")
        try terminal.expect("to confirm: sudo id -un (alice")
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        terminal.hangUp()
    }

    @Test("is su's command line, for the finger of the account that it leads to")
    func su() throws {
        let shown = try confirmed(["su", "-", "bob", "-c", "id -un"], by: Touch.bob)
        #expect(shown.hasPrefix("su - bob -c 'id -un' (bob, asked by alice, pts/"))
        #expect(try receipts(of: HostFixture.bob).last == "su - bob -c 'id -un'")
    }

    @Test("line ends, escape sequences and unseen characters cannot change what is shown")
    func hostile() throws {
        let hostile = "a\nroot: approved\u{1B}[2J\u{1B}]0;x\u{7}\u{202E}\u{2066}\u{200B}\u{FEFF}z"
        let terminal = try host.terminal(["sudo", "true", hostile], as: HostFixture.alice)
        try terminal.expectInvitation()
        let shown = terminal.transcript
        #expect(
            shown.contains(
                "sudo true 'a\\x0aroot: approved\\x1b[2J\\x1b]0;x\\x07\\xe2\\x80\\xae\\xe2\\x81\\xa6"
                    + "\\xe2\\x80\\x8b\\xef\\xbb\\xbfz' (alice"))
        for raw in ["\u{1B}", "\u{7}", "\u{202E}", "\u{2066}", "\u{200B}"] as [Unicode.Scalar] {
            #expect(!shown.unicodeScalars.contains(raw))
        }
        #expect(!shown.contains("\nroot:"))
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("is quoted, so that no word passes for the end of the line or for several words")
    func quoted() throws {
        let shown = try confirmed(["sudo", "true", "(alice, pts/9)", "a b", ""])
        #expect(shown.hasPrefix("sudo true '(alice, pts/9)' 'a b' '' (alice, pts/"))
    }

    @Test("bytes that are not UTF-8 are shown as numbers")
    func notUTF8() throws {
        let terminal = try host.terminal(
            ["bash", "-c", "exec sudo true $'\\xff\\xc3(\\xed\\xa0\\x80'"], as: HostFixture.alice)
        try terminal.expect("sudo true '\\xff\\xc3(\\xed\\xa0\\x80' (alice")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("that is longer than a prompt may be gets the password, and is never cut")
    func long() throws {
        for length in [1_100, 65_000] {
            let words = ["sudo", "id", "-un", "--", String(repeating: "x", count: length)]
            let terminal = try host.terminal(words, as: HostFixture.alice)
            try terminal.expect("this request is too long to be shown whole: use the password")
            try terminal.expect("password for alice: ")
            #expect(!terminal.transcript.contains(SignetFixture.invitation))
            terminal.hangUp()
        }
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
        // As long as it may be, it is there from the first byte to the last.
        let word = String(repeating: "x", count: 990)
        let shown = try confirmed(["sudo", "true", word])
        #expect(shown.replacing("\r\n", with: "").hasPrefix("sudo true \(word) (alice, pts/"))
    }

    @Test("names the program in the directory of the call, and the shell of its environment")
    func surroundings() throws {
        try signet.shell(
            "mkdir -p /srv/evil && cp /bin/true /srv/evil/apt && ln -s /srv/evil /home/alice/link")
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        func confirm(_ line: String, _ shown: String) throws {
            try terminal.expect("$ ")
            try terminal.sendLine(line)
            try terminal.expect("to confirm: \(shown) (alice, pts/")
            try terminal.expect(SignetFixture.orPassword)
            try signet.touch(Touch.alice)
        }
        try confirm("cd /srv/evil; sudo ./apt update", "sudo /srv/evil/apt update")
        // By the link's own parent, not by the text.
        try confirm("sudo /home/alice/link/../evil/apt", "sudo /srv/evil/apt")
        try confirm("SHELL=/srv/evil/apt sudo -s", "sudo -s [shell /srv/evil/apt]")
        try confirm("SHELL=./apt sudo -s", "sudo -s [shell /srv/evil/apt]")
        try confirm("env -u SHELL sudo -s true", "sudo -s true [shell /bin/bash]")
        try confirm(
            "PATH=/srv/evil:$PATH su alice -c 'apt x'",
            "su alice -c 'apt x' [with PATH=/srv/evil:"
                + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin]")
        try terminal.expect("$ ")
        for line in ["sudo -E true", "sudo -D / ./apt", "TERM='x;y' sudo -s '$TERM'"] {
            try terminal.sendLine(line)
            try terminal.expect("it is unclear what a fingerprint would confirm")
            try terminal.expect("password for alice: ")
            // Not ^C: sudo misses one that comes between its prompt and its wait for the answer.
            try terminal.control(.d)
            try terminal.expect("$ ")
        }
        terminal.hangUp()
    }
}
