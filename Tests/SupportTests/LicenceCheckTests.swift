// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("checks/licences")
struct LicenceCheckTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let copy = "cp -a --parents -t \(scratch.path) checks/licences"
        let outcome = try Program(Command(["sh", "-c", "cd \(Layout.package) && \(copy)"]))
            .expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    /// Runs the check on a tree with one file more.
    private func complaints(about file: String, _ text: String) throws -> String? {
        try scratch.write(file, Array(text.utf8), mode: 0o644)
        let outcome = try Program(Command(["bash", scratch.at("checks/licences")])).expectEnd()
        return outcome.succeeded ? nil : outcome.errors
    }

    @Test(
        "passes a file that names the licence, and one that needs none",
        arguments: [
            ("a.swift", "// SPDX-License-Identifier: Apache-2.0\nlet a = 1\n"),
            ("b/run", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"),
            ("c.h", "/* SPDX-License-Identifier: Apache-2.0 */\n"),
            ("notes.md", "# Notes\n"), ("empty.swift", ""),
        ])
    func passes(_ file: String, _ text: String) throws {
        #expect(try complaints(about: file, text) == nil)
    }

    @Test(
        "refuses a source or script without it, with another, or with it far below the top",
        arguments: [
            ("a.swift", "let a = 1\n"), ("b/run", "#!/bin/sh\necho\n"), ("c.py", "pass"),
            ("d.swift", "// SPDX-License-Identifier: MIT\n"),
            ("e.swift", "//\n//\n//\n//\n// SPDX-License-Identifier: Apache-2.0\n"),
            ("f/module.modulemap", "module F {}\n"),
        ])
    func refuses(_ file: String, _ text: String) throws {
        let complaints = try complaints(about: file, text)
        #expect(complaints?.contains("\(file) does not name its licence") == true)
    }
}
