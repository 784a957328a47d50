// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("what another program says")
struct ChildOutputTests {
    private func answer(
        _ program: String, _ arguments: [String], within limit: Duration = .seconds(60)
    ) -> ChildAnswer {
        ChildOutput.of(program, arguments: arguments, cap: 100, within: limit)
    }

    @Test("is taken whole where it succeeds")
    func said() {
        #expect(answer("/bin/echo", ["a", "b"]) == .said(Array("a b\n".utf8)))
        #expect(answer("/bin/true", []) == .said([]))
    }

    @Test("is nothing where it fails, or is not there")
    func failed() {
        #expect(answer("/bin/sh", ["-c", "echo a; exit 1"]) == .failed)
        #expect(answer("/nonexistent/program", []) == .failed)
    }

    @Test("is nothing where it says too much, or is not done in time")
    func unfinished() {
        #expect(answer("/usr/bin/yes", []) == .unfinished)
        #expect(
            answer("/usr/bin/tail", ["-f", "/dev/null"], within: .milliseconds(20)) == .unfinished)
        let closes = "exec >&-; exec /bin/sleep 600"
        #expect(answer("/bin/sh", ["-c", closes], within: .milliseconds(200)) == .unfinished)
    }
}
