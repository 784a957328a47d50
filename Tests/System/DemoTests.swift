// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@Suite("the demo", .timeLimit(.minutes(10)))
struct DemoTests {
    private func demo(_ arguments: String...) throws -> Program {
        try Program(Command([Built.program("testfixture"), "demo"] + arguments))
    }

    @Test("runs as expected in every scene")
    func whole() throws {
        let outcome = try demo().expectEnd(within: .seconds(540))
        let output = outcome.output
        // What went wrong comes first: the whole is long.
        let fault = output.firstRange(of: "[not as expected]").map { output[$0.lowerBound...] }
        #expect(outcome.ending == .exited(0), "\(fault ?? "")\n\(outcome.errors)")
        #expect(output.contains("scenes, all as expected"), "\(output.suffix(400))")
        #expect(!output.contains(HostFixture.alice.password), "the demo shows a password")
    }

    @Test("leaves nothing behind when it is stopped in the middle", arguments: [SIGINT, SIGTERM])
    func stopped(signal: Int32) throws {
        let demo = try demo()
        try demo.expect("or type the password: ", within: .seconds(240))
        let stages = children(of: demo.pid)
        let processes = stages + stages.flatMap(children)
        #expect(processes.count >= 4)
        demo.signal(signal)
        let outcome = try demo.expectEnd()
        #expect(outcome.ending == .exited(128 + signal))
        #expect(outcome.output.hasSuffix("stopped. Nothing is left behind.\n"))
        #expect(processes.filter { kill($0, 0) == 0 }.isEmpty)
    }

    @Test("is refused to users other than root, and with a surplus argument")
    func refused() throws {
        let word = try demo("x").expectEnd()
        #expect(word.ending == .exited(2))
        #expect(word.errors.contains("usage: testfixture demo"))

        let program = try Built.program("testfixture")
        let host = try HostFixture()
        let outcome = try host.run([program, "demo"], as: HostFixture.alice)
        #expect(outcome.ending == .exited(2))
        #expect(outcome.errors.contains("the demo needs root"))
    }

    /// The processes whose parent this is.
    private func children(of parent: Int32) -> [Int32] {
        Layout.entries(of: "/proc").compactMap { Int32($0) }.filter { pid in
            guard let stat = try? Layout.read("/proc/\(pid)/stat") else { return false }
            // The name in brackets may hold anything.
            let text = String(decoding: stat, as: UTF8.self)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == "\(parent)"
        }
    }
}
