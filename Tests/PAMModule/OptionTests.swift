import ModuleOptions
import Testing

@Suite("the words of a stack's line, and of sudo's")
struct OptionTests {
    private func parse(_ words: String...) throws(ModuleOptions.Fault) -> ModuleOptions {
        try ModuleOptions(parsing: words.map { [UInt8]($0.utf8) })
    }

    @Test("each option sets what it names, and the rest stays at its default")
    func accepted() throws {
        let all = try parse("timeout=170", "max-tries=1", "debug", "socket=/run/other.sock")
        #expect(all.timeoutSeconds == 170 && all.maximumTries == 1 && all.debug)
        #expect(all.socket == [UInt8]("/run/other.sock".utf8))
        let none = try parse()
        #expect(none.timeoutSeconds == 30 && none.maximumTries == 3 && !none.debug)
        #expect(none.socket == [UInt8]("/run/signet/signetd.sock".utf8))
    }

    @Test(
        "an option that is unknown, malformed or repeated is refused, and named",
        arguments: [
            ("frobnicate", ModuleOptions.Fault.unknown(0)), ("timeout", .unknown(0)),
            ("debug=1", .unknown(0)), ("", .unknown(0)), ("timeout=", .malformed(0)),
            ("timeout=0", .malformed(0)), ("timeout=171", .malformed(0)),
            ("timeout=030", .malformed(0)), ("timeout=99999999999999999999", .malformed(0)),
            ("max-tries=0", .malformed(0)), ("max-tries=6", .malformed(0)),
            ("socket=", .malformed(0)), ("socket=run/s", .malformed(0)),
            ("socket=/run//s", .malformed(0)), ("socket=/run/../s", .malformed(0)),
            ("socket=/run/./s", .malformed(0)), ("socket=/run/", .malformed(0)),
            ("socket=/" + String(repeating: "x", count: 107), .malformed(0)),
        ])
    func refused(_ word: String, _ fault: ModuleOptions.Fault) {
        #expect(throws: fault) { try parse(word) }
    }

    @Test("an option that stands there twice is refused")
    func repeated() {
        #expect(throws: ModuleOptions.Fault.repeated(1)) { try parse("timeout=5", "timeout=6") }
        #expect(throws: ModuleOptions.Fault.repeated(2)) {
            try parse("debug", "timeout=5", "debug")
        }
    }

    private func command(_ words: [String]) -> SudoCommand {
        SudoCommand(parsing: words.flatMap { [UInt8]($0.utf8) + [0] })
    }

    @Test("the purpose is sudo's command line, whatever the caller named the program")
    func purpose() {
        #expect(command(["sudo", "apt", "upgrade"]).purpose == [UInt8]("sudo apt upgrade".utf8))
        #expect(command(["harmless", "rm"]).purpose == [UInt8]("sudo rm".utf8))
        #expect(command(["/usr/bin/sudoedit", "x"]).purpose == [UInt8]("sudoedit x".utf8))
        #expect(command([]).purpose == [UInt8]("sudo".utf8))
        #expect(command(["sudo", "a\nb"]).purpose == [UInt8]("sudo a\nb".utf8))
    }

    @Test("a long command line is cut between characters, with an ellipsis")
    func cut() {
        #expect(command(["sudo", String(repeating: "x", count: 1_019)]).purpose.count == 1_024)
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "é", count: 600)
            let purpose = command(["sudo", text]).purpose
            #expect(purpose.count <= 1_024 && purpose.count > 1_018)
            #expect(String(validating: purpose, as: UTF8.self)?.hasSuffix("…") == true)
        }
    }

    @Test(
        "sudo's own -n, -A and -S are seen wherever sudo sees them",
        arguments: [
            ["-n"], ["-S", "ls"], ["-A"], ["-kn", "ls"], ["-u", "bob", "-n"], ["-ubob", "-S"],
            ["--stdin"], ["--std"], ["--non-interactive"], ["--askpass"], ["--user", "bob", "-n"],
            ["--user=bob", "-n"], ["A=1", "-n", "ls"], ["-u", "-x", "-n"],
        ])
    func asksElsewhere(_ words: [String]) {
        #expect(command(["sudo"] + words).asksElsewhere)
    }

    @Test(
        "the same letters mean nothing as values, or after the command",
        arguments: [
            [], ["ls", "-n"], ["ls", "-S"], ["--", "-n"], ["-u", "-n", "ls"], ["-un", "ls"],
            ["-u", "n", "ls"], ["--user", "-n", "ls"], ["-p", "-S", "ls"], ["-k", "ls", "--stdin"],
            ["=x", "-n"], ["-i"], ["-"],
        ])
    func asksHere(_ words: [String]) {
        #expect(!command(["sudo"] + words).asksElsewhere)
    }
}
