// SPDX-License-Identifier: Apache-2.0
import ModuleOptions
import Testing

@Suite("a command line, as a person confirms it")
struct ProgramCallTests {
    private func purpose(_ words: [String]) -> String? {
        var text: [UInt8] = []
        for word in words { text += [UInt8](word.utf8) + [0] }
        let command = ConfirmedCommand(ProgramCall(beginning: text), of: .sudo)
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
        #expect(purpose(["x"] + words) == "sudo \(line)")
    }

    @Test("a long word loses its middle, and leaves room for the others")
    func longWord() {
        let word =
            String(repeating: "a", count: 160) + String(repeating: "x", count: 500)
            + String(repeating: "z", count: 80)
        let shown = String(repeating: "a", count: 160) + "…" + String(repeating: "z", count: 80)
        #expect(purpose(["sudo", "evil", word, "end"]) == "sudo evil '\(shown)' end")
    }

    @Test("a line that is long loses its middle: what runs and its end are seen")
    func longLine() {
        let words = ["sudo", "evil"] + (0..<400).map { "word\($0)" } + ["end"]
        let line = purpose(words) ?? ""
        #expect(line.utf8.count <= ProgramCall.longestPurpose)
        #expect(line.hasPrefix("sudo evil word0 ") && line.hasSuffix(" word399 end"))
        #expect(line.contains(" … "))
        let exact = ["sudo", "id"] + [String](repeating: "123456789", count: 101) + ["123456"]
        #expect(purpose(exact)?.utf8.count == ProgramCall.longestPurpose)
        #expect(purpose(exact)?.contains("…") == false)
    }

    @Test("what is longer than is read shows its true end", arguments: ["x", "é", "漢", "🦊"])
    func cut(_ filling: String) {
        for shift in 0..<4 {
            let text = String(repeating: "s", count: shift) + String(repeating: filling, count: 600)
            let call = ProgramCall(
                beginning: [UInt8]("sudo\0evil \(text)\0".utf8).prefix(700).map { $0 },
                end: [UInt8]("\(text)\0--last\0".utf8).suffix(600).map { $0 })
            let purpose = ConfirmedCommand(call, of: .sudo).purpose ?? []
            #expect(purpose.count <= ProgramCall.longestPurpose)
            #expect(purpose.starts(with: "sudo 'evil ".utf8))
            let line = String(decoding: purpose, as: UTF8.self)
            #expect(line.hasSuffix(" --last") && line.contains(" … "))
        }
    }

    @Test("never traps, and never grows, whatever the words are")
    func anything() {
        var generator = SystemRandomNumberGenerator()
        let bytes: [UInt8] = [0, 0x20, 0x27, 0x2D, 0x41, 0x80, 0xC3, 0xE2, 0xF0, 0xFF]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<3_000)).map { _ in
                bytes.randomElement(using: &generator) ?? 0
            }
            for call in [ProgramCall(beginning: text), ProgramCall(beginning: text, end: text)] {
                for program in [ConfirmingProgram.sudo, .su, .doas] {
                    let purpose = ConfirmedCommand(call, of: program).purpose
                    #expect((purpose?.count ?? 0) <= ProgramCall.longestPurpose)
                }
            }
        }
    }
}
