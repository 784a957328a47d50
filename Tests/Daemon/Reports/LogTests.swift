// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

extension DaemonTests {
    @Suite("receipts") struct LogTests {
        private static let name = Person.daemon.account

        private func log(
            _ fixture: DaemonFixture, first: UInt64 = 0, count: UInt32 = 0
        ) throws -> ReceiptsSent {
            try fixture.receipts(of: .daemon, first: first, count: count)
        }

        private func verify(_ log: ReceiptsSent) throws -> Int { try log.verify() }

        @Test("each login leaves a receipt, in a chain that holds across keys and restarts")
        func chain() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            var signed: [Bytes] = []
            for round in 0..<4 {
                if round == 2 { _ = try fixture.ask(.enable(account: Self.name)) }
                if round == 3 { try fixture.restart() }
                #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
                // One of them does not ask whether the proof still holds.
                let client = round == 1 ? try fixture.client() : nil
                let answer = try fixture.touch(
                    .login(.daemon, challenge: UInt8(round), tries: 1), with: ["one"],
                    client: client)
                signed.append(try #require(answer.assertion).statement)
            }
            let log = try log(fixture)
            #expect(log.last == .done(DoneAnswer()))
            #expect(try verify(log) == 4)
            let entries = try log.receipts.map { try #require(ReceiptEntry($0)) }
            #expect(entries.map(\.statement) == signed)
            #expect(entries.map { $0.grantedCounter != nil } == [true, false, true, true])
            #expect(log.signers.count { $0 == 0x0a } == 2)
        }

        @Test("a thousand receipts and more come whole, from any place and in any number")
        func many() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.addReceipts(1_100, of: .daemon)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            let all = try log(fixture)
            #expect(try verify(all) == 1_101)
            let some = try log(fixture, first: 500, count: 70)
            #expect(some.receipts == Array(all.receipts[500..<570]))
            #expect(try log(fixture, first: 1_100).receipts == [all.receipts[1_100]])
            let none = try log(fixture, first: .max, count: 1)
            #expect(none.receipts.isEmpty && none.last == .done(DoneAnswer()))
        }

        @Test("skipping a long log delays no other request")
        func skipping() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.addReceipts(1_100, of: .daemon)
            let skipping = try fixture.client(.daemon)
            try skipping.send(.log(LogRequest(account: Self.name, first: .max)))
            try #require(try skipping.next() != nil)
            let other = try fixture.client(.bin)
            for _ in 0..<5 {
                #expect(try other.ask(.status(account: Person.bin.account)).status != nil)
            }
            try skipping.send(.cancel)
            #expect(try skipping.last().isLast)
        }

        @Test("receipts that were cut off or altered show, and the next login cannot hide it")
        func damage() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            for _ in 0..<3 { #expect(try fixture.login(.daemon, with: "one").assertion != nil) }
            #expect(try fixture.status(of: .daemon).lock == .open)
            let path = fixture.file("receipts", of: .daemon)
            let whole = try Layout.read(path)
            let texts = try log(fixture).receipts
            try #require(texts.count == 3)

            try DaemonFixture.write(Bytes(whole.dropLast(texts[2].count)), to: path)
            #expect(throws: ChainFault.tailMissing) { try verify(try log(fixture)) }

            var altered = whole
            altered[texts[0].count + texts[1].count / 4] ^= 1
            try DaemonFixture.write(altered, to: path)
            #expect(throws: ChainFault.self) { try verify(try log(fixture)) }

            try DaemonFixture.write(whole + Bytes("torn".utf8), to: path)
            #expect(try log(fixture).last?.reason == .storage)

            try DaemonFixture.write(Bytes(whole.dropLast(texts[2].count)), to: path)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(throws: ChainFault.self) { try verify(try log(fixture)) }
        }
    }
}

extension DaemonFixture {
    /// Writes receipts as if the account had logged in as often. No daemon may be at it.
    func addReceipts(_ count: Int, of person: Person) throws {
        let directory = try StateDirectory.open(state)
        let kept = try #require(try directory.account(person.account, uid: person.uid))
        try kept.addReceipts(count, in: directory, now: Instant(seconds: 1_795_195_440))
    }
}
