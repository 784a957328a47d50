// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A small tree of the same form, with the script that writes the table of the virtual machines.
private struct MeasuredTree {
    private let scratch: Scratch

    /// With a table of these sources in which everything has passed.
    init() throws {
        scratch = try Scratch()
        let script = "Tests/Machine/table.py"
        let files = [
            (
                "docs/contributor/MACHINE-TEST.md",
                "<!-- written by make machine-test -->\n<!-- end -->\n"
            ),
            ("Sources/Device/Daemon/Touch/One.swift", "let one = 1\n"),
            ("Sources/Module/Two.swift", "let two = 2\n"), ("packaging/install.mk", "all:\n"),
            ("README.md", "text\n"),
            (
                script,
                String(decoding: try Layout.read("\(Layout.package)/\(script)"), as: UTF8.self)
            ),
        ]
        for (file, text) in files { try write(text, at: file) }
        try run(
            "git init --quiet && git add . && "
                + "git -c user.name=a -c user.email=a@b commit --quiet --message=all")
        try record("{'one case': '✓', 'another': '✓'}")
    }

    func write(_ text: String, at file: String) throws {
        try scratch.write(file, text)
    }

    /// Writes the table of a run of these sources, in which Debian 13 had this result.
    func record(_ result: String) throws {
        let code =
            "import table; table.write(['one case', 'another'], {'trixie': \(result), "
            + "'bookworm': {'one case': '✓', 'another': '–'}}, table.sources())"
        try run("cd Tests/Machine && python3 -B -c \"\(code)\"")
    }

    /// What is wrong with the table; empty if it is of these sources, and everything has passed.
    func complaints() throws -> String {
        let outcome = try run("python3 -B Tests/Machine/table.py --age || echo old")
        #expect(outcome.isEmpty == !outcome.hasSuffix("old\n"))
        return outcome
    }

    @discardableResult
    func run(_ command: String) throws -> String {
        let outcome = try Program(
            Command(["sh", "-ec", "cd \(scratch.path); \(command)"])
        ).expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output
    }
}

@Suite("The table of the virtual machines")
struct MachineTableTests {
    @Test("is of the sources that were tested, and of others when what is installed changes")
    func sources() throws {
        let tree = try MeasuredTree()
        #expect(try tree.complaints() == "")
        // Text and tests are in no package; a file may move within its target.
        try tree.write("other text\n", at: "README.md")
        try tree.write("new\n", at: "Tests/Machine/new.py")
        try tree.run("mkdir Sources/Device/Daemon/Login && git add Tests")
        try tree.run("git mv Sources/Device/Daemon/Touch/One.swift Sources/Device/Daemon/Login/")
        #expect(try tree.complaints() == "")
        let changes = [
            "echo 'let three = 3' >> Sources/Module/Two.swift",
            "git mv Sources/Module/Two.swift Sources/Device/",
            "git rm --quiet Sources/Module/Two.swift",
            "echo 'others:' >> packaging/install.mk",
            "echo 'let new = 1' > Sources/Module/New.swift; git add Sources",
        ]
        for change in changes {
            let tree = try MeasuredTree()
            try tree.run(change)
            let complaints = try tree.complaints()
            for release in ["Debian 12", "Debian 13"] {
                #expect(complaints.contains("the table's \(release) is of"), "\(change)")
            }
        }
    }

    @Test("says which case has not passed, or was not reached")
    func failures() throws {
        let tree = try MeasuredTree()
        for result in ["{'one case': '✓', 'another': '✗'}", "{'one case': '✓'}"] {
            try tree.record(result)
            let complaints = try tree.complaints()
            #expect(complaints.contains("Debian 13: 1 of 2 cases have not passed"))
            #expect(complaints.contains("the first: another"))
            #expect(!complaints.contains("Debian 12"))
        }
    }
}
