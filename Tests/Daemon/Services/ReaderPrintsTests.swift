// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("what readers store") struct ReaderPrintsTests {
        private func prints(_ answers: [Answer]) -> [StoredPrintAnswer] {
            answers.compactMap { answer in
                answer.own(StoredPrintAnswer.self)
            }
        }

        private func ask(
            _ played: PlayedFixture, _ action: StorageAction
        ) throws -> (prints: [StoredPrintAnswer], last: Answer) {
            let client = try played.fixture.client()
            try client.send(.readerPrints(ReaderPrintsRequest(action)))
            let answers = try client.rest()
            return (prints(answers), try #require(answers.last))
        }

        @Test(
            "root sees whose each print is", arguments: PlayedReader.Model.allCases.filter(\.lists))
        func list(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.foreign("two"))
            let (prints, last) = try ask(played, .list)
            // In an order that does not depend on the reader's.
            let own = prints.filter { $0.account != nil }
            #expect(prints.count == 2)
            #expect(own.map(\.account) == [Person.daemon.account])
            #expect(own.first?.finger == .rightIndex)
            #expect(last.done != nil)
            #expect(played.reader.stored == ["one", "two"])
        }

        @Test("only root sees or deletes them", arguments: StorageAction.allCases)
        func refused(action: StorageAction) throws {
            let played = try PlayedFixture(.elanmoc)
            try played.reader.send(.foreign("two"))
            let client = try played.fixture.client(.daemon)
            #expect(
                try client.ask(.readerPrints(ReaderPrintsRequest(action))).reason == .notPermitted)
            #expect(played.reader.stored == ["two"])
        }

        @Test(
            "a print that no account has is deleted, and the finger can be enrolled then",
            arguments: PlayedReader.Model.allCases.filter(\.lists))
        func deleteForeign(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.foreign("two"))
            #expect(try ask(played, .deleteForeign).last.done?.prints == 1)
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
            #expect(
                try played.enrol(.daemon, .leftIndex, as: "two", checking: true).done?.prints == 2)
        }

        @Test(
            "all are deleted, and no account has a finger there afterwards",
            arguments: PlayedReader.Model.allCases)
        func clear(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.foreign("two"))
            #expect(try ask(played, .clear).last.done != nil)
            #expect(played.reader.stored.isEmpty)
            #expect(try played.fixture.ask(.login(.daemon)).reason == .notEnrolled)
            #expect(try played.enrol(as: "one").done?.prints == 1)
            #expect(try played.login(with: "one").assertion != nil)
        }
    }
}
