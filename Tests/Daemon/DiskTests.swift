// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("faults of the disk") struct DiskTests {
        private static let name = Person.daemon.bytes

        /// Starts the daemon with its state on a small disk that only it sees.
        private func bench() throws -> DaemonBench {
            let script = """
                state=$4
                mount -t tmpfs -o size=256k,mode=755 state "$state" && exec "$@"
                """
            return try DaemonBench(
                [.text],
                wrapper: [
                    "unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
                ])
        }

        @Test("a full disk refuses the touch before the reader is asked, and nothing is lost")
        func full() throws {
            let bench = try bench()
            try bench.enrol(.daemon, as: "one")
            let filled = try bench.fill()
            #expect(try bench.ask(.login(.daemon)).reason == .storage)
            let verify = Request.verify(account: Self.name, timeoutMilliseconds: 1_000)
            #expect(try bench.ask(verify).reason == .storage)
            #expect(try bench.enrol(.daemon, .leftIndex, as: "two").reason == .storage)
            #expect(try bench.status(of: .daemon).prints == 1)
            _ = unsafe unlink(filled)
            #expect(try bench.status(of: .daemon).state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a disk that fills while the finger is awaited gives no proof without a receipt")
        func fullAtTouch() throws {
            let bench = try bench()
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            let filled = try bench.fill()
            try bench.text.send(.scan("one"))
            #expect(try client.last().reason == .storage)
            _ = unsafe unlink(filled)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a read-only disk refuses the touch and any change, and still tells how things stand")
        func readOnly() throws {
            let bench = try bench()
            try bench.enrol(.daemon, as: "one")
            try bench.remount("ro")
            #expect(try bench.ask(.login(.daemon)).reason == .storage)
            #expect(try bench.ask(.disable(account: Self.name)).reason == .storage)
            #expect(try bench.ask(.delete(account: Self.name, finger: nil)).reason == .storage)
            #expect(try bench.ask(.enable(account: Self.name)).reason == .storage)
            #expect(try bench.status(of: .daemon).prints == 1)
            try bench.remount("rw")
            #expect(try bench.status(of: .daemon).state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test(
            "a disk that is full, or read-only, fails a change as a whole, and it can be made later",
            arguments: Step.all.filter { $0.failures <= 2 && !$0.isByHand })
        func steps(_ step: Step) throws {
            for isFull in [true, false] {
                let bench = try bench()
                try step.begin(bench)
                try step.prepare(bench)
                let before = try AccountImage(of: step.person, bench)
                var filled: String?
                if isFull { filled = try bench.fill() } else { try bench.remount("ro") }
                let answer = try step.run(bench)
                if let filled {
                    _ = unsafe unlink(filled)
                } else {
                    try bench.remount("rw")
                    #expect(answer.reason == .storage)
                }
                #expect(answer.reason == .storage || isFull, "\(answer)")
                let after = try AccountImage(of: step.person, bench)
                if answer.reason == .storage { #expect(after.isLike(before), "\(after)") }
                #expect(try step.run(bench).reason != .storage)
            }
        }

        @Test("a state that others may write to is not used")
        func untrusted() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(unsafe chmod(bench.state, 0o777) == 0)
            bench.program.signal(SIGTERM)
            try bench.program.expectEnd()
            let again = try TestSupport.Program(
                Command([
                    Layout.products + "/testbench", "daemon", "--state", bench.state,
                    "--socket", bench.socket, "--configuration", bench.configuration,
                    "--readers", bench.directory + "/readers.sock",
                ]))
            #expect(try again.expectEnd().ending == .exited(1))
            #expect(again.errors.contains("unsafe mode"))
            #expect(unsafe access(bench.socket, F_OK) != 0)
        }
    }
}

extension DaemonBench {
    /// The state as the daemon sees it, which may be on a disk of its own.
    private var seenState: String { "/proc/\(program.pid)/root\(state)" }

    /// Fills the daemon's disk; the path of what does.
    fileprivate func fill() throws -> String {
        let path = seenState + "/filling"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let block = Bytes(repeating: 0, count: 4_096)
        while unsafe Glibc.write(file, block, block.count) > 0 {}
        #expect(errno == ENOSPC)
        return path
    }

    fileprivate func remount(_ mode: String) throws {
        let outcome = try TestSupport.Program(
            Command([
                "nsenter", "--mount", "--target", "\(program.pid)", "mount", "-o",
                "remount,\(mode)", state,
            ])
        ).expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
    }
}
