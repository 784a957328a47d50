// SPDX-License-Identifier: Apache-2.0
import DesktopClient
import Testing

@Suite("the arguments of fprintd's commands")
struct FprintdCommandTests {
    private typealias Refusal = FprintdCommand.Refusal

    private func parse(_ line: String) throws(FprintdCommand.Refusal) -> FprintdCommand {
        let words = line.split(separator: " ").map(String.init)
        return try FprintdCommand(words[0], arguments: Array(words.dropFirst()))
    }

    @Test("have fprintd's defaults: the right index finger, the first that is enrolled, the caller")
    func defaults() throws {
        #expect(try parse("enroll") == .enroll(finger: "right-index-finger", user: ""))
        #expect(try parse("verify") == .verify(finger: nil, user: ""))
        #expect(try parse("list alice bob") == .list(users: ["alice", "bob"]))
        #expect(try parse("delete alice") == .delete([.init(user: "alice", finger: nil)]))
    }

    @Test("may have the finger in each form, before and after the user")
    func fingers() throws {
        for option in ["-f any", "-fany", "--finger any", "--finger=any"] {
            #expect(try parse("verify \(option) alice") == .verify(finger: "any", user: "alice"))
            #expect(try parse("enroll alice \(option)") == .enroll(finger: "any", user: "alice"))
        }
        #expect(try parse("verify -f a -f b") == .verify(finger: "b", user: ""))
        #expect(try parse("verify -- -f") == .verify(finger: nil, user: "-f"))
        #expect(try parse("verify --g-fatal-warnings") == .verify(finger: nil, user: ""))
        #expect(
            try parse("delete alice -f left-thumb bob carol --finger=right-thumb")
                == .delete([
                    .init(user: "alice", finger: "left-thumb"), .init(user: "bob", finger: nil),
                    .init(user: "carol", finger: "right-thumb"),
                ]))
    }

    @Test(
        "are refused with what is wrong, and nothing is done",
        arguments: [
            ("enroll --no-such", "Unknown option --no-such"), ("enroll -x", "Unknown option -x"),
            ("enroll -f", "Missing argument for -f"), ("verify --finger", "Missing argument"),
            ("enroll --g-fatal-warnings", "Unknown option"), ("list", "Usage: fprintd-list <user"),
            ("delete", "Usage: fprintd-delete"), ("delete -f left-thumb", "Usage: fprintd-delete"),
            ("delete alice -f", "Missing argument"), ("delete alice -x", "Unknown option -x"),
            ("reset alice", "there is no command fprintd-reset"),
        ])
    func mistakes(_ line: String, _ wanted: String) {
        do throws(FprintdCommand.Refusal) {
            let command = try parse(line)
            Issue.record("\(command)")
        } catch {
            guard case .mistake(let text) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(text.contains(wanted), "\(text)")
        }
    }

    @Test("may ask for help, which is no mistake")
    func help() {
        for line in ["enroll --help", "verify -h", "delete --help", "delete alice -h"] {
            #expect(throws: FprintdCommand.Refusal.self) { try parse(line) }
            do throws(FprintdCommand.Refusal) { _ = try parse(line) } catch {
                guard case .help(let text) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(text.hasPrefix("Usage: fprintd-"))
            }
        }
    }
}
