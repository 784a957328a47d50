// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// A shell whose completion is shipped.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// What completes lines with the shipped script, and says what it offers.
    ///
    /// - Parameter scripts: The directory with the scripts.
    func capture(_ program: String, from scripts: String, dump: String) -> [String] {
        let driver = "\(Layout.package)/Tests/Fixtures/completion/capture.\(self)"
        return switch self {
        case .bash: ["bash", driver, "\(scripts)/\(program).bash"]
        case .zsh: ["zsh", "-f", driver, scripts, dump]
        case .fish: ["fish", "--no-config", driver, "\(scripts)/\(program).fish"]
        }
    }
}

@Suite("The completion of")
struct CompletionTests {
    @Test(
        "each shell knows exactly the commands, and the options of each", arguments: Shell.allCases)
    func commands(shell: Shell) throws {
        let commands = try KnownCommand.all()
        let fixture = try CompletionFixture()
        let offers = try fixture.offers(
            shell,
            ["signet ", "signet -", "signet secret ", "signet help ", "signet help secret "]
                + commands.map { "signet \($0.name) --" })
        let first = Set(commands.compactMap(\.words.first))
        let second = Set(commands.filter { $0.words.count == 2 }.map { $0.words[1] })
        #expect(offers["signet "]?.words == first)
        #expect(offers["signet help "]?.words == first)
        #expect(offers["signet secret "]?.words == second)
        #expect(offers["signet help secret "]?.words == second)
        #expect(offers["signet -"]?.isSuperset(of: ["--help", "--version"]) == true)
        for command in commands {
            #expect(offers["signet \(command.name) --"] == command.options, "\(command.name)")
        }
    }

    @Test("each shell offers fingers, readers, secrets and vaults", arguments: Shell.allCases)
    func values(shell: Shell) throws {
        let fixture = try CompletionFixture()
        let offers = try fixture.offers(
            shell,
            [
                "signet enroll right-", "signet delete ", "signet enroll --reader ",
                "signet vault ", "signet vault migrate ", "signet secret get --account bin api",
                "signet status --account roo", "signet log --export ", "signet frob ",
                "signet operations ", "signet mac-token ", "signet mac-token remove ",
                "signet operations approve ",
            ])
        let right = Finger.allCases.map { "\($0.name)" }.filter { $0.hasPrefix("right-") }
        #expect(offers["signet enroll right-"] == Set(right))
        #expect(offers["signet delete "] == ["right-index", "left-thumb"])
        #expect(offers["signet enroll --reader "] == ["virtual:0", "elan:0#2"])
        #expect(offers["signet vault "] == ["migrate", "trust"])
        #expect(offers["signet vault migrate "] == ["tpm", "file"])
        #expect(offers["signet secret get --account bin api"] == ["api-token"])
        #expect(offers["signet status --account roo"] == ["root"])
        #expect(offers["signet log --export "] == [])
        #expect(offers["signet frob "] == [])
        #expect(offers["signet operations "] == ["list", "show", "approve", "reject", "watch"])
        #expect(offers["signet mac-token "] == ["add", "list", "remove", "header"])
        #expect(offers["signet mac-token remove "] == ["cron"])
        #expect(offers["signet operations approve "] == [])
        // Nothing else was asked, and so nothing that needs a password or a touch.
        #expect(
            Set(try fixture.asked()) == [
                "list --json", "readers --json", "secret list --account=bin --json",
                "mac-token list --json",
            ])
    }

    @Test("each shell offers a hostile name as it is, and runs nothing", arguments: Shell.allCases)
    func hostile(shell: Shell) throws {
        let fixture = try CompletionFixture()
        let offers = try fixture.offers(shell, ["signet secret get it", "signet secret get bad"])
        let name = shell == .bash ? CompletionFixture.quotedName : CompletionFixture.hostileName
        #expect(offers["signet secret get it"] == [name])
        // A name with a control character is left to be typed.
        #expect(offers["signet secret get bad"] == [])
        #expect(try !fixture.wasHarmed())
    }

    @Test("bash puts one argument on the line, whatever it is called and however it is quoted")
    func insertion() throws {
        let fixture = try CompletionFixture()
        _ = try fixture.offers(
            .bash,
            [
                "!signet secret get it", "!signet secret get \"it", "!signet secret get 'it",
                "!signet secret get a:", "!signet secret get a:b\\ c=",
                "!signet enroll --reader=virt", "!signet enroll --reader virtual:",
                "!signet config --check /etc/passw", "!signet log --export 1 --to /usr/shar",
            ])
        let hostile = ["secret", "get", CompletionFixture.hostileName]
        #expect(
            try fixture.ran() == [
                hostile, hostile, hostile, ["secret", "get", "a:b c=d"],
                ["secret", "get", "a:b c=d"], ["enroll", "--reader=virtual:0"],
                ["enroll", "--reader", "virtual:0"], ["config", "--check", "/etc/passwd"],
                ["log", "--export", "1", "--to", "/usr/share/"],
            ])
        #expect(try !fixture.wasHarmed())
    }

    @Test("each shell offers nothing where the service does not answer", arguments: Shell.allCases)
    func absent(shell: Shell) throws {
        let fixture = try CompletionFixture(program: "#!/bin/sh\nexit 3\n")
        let lines = ["signet enroll --reader ", "signet secret get ", "signet delete "]
        let offers = try fixture.offers(shell, lines)
        for line in lines { #expect(offers[line] == []) }
    }
}

