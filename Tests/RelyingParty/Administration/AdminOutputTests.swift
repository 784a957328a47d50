// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("What administration shows")
struct AdminOutputTests {
    /// Runs a command with standard output as `redirection` says.
    private func administer(
        _ home: ServerHome, _ words: [String], _ redirection: String
    ) throws -> Outcome {
        let call = [ServerProcess.program, "admin", "--config", try home.configuration()] + words
        return try Program(
            Command(["/bin/sh", "-c", "exec \"$@\" \(redirection)", "sh"] + call)
        ).expectEnd()
    }

    @Test(
        "is not done where it could not be written, and what was made is named",
        arguments: Backend.allCases, [">/dev/full", ">&-"])
    func unwritten(backend: Backend, redirection: String) throws {
        let home = try ServerHome(backend)
        // That makes the keys, and the application.
        try ServerProcess(home).stop()
        for (words, told) in [
            (["key", "add", "shop", "web"], "Revoke it with 'key revoke shop web'"),
            (
                ["activation", "add", "shop", "alice"],
                "a code for 'alice' was created but could not be shown"
            ),
            (
                ["application", "pam-file", "shop"],
                "the output of 'application pam-file' could not be written"
            ),
            (["application", "list", "--json"], "the output of 'application list' could not"),
            (["--help"], "could not be written to standard output"),
        ] {
            let outcome = try administer(home, words, redirection)
            #expect(outcome.ending == .exited(1) && outcome.output == "")
            #expect(outcome.errors.contains(told), "\(outcome.errors)")
        }
        // It is as standard error said.
        #expect(try home.administer("key", "revoke", "shop", "web").succeeded)
    }
}
