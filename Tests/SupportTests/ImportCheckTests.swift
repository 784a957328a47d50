// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// A copy of the sources, in which a test plants what `checks/imports` has to refuse.
private struct SourceTree {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let copy = "cp -a --parents -t \(scratch.path) Package.swift Sources Examples checks"
        let outcome = try Program(Command(["sh", "-c", "cd \(Layout.package) && \(copy)"]))
            .expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    /// Adds a file.
    func plant(_ text: String, at file: String) throws {
        try scratch.write(file, Array(text.utf8), mode: 0o644)
    }

    /// Puts something else in the place of a text in the manifest.
    func replaceInManifest(_ text: String, with other: String) throws {
        let old = String(decoding: try scratch.read("Package.swift"), as: UTF8.self)
        #expect(old.contains(text))
        try scratch.write("Package.swift", Array(old.replacing(text, with: other).utf8))
    }

    func check() throws -> (passes: Bool, complaints: String) {
        // Where the compiler is, which reads the manifest.
        var environment: [String: String] = [:]
        for name in ["PATH", "SWIFT"] {
            if let value = unsafe getenv(name) { environment[name] = unsafe String(cString: value) }
        }
        let outcome = try Program(
            Command(["bash", scratch.at("checks/imports")], environment: environment)
        ).expectEnd(within: .seconds(120))
        return (outcome.succeeded, outcome.errors)
    }
}

@Suite("checks/imports", .timeLimit(.minutes(5)))
struct ImportCheckTests {
    @Test("passes the sources as they are")
    func passes() throws {
        let check = try SourceTree().check()
        #expect(check.passes, "\(check.complaints)")
    }

    @Test("refuses an import from a higher layer, and a type from a higher directory")
    func upward() throws {
        let cases = [
            // Between targets: core from features, wrappers from core, shared from anything.
            ("Sources/Device/State", "import Daemon", "State"),
            ("Sources/Device/Gate", "import State", "Gate"),
            ("Sources/System/Posix", "import Gate", "Posix"),
            ("Sources/Shared/LoginProtocol", "import Posix", "LoginProtocol is pure"),
            ("Sources/Module", "import Posix", "PAMModule"),
            ("Sources/Device/Command", "import Daemon", "Command"),
            ("Sources/System/TPM", "@preconcurrency import COpenSSL", "for Crypto"),
            // Inside the daemon and the server.
            ("Sources/Device/Daemon/Machine", "typealias Planted = Router", "Router"),
            (
                "Sources/Device/Daemon/Touch", "let planted = PAMLogins.self",
                "PAMLogins"
            ),
            // A part that reaches through another for one of that one's own.
            (
                "Sources/Device/Daemon/Login",
                "extension PAMLogins { var planted: Bool { touches.logind.isSuspending } }",
                "reaches through touches for its logind"
            ),
            (
                "Sources/RelyingParty/Records",
                "func planted(store: any Transaction) { _ = store.beginSession }", "beginSession"
            ),
            (
                "Sources/RelyingParty/Records", "typealias Planted = Routes",
                "Routes"
            ),
            ("Sources/RelyingParty/Protocol", "let x: HTTPRequest? = nil", "HTTP"),
            (
                "Sources/RelyingParty/Front",
                "let planted = \"SELECT id FROM accounts\"", "SQL"
            ),
        ]
        // All in one tree, since a check takes seconds: the file of each has to be named.
        let tree = try SourceTree()
        for (number, (directory, code, _)) in cases.enumerated() {
            try tree.plant(
                "// SPDX-License-Identifier: Apache-2.0\n\(code)\n",
                at: "\(directory)/Planted\(number).swift")
        }
        let check = try tree.check()
        #expect(!check.passes)
        for (number, (_, code, named)) in cases.enumerated() {
            #expect(
                check.complaints.contains("Planted\(number).swift")
                    && check.complaints.contains(named), "\(code): \(check.complaints)")
        }
    }

    @Test("refuses a function, a constant and a member that only a higher directory declares")
    func upwardNames() throws {
        let cases = [
            ("func plantedA() {}", "func userA() { plantedA() }"),
            ("let plantedB = 1", "let userB = plantedB"),
            ("extension Int { var plantedC: Int { 1 } }", "let userC = 1.plantedC"),
            ("extension Int { func plantedD() {} }", "func userD() { 1.plantedD() }"),
        ]
        /// All in one tree, since a check takes seconds.
        func check(
            declaring directory: String, using other: String
        ) throws -> (passes: Bool, complaints: String) {
            let tree = try SourceTree()
            for (number, (declaration, use)) in cases.enumerated() {
                let licence = "// SPDX-License-Identifier: Apache-2.0\n"
                let folder = "Sources/Device/Daemon"
                try tree.plant(
                    licence + declaration, at: "\(folder)/\(directory)/Planted\(number).swift")
                try tree.plant(licence + use, at: "\(folder)/\(other)/User\(number).swift")
            }
            return try tree.check()
        }
        let wrong = try check(declaring: "Login", using: "Machine")
        #expect(!wrong.passes)
        for name in ["plantedA", "plantedB", "plantedC", "plantedD"] {
            #expect(wrong.complaints.contains("uses \(name)"), "\(wrong.complaints)")
        }
        // The other way round it is allowed.
        let right = try check(declaring: "Machine", using: "Login")
        #expect(right.passes, "\(right.complaints)")
    }

    @Test("refuses a type of more than 600 lines with its extensions")
    func large() throws {
        let tree = try SourceTree()
        let members = (0..<600).map { "    var planted\($0): Int { \($0) }\n" }.joined()
        try tree.plant(
            "// SPDX-License-Identifier: Apache-2.0\nextension PAMLogins {\n\(members)}\n",
            at: "Sources/Device/Daemon/Login/Planted.swift")
        let check = try tree.check()
        #expect(!check.passes)
        #expect(check.complaints.contains("PAMLogins has "), "\(check.complaints)")
    }

    @Test("refuses a dependency that nothing imports")
    func unused() throws {
        let tree = try SourceTree()
        try tree.replaceInManifest(
            "Systemd: CSystemd Posix", with: "Systemd: CSystemd Posix LoginProtocol")
        let check = try tree.check()
        #expect(!check.passes)
        #expect(
            check.complaints.contains("Systemd depends on LoginProtocol"), "\(check.complaints)")
    }

    @Test("refuses code for Embedded Swift alone, and a symbolic link")
    func shared() throws {
        let tree = try SourceTree()
        try tree.plant(
            "#if hasFeature(Embedded)\n#endif\n", at: "Sources/Shared/LoginProtocol/Planted.swift")
        #expect(try !tree.check().passes)
        let linked = try SourceTree()
        let link = linked.scratch.at("Sources/Module/Linked.swift")
        #expect(
            try Program(Command(["ln", "-s", "Entry.swift", link])).expectEnd().succeeded)
        let check = try linked.check()
        #expect(!check.passes)
        #expect(check.complaints.contains("a symbolic link"), "\(check.complaints)")
    }
}