@Suite("The completion of the server for")
struct ServerShellTests {
    @Test("zsh and fish knows commands, options and choices", arguments: [Shell.zsh, .fish])
    func offers(shell: Shell) throws {
        let fixture = try CompletionFixture()
        let lines = [
            "signet-server ", "signet-server admin key ", "signet-server admin --json key a",
            "signet-server admin application remove shop --devices ",
            "signet-server admin application set shop --devices ",
            "signet-server admin signing-key rotate ", "signet-server admin key list shop --",
            "signet-server admin audit ", "signet-server admin frob ",
        ]
        let offers = try fixture.offers(shell, lines, of: "signet-server")
        #expect(offers[lines[0]] == ["admin"])
        #expect(offers[lines[1]] == ["add", "list", "revoke", "set"])
        #expect(offers[lines[2]] == ["add"])
        #expect(offers[lines[3]] == ["refuse", "remove"])
        #expect(offers[lines[4]] == ["one", "several"])
        #expect(offers[lines[5]] == ["token", "verdict"])
        #expect(offers[lines[6]] == ["--config", "--json", "--help"])
        #expect(offers[lines[7]] == ["application", "export", "prune", "sealed", "verify"])
        #expect(offers[lines[8]] == [])
    }
}

/// A `signet` that answers as the service would, and writes down what it was asked.
struct CompletionFixture {
    static let hostileName = "it's \"a\" $(touch harmed) `touch harmed` \\ b"
    static let quotedName = #"it\'s\ \"a\"\ \$\(touch\ harmed\)\ \`touch\ harmed\`\ \\\ b"#

    let scratch: Scratch

    init(program: String = CompletionFixture.program) throws {
        scratch = try Scratch()
        try scratch.write("bin/signet", program, mode: 0o755)
        try scratch.write("asked", "")
        try scratch.write("ran", "")
    }

    /// What a shell offers for each line.
    func offers(
        _ shell: Shell, _ lines: [String], of program: String = "signet",
        from scripts: String = "\(Layout.package)/packaging/completions"
    ) throws -> [String: Set<String>] {
        var command = TestSupport.Command(
            shell.capture(program, from: scripts, dump: scratch.at("dump")),
            environment: [
                "PATH": "\(scratch.at("bin")):/usr/bin:/bin", "HOME": scratch.path,
                "TMPDIR": scratch.path, "STAGE": scratch.path,
            ])
        command.directory = scratch.path
        let input = lines.joined(separator: "\n") + "\n"
        let end = try Program(command, input: input).expectEnd()
        #expect(end.succeeded, "\(end)")
        var offers: [String: Set<String>] = [:]
        var line = ""
        for answer in end.output.split(separator: "\n").map(String.init) {
            if answer.hasPrefix("> ") {
                line = String(answer.dropFirst(2))
                offers[line] = []
            } else {
                offers[line]?.insert(answer)
            }
        }
        return offers
    }

    /// The lists that were asked for.
    func asked() throws -> [String] {
        String(decoding: try scratch.read("asked"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// The arguments of what else was run.
    func ran() throws -> [[String]] {
        String(decoding: try scratch.read("ran"), as: UTF8.self)
            .split(separator: "\n").map { line in
                line.split(separator: "\u{1F}", omittingEmptySubsequences: false).dropLast()
                    .map(String.init)
            }
    }

    /// Whether a name was taken for a command.
    func wasHarmed() throws -> Bool { Layout.entries(of: scratch.path).contains("harmed") }

    private static let program = #"""
        #!/bin/sh
        case "$*" in
        "readers --json") echo '{"readers":[{"id":"virtual:0","name":"N"},{"id":"elan:0#2"}]}' ;;
        "mac-token list"*) echo '{"tokens":[{"name":"cron","server":"https://h"}]}' ;;
        "secret list"*) cat << 'END'
        {"secrets":[{"name":"api-token"},{"name":"it's \"a\" $(touch harmed) `touch harmed` \\ b"},{"name":"a:b c=d"},{"name":"bad\u0007"}]}
        END
        ;;
        "list "*) echo '{"fingers":[{"finger":"right-index"},{"finger":null},{"finger":"left-thumb"}]}' ;;
        *)
            { printf '%s\037' "$@"; echo; } >> "$STAGE/ran"
            exit
            ;;
        esac
        echo "$*" >> "$STAGE/asked"
        """#
}

extension Set<String> {
    /// Without options.
    fileprivate var words: Set<String> { filter { !$0.hasPrefix("-") } }
}
