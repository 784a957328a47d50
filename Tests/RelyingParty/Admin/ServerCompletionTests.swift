// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The server's completion for bash")
struct ServerCompletionTests {
    /// What is offered for the last of these words.
    private func offers(_ words: String...) throws -> [String] { try offers(words) }

    private func offers(_ words: [String]) throws -> [String] {
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let outcome = try Program(
            Command(
                [
                    "bash", "-c",
                    """
                    . \(Layout.package)/packaging/completions/signet-server.bash
                    COMP_WORDS=(signet-server \(quoted)) COMP_CWORD=\(words.count)
                    _signet_server
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """,
                ], environment: ["PATH": "\(Layout.products):/usr/bin:/bin"])
        ).expectEnd()
        #expect(outcome.errors == "")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test("offers every command of administration, word by word")
    func commands() throws {
        #expect(try offers("a") == ["admin"])
        let first = try offers("admin", "")
        for verb in AdminVerbs.all {
            let words = verb.name.split(separator: " ").map(String.init)
            #expect(first.contains(words[0]), "\(verb.name)")
            if words.count == 2 {
                #expect(try offers("admin", words[0], "").contains(words[1]), "\(verb.name)")
            }
        }
        #expect(try offers("admin", "--json", "signing-key", "ro") == ["rotate"])
    }

    @Test("offers a command's own options, and no other's")
    func options() throws {
        for verb in AdminVerbs.all {
            let words = verb.name.split(separator: " ").map(String.init)
            let operands = verb.syntax.forms[0].operands.map { _ in "x" }
            let given = ["admin"] + words + operands + ["--"]
            let offered = try offers(given)
            #expect(
                Set(offered) == Set(ServerCommand.syntax.options(of: verb.syntax).map(\.long)),
                "\(verb.name)")
        }
    }
}
