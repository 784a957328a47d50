// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// What is confirmed is seen, and is what runs; or no finger is asked for.
@Suite("a command line that hides what runs", .timeLimit(.minutes(5)))
struct ConfirmedLineTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    /// The last line of this name in alice's receipts.
    private func receipt(_ name: String) throws -> String? {
        let text = try host.read("\(SignetFixture.state(of: HostFixture.alice))/receipts")
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        return lines.last { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// SHA-256 of words that each end with NUL, as stock programs make it.
    private func digest(_ words: [String]) throws -> String {
        let line = "printf '%s\\0' \"$@\" | openssl dgst -sha256 -binary | basenc --base64url"
        let outcome = try host.run(["sh", "-c", line, "sh"] + words)
        return String(outcome.output.prefix { $0 != "=" && $0 != "\n" })
    }

    @Test("behind assignments shows it first, and the receipt has the digest of the whole line")
    func assignments() throws {
        let assignments = zip(0..., "abcdefgh").map { "V\($0)=\($1)" }
        let words = ["sudo"] + assignments + ["sh", "-c", "EVIL", "apt-get", "update"]
        let terminal = try host.terminal(words, as: HostFixture.alice)
        let purpose =
            "sudo sh -c EVIL apt-get update [\(assignments.joined(separator: " "))]"
        try terminal.expect("\(SignetFixture.invitation) to confirm: \(purpose) (alice, pts/")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        try terminal.expect("EVIL: not found")
        #expect(try terminal.expectEnd() == .exited(127))
        #expect(try receipt("purpose") == purpose)
        #expect(try receipt("command") == digest(words))
    }

    @Test(
        "in its middle gets no touch when the whole does not fit",
        arguments: [
            ["sudo"] + (0..<64).map { "V\($0)=" + String(repeating: "x", count: 200) }
                + ["sh", "-c", "EVIL", "apt-get", "update"],
            [
                "sudo", "sh", "-c",
                String(repeating: ": apt-get update -o A=b; ", count: 120) + "echo EVIL; "
                    + String(repeating: ": -o A=b; ", count: 120),
            ],
            ["sudo", "V0=" + String(repeating: "x", count: 20_000), "id", "-un"],
        ])
    func tooLong(_ words: [String]) throws {
        let terminal = try host.terminal(words, as: HostFixture.alice)
        try terminal.expect("this request is too long to be shown whole: use the password")
        try terminal.expect("password for alice: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("in a path that leads elsewhere shows where, and not how")
    func path() throws {
        try signet.shell("mkdir -p /tmp/evil && cp /bin/true /tmp/evil/apt")
        let dots = String(repeating: "./", count: 500)
        let words = ["sudo", "/usr/bin/\(dots)../../tmp/evil/\(dots)apt", "update"]
        let terminal = try host.terminal(words, as: HostFixture.alice)
        try terminal.expect("to confirm: sudo /tmp/evil/apt update (alice, pts/")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try receipt("purpose") == "sudo /tmp/evil/apt update")
        #expect(try receipt("command") == digest(words))
    }

    @Test("in a part that differs has another prompt and another digest")
    func differing() throws {
        func confirmed(_ middle: String) throws -> (purpose: String?, digest: String?) {
            let word = String(repeating: "a", count: 400)
            let terminal = try host.terminal(
                ["sudo", "true", word + middle + word], as: HostFixture.alice)
            try terminal.expectInvitation()
            try signet.touch(Touch.alice)
            #expect(try terminal.expectEnd() == .exited(0))
            return (try receipt("purpose"), try receipt("command"))
        }
        let (one, other) = (try confirmed("one"), try confirmed("other"))
        #expect(one.purpose != other.purpose)
        #expect(one.digest != other.digest)
    }

    @Test(
        "in a way that versions of sudo take differently gets no touch",
        arguments: [
            ["bash", "-c", "exec -a xedit sudo /usr/bin/id -un"],
            ["bash", "-c", "exec -a lt-sudoedit sudo /usr/bin/id -un"],
        ])
    func unclear(_ words: [String]) throws {
        let terminal = try host.terminal(words, as: HostFixture.alice)
        try terminal.expect("it is unclear what a fingerprint would confirm here")
        try terminal.expect("password for alice: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("of su with two commands gets no touch, but the password")
    func su() throws {
        let terminal = try host.terminal(
            ["su", "alice", "-c", "echo one", "-c", "echo two"], as: HostFixture.alice)
        try terminal.expect("it is unclear what a fingerprint would confirm here")
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("two\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }
}
