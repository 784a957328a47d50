// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("faults of the disk") struct DiskTests {
        private static let name = Person.daemon.account

        /// Starts the daemon with its state on a small disk that only it sees.
        private func fixture() throws -> DaemonFixture {
            let script = """
                state=$4
                mount -t tmpfs -o size=256k,mode=755 state "$state" && exec "$@"
                """
            return try DaemonFixture(
                [.text],
                wrapper: [
                    "unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
                ])
        }

        @Test("a full disk refuses the touch before the reader is asked, and nothing is lost")
        func full() throws {
            let fixture = try fixture()
            try fixture.enrol(.daemon, as: "one")
            let filled = try fixture.fill()
            #expect(try fixture.ask(.login(.daemon)).reason == .storage)
            let verify = Request.verify(account: Self.name, timeoutMilliseconds: 1_000)
            #expect(try fixture.ask(verify).reason == .storage)
            #expect(try fixture.enrol(.daemon, .leftIndex, as: "two").reason == .storage)
            #expect(try fixture.status(of: .daemon).prints == 1)
            _ = unsafe unlink(filled)
            #expect(try fixture.status(of: .daemon).state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a disk that fills while the finger is awaited gives no proof without a receipt")
        func fullAtTouch() throws {
            let fixture = try fixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            let filled = try fixture.fill()
            try fixture.text.send(.scan("one"))
            #expect(try client.last().reason == .storage)
            _ = unsafe unlink(filled)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a read-only disk refuses the touch and any change; status still works")
        func readOnly() throws {
            let fixture = try fixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.remount("ro")
            #expect(try fixture.ask(.login(.daemon)).reason == .storage)
            #expect(try fixture.ask(.disable(account: Self.name)).reason == .storage)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).reason == .storage)
            #expect(try fixture.ask(.enable(account: Self.name)).reason == .storage)
            #expect(try fixture.status(of: .daemon).prints == 1)
            try fixture.remount("rw")
            #expect(try fixture.status(of: .daemon).state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test(
            "a disk that is full, or read-only, fails a change as a whole, and it can be made later",
            arguments: Step.all.filter { $0.failures <= 2 && !$0.isByHand })
        func steps(_ step: Step) throws {
            for isFull in [true, false] {
                let fixture = try fixture()
                try step.begin(fixture)
                try step.prepare(fixture)
                let before = try AccountImage(of: step.person, fixture)
                var filled: String?
                if isFull { filled = try fixture.fill() } else { try fixture.remount("ro") }
                let answer = try step.run(fixture)
                if let filled {
                    _ = unsafe unlink(filled)
                } else {
                    try fixture.remount("rw")
                    #expect(answer.reason == .storage)
                }
                #expect(answer.reason == .storage || isFull, "\(answer)")
                let after = try AccountImage(of: step.person, fixture)
                if answer.reason == .storage { #expect(after.isLike(before), "\(after)") }
                #expect(try step.run(fixture).reason != .storage)
            }
        }

        @Test("a state that others may write to is not used")
        func untrusted() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(unsafe chmod(fixture.state, 0o777) == 0)
            fixture.program.signal(SIGTERM)
            try fixture.program.expectEnd()
            let again = try TestSupport.Program(
                Command([
                    Layout.products + "/testfixture", "daemon", "--state", fixture.state,
                    "--socket", fixture.socket, "--configuration", fixture.configuration,
                    "--readers", fixture.directory + "/readers.sock",
                ]))
            #expect(try again.expectEnd().ending == .exited(1))
            #expect(again.errors.contains("unsafe mode"))
            #expect(unsafe access(fixture.socket, F_OK) != 0)
        }
    }
}

extension DaemonFixture {
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
