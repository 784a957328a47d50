// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import ModuleOptions
import Testing

@Suite("a command line, as a person confirms it")
struct ProgramCallTests {
    private func purpose(_ words: [String]) -> String? {
        var text: [UInt8] = []
        for word in words { text += [UInt8](word.utf8) + [0] }
        let command = ConfirmedCommand(
            ProgramCall(text), of: .sudo, in: PlayedSurroundings().value)
        return command.purpose.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "is quoted as a shell needs it, so that no word passes for several or for none",
        arguments: [
            (["apt", "upgrade"], "apt upgrade"), (["a b"], "'a b'"), ([""], "''"),
            (["sh", "-c", "rm -rf /"], "sh -c 'rm -rf /'"), (["it's"], "'it'\\''s'"),
            (["/bin/ls", "x_y@z%1+2:3,4.5^"], "/bin/ls x_y@z%1+2:3,4.5^"),
            (["a\nb"], "'a\nb'"), (["\u{A0}"], "'\u{A0}'"), (["ls;id"], "'ls;id'"),
            (["(bob, pts/1)"], "'(bob, pts/1)'"), (["$HOME"], "'$HOME'"), (["\\x41"], "'\\x41'"),
            (["*"], "'*'"), (["Grüße"], "'Grüße'"),
        ])
    func quoted(_ words: [String], _ line: String) {
        #expect(purpose(["x", "echo"] + words) == "sudo echo \(line)")
    }

    @Test("has at most as many bytes as a purpose may, as it is shown")
    func length() {
        let words = ["sudo", "id"] + [String](repeating: "123456789", count: 101)
        #expect(purpose(words + ["123456"])?.utf8.count == Limit.purpose)
        #expect(purpose(words + ["1234567"]) == nil)
        // A byte that is shown as a number takes four.
        let escapes = String(repeating: "\u{1B}", count: 253)
        #expect(purpose(["sudo", "a", escapes + "123"])?.utf8.count == 265)
        #expect(purpose(["sudo", "a", escapes + "1234"]) == nil)
    }

    @Test("never traps, and never grows, whatever the words are")
    func anything() {
        var generator = SystemRandomNumberGenerator()
        let bytes: [UInt8] = [0, 0x20, 0x27, 0x2D, 0x41, 0x80, 0xC3, 0xE2, 0xF0, 0xFF]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<3_000)).map { _ in
                bytes.randomElement(using: &generator) ?? 0
            }
            for program in [ConfirmingProgram.sudo, .su, .doas] {
                let command = ConfirmedCommand(
                    ProgramCall(text), of: program, in: PlayedSurroundings().value)
                #expect((command.purpose?.count ?? 0) <= Limit.purpose)
                let part = ConfirmedCommand(
                    ProgramCall(text, isWhole: false), of: program, in: PlayedSurroundings().value)
                #expect(part.purpose == nil)
            }
        }
    }
}
