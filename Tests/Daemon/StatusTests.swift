// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a status that says what a login would be told") struct StatusTests {
        private static let name = Person.daemon.bytes

        /// What a login is denied with, which the status has to say before it.
        private func refusal(_ bench: DaemonBench) throws -> Denial? {
            let status = try bench.status(of: .daemon)
            let login = try bench.ask(.login(.daemon, milliseconds: 100)).denial
            #expect(login?.reason == status.refusal?.reason, "\(status)")
            return status.refusal
        }

        @Test("nothing stands in the way of a finger that is enrolled")
        func open() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.status(of: .daemon).refusal == nil)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a closed lid, which is told as it is to a login, and until it is open")
        func lid() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try bench.setLid("state:      closed\n")
            #expect(try refusal(bench)?.reason == .lidClosed)
            try bench.setLid("state:      open\n")
            #expect(try bench.status(of: .daemon).refusal == nil)
        }

        @Test("fingers, key, lockout and reader")
        func account() throws {
            let bench = try DaemonBench([.text])
            #expect(try refusal(bench)?.reason == .notEnrolled)
            try bench.enrol(.daemon, as: "one")
            _ = try bench.ask(.disable(account: Self.name))
            #expect(try refusal(bench)?.reason == .notEnabled)
            _ = try bench.ask(.enable(account: Self.name))
            try bench.setFailures(20, of: .daemon)
            #expect(try refusal(bench)?.reason == .lockedUntilPassword)
            _ = try bench.ask(.unlock(account: Self.name))
            #expect(try bench.status(of: .daemon).refusal == nil)
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try bench.unplug(bench.text)
            #expect(try client.last().reason == .readerRemoved)
            #expect(try refusal(bench)?.reason == .noReader)
        }

        @Test("a TPM that is gone since the daemon was started")
        func vault() throws {
            let tpm = try SoftwareTPM()
            let bench = try DaemonBench.onTPM(tpm.tcti)
            #expect(try bench.status(of: .daemon).refusal == nil)
            try tpm.stop()
            #expect(try refusal(bench)?.reason == .vaultUnavailable)
            try tpm.start()
            #expect(try bench.status(of: .daemon).refusal == nil)
        }

        @Test("no key is made for what a damaged print has left, before somebody deletes it")
        func damaged() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, .rightIndex, as: "one")
            try bench.enrol(.daemon, .leftIndex, as: "one")
            let path = try #require(
                bench.prints(of: .daemon).first { path in
                    let bytes = try? Layout.read(path)
                    return bytes.map { String(decoding: $0, as: UTF8.self).contains("left-index") }
                        ?? false
                })
            try DaemonBench.damage(path)
            let refused = try #require(try bench.ask(.enable(account: Self.name)).denial)
            #expect(refused == Denial(.printsDamaged, finger: .leftIndex))
            #expect(try bench.status(of: .daemon).state == .invalidated, "no key was made")
            let moved = try bench.ask(.migrate(account: Self.name, vault: Bytes("file".utf8)))
            #expect(moved.denial?.reason == .printsDamaged)
            _ = try bench.ask(.delete(account: Self.name, finger: .leftIndex))
            let client = try bench.client()
            try client.send(.enable(account: Self.name))
            let answers = try client.rest()
            #expect(answers.last?.done?.state == .valid)
            let sealed = answers.compactMap { answer -> Finger? in
                guard case .print(let print) = answer, print.intact else { return nil }
                return print.finger
            }
            #expect(sealed == [.rightIndex], "what the key was sealed to")
        }
    }
}
