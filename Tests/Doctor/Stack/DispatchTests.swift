// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

private func chain(_ lines: String, _ others: [String: String] = [:]) -> Chain {
    var files = others.mapValues { Array($0.utf8) }
    files["service"] = Array(lines.utf8)
    return StackFiles(files).chain(of: "service", type: .auth)
}

/// Runs a chain whose modules return the code that their path's middle names: `pam_auth_err.so`.
private func run(_ lines: String, _ others: [String: String] = [:]) -> (PAMReturnCode, [String]) {
    let chain = chain(lines, others)
    let result = chain.run { index in
        let name = chain.handlers[index].module.dropFirst(4)
        return PAMReturnCode.allCases.first { $0.name == name } ?? .moduleUnknown
    }
    return (result.code, result.calls.map { chain.handlers[$0.index].module })
}

@Suite("libpam's way through a chain")
struct DispatchTests {
    @Test("required continues and remembers the first failure")
    func required() {
        let (code, calls) = run(
            """
            auth required pam_success.so
            auth required pam_maxtries.so
            auth required pam_auth_err.so
            auth sufficient pam_success.so
            """)
        #expect(code == .maxtries)
        #expect(calls.count == 4)
    }

    @Test("requisite ends at a failure, sufficient at a success without one before")
    func ending() {
        let stop = run("auth requisite pam_auth_err.so\nauth required pam_success.so\n")
        #expect(stop.0 == .authErr && stop.1.count == 1)
        let enough = run("auth sufficient pam_success.so\nauth required pam_auth_err.so\n")
        #expect(enough.0 == .success && enough.1.count == 1)
    }

    @Test("a lone sufficient module that fails, and ignored modules alone, give no access")
    func nothing() {
        #expect(run("auth sufficient pam_auth_err.so\n").0 == .permDenied)
        #expect(run("auth required pam_ignore.so\n").0 == .permDenied)
        #expect(run("auth [success=ignore] pam_success.so\n").0 == .permDenied)
        #expect(run("").0 == .permDenied)
    }

    @Test("a failure that is treated as ok is not a success")
    func failureAsOK() {
        #expect(
            run("auth [default=ok] pam_auth_err.so\nauth required pam_success.so\n").0 == .authErr)
        #expect(run("auth [default=done] pam_auth_err.so\n").0 == .authErr)
    }

    @Test("a jump passes over modules, and decides nothing")
    func jump() {
        let (code, calls) = run(
            """
            auth [success=2 default=ignore] pam_success.so
            auth requisite pam_auth_err.so
            auth requisite pam_auth_err.so
            auth required pam_permit_.so
            """)
        #expect(calls == ["pam_success", "pam_permit_"])
        #expect(code == .moduleUnknown)
        #expect(
            run("auth [success=1] pam_success.so\nauth required pam_auth_err.so\n").0 == .permDenied
        )
    }

    @Test("a jump beyond the end denies, one to just behind the last does not")
    func longJump() {
        let text =
            "auth required pam_success.so\nauth [success=2] pam_success.so\nauth required pam_success.so\n"
        #expect(run(text).0 == .permDenied)
        #expect(run(text.replacing("=2", with: "=1")).0 == .success)
        #expect(chain(text).jump(2, from: 1) == nil)
        #expect(chain(text).jump(1, from: 1) == 2)
    }

    @Test("a substack counts as one for jumps, and what is decided in it ends there")
    func substack() {
        let inner = ["inner": "auth sufficient pam_success.so\nauth requisite pam_auth_err.so\n"]
        let after = run("auth substack inner\nauth required pam_maxtries.so\n", inner)
        #expect(after.0 == .maxtries)
        #expect(after.1 == ["pam_success", "pam_maxtries"])
        let over = run(
            "auth [success=1] pam_success.so\nauth substack inner\nauth required pam_success.so\n",
            inner)
        #expect(over.0 == .success)
        #expect(over.1 == ["pam_success", "pam_success"])
        let include = run("auth include inner\nauth required pam_maxtries.so\n", inner)
        #expect(include.0 == .success)
    }

    @Test("reset forgets what came before in its substack")
    func reset() {
        let text =
            "auth required pam_auth_err.so\nauth [default=reset] pam_maxtries.so\nauth required pam_success.so\n"
        #expect(run(text).0 == .success)
    }

    @Test("a line that cannot be read fails")
    func broken() {
        #expect(run("auth required pam_success.so\nauth required\n").0 == .permDenied)
        #expect(run("nonsense\n").0 == .permDenied)
    }

    @Test("a missing include denies, as a line; a missing @include gives up the service")
    func missing() {
        let line = chain("auth required pam_success.so\nauth include gone\n")
        #expect(!line.isAborted)
        #expect(line.run { _ in .success }.code == .permDenied)
        #expect(line.troubles == [.missing(StackPosition(file: "service", line: 2), name: "gone")])
        let whole = chain("auth required pam_success.so\n@include gone\n")
        #expect(whole.isAborted)
        #expect(whole.run { _ in .success }.code == .abort)
    }

    @Test("files that include each other end, and are reported")
    func loop() {
        let found = chain("auth include service\n")
        #expect(found.troubles == [.loop(StackPosition(file: "service", line: 1), name: "service")])
        let mutual = chain("@include other-one\n", ["other-one": "@include service\n"])
        #expect(mutual.isAborted)
        // Each file twice in the next: 2^15 lines, were they all followed.
        var files: [String: String] = [:]
        for depth in 0..<15 {
            files["f\(depth)"] = "auth include f\(depth + 1)\nauth include f\(depth + 1)\n"
        }
        files["f15"] = "auth required pam_success.so\n"
        #expect(chain("auth include f0\n", files).handlers.count <= 2_048)
        // The same of nothing: 100^14 files, were they all read.
        for depth in 0..<15 {
            files["f\(depth)"] = String(repeating: "@include f\(depth + 1)\n", count: 100)
        }
        files["f14"] = "# empty\n"
        #expect(chain("auth include f0\n", files).isAborted)
    }

    @Test("a service without a line of the type asks what 'other' does")
    func other() {
        let found = chain("account required a.so\n", ["other": "auth required pam_deny.so\n"])
        #expect(found.handlers.map(\.module) == ["pam_deny"])
    }
}
