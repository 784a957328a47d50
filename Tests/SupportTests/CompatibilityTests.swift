// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TestSupport

@Suite("the table of programs and cases")
struct CompatibilityTests {
    private func cell(
        _ program: Compatibility.Program, _ case: Compatibility.Case, of notes: String
    ) throws -> String {
        let lines = Compatibility.table(of: Array(notes.utf8)).split(separator: "\n")
        let heads = try #require(lines.first).split(separator: "|").map { $0.filter { $0 != "`" } }
        let column = try #require(heads.firstIndex(of: " \(program.rawValue) "))
        let row = try #require(lines.first { $0.hasPrefix("| \(`case`.rawValue) |") })
        return String(row.split(separator: "|")[column].dropFirst().dropLast())
    }

    private func note(_ word: String, _ test: String = "a test") -> String {
        "\(word)\tsudo -i\t\(Compatibility.Case.finger.rawValue)\t\(test)\n"
    }

    @Test("shows what a test has shown, and nothing else")
    func passed() throws {
        #expect(try cell(.sudoLogin, .finger, of: note("passed")) == "✓")
        #expect(try cell(.sudo, .finger, of: note("passed")) == "not tested")
        #expect(try cell(.sudoLogin, .typed, of: note("passed")) == "not tested")
        #expect(try cell(.cron, .finger, of: note("passed")) == "–")
    }

    @Test("shows nothing that any test has failed to show")
    func failed() throws {
        for notes in [
            note("failed"), note("failed") + note("passed", "another"),
            note("passed") + note("failed"), "", "\n\t\t\t\n", "passed\tsudo -i\n",
            "passed\tno such\tthing\ta test\n", note("whatever"),
        ] {
            #expect(try cell(.sudoLogin, .finger, of: notes) == "not tested")
        }
    }

    @Test("has a case for each program, and a program for each case")
    func whole() {
        for program in Compatibility.Program.allCases {
            #expect(
                Compatibility.Case.allCases.contains {
                    Compatibility.applies(Compatibility.Cell(program, $0))
                })
        }
        for `case` in Compatibility.Case.allCases {
            #expect(
                Compatibility.Program.allCases.contains {
                    Compatibility.applies(Compatibility.Cell($0, `case`))
                })
        }
    }
}
