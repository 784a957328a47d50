// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("fingers on the reader that another system put there", .timeLimit(.minutes(5)))
struct ReaderStorageTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let prints = "/run/readers/storage.prints"

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    /// What the reader keeps is changed while another system runs on this machine.
    private func another(_ line: String) throws {
        try signet.stop()
        try signet.shell("cd /run/readers && { \(line); }")
        try signet.start()
    }

    private func expectTouch() throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("unchanged, the touch is accepted, also after a reboot")
    func untouched() throws {
        try expectTouch()
        try another("true")
        try expectTouch()
        #expect(try signet.status(HostFixture.bob).state == .valid)
    }

    @Test(
        "one added, removed, or all exchanged: sudo says so, the password works, enable repairs it",
        arguments: [
            ("echo stranger >>storage.prints", "a finger was added on the reader itself"),
            ("sed -i /alice/d storage.prints", "a finger was removed on the reader itself"),
            ("echo other >storage.prints", "the fingerprint reader was replaced"),
        ])
    func changed(line: String, text: String) throws {
        try expectTouch()
        try another(line)
        for _ in 0..<2 {
            let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
            try terminal.expect("fingerprint login is off for alice: \(text)")
            try terminal.expect("Run 'signet enable' to turn it on again")
            try terminal.passBySudosPrompt()
            #expect(!terminal.transcript.contains(SignetFixture.invitation))
        }
        let said = try host.run([try Built.program("signet"), "status"], as: HostFixture.alice)
        #expect(said.output.contains(text))
        let answer = try signet.ask(.enable(account: "alice"))
        #expect(answer == .done(DoneAnswer(prints: 1, state: .valid)))
        let left = String(decoding: try host.read(Self.prints), as: UTF8.self)
        if left.contains(Touch.alice) { try expectTouch() }
    }
}
