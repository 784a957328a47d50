// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension PlayedFixture {
    /// Whether the account's fingers can be used, as the daemon reports it.
    fileprivate func states() throws -> [PrintState?] {
        let client = try fixture.client()
        try client.send(.list(account: Person.daemon.account))
        return try client.rest().compactMap { answer in
            if case .print(let print) = answer { print.state } else { nil }
        }
    }
}

extension DriverTests {
    /// What real drivers make of prints that their readers have lost, got from elsewhere, or have no
    /// room for.
    @Suite("real drivers and what their readers store") struct PlayedStorageTests {
        @Test(
            "a print that the reader has lost opens nothing, counts as no attempt, and is enrolled again",
            arguments: PlayedReader.Model.allCases)
        func lost(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.lose("one"))
            let client = try played.fixture.client()
            try client.send(.login(.daemon, tries: 1))
            // One that lists what it stores has the daemon know before it asks.
            let reason: DenialReason = model.lists ? .invalidated : .printLost
            try played.expect(reason) { try client.last() }
            #expect(!client.heard.contains { $0.notice?.kind == .touch })
            try played.expectNoFailures()
            // What the prompt has told is found in the reports.
            #expect(try played.fixture.status(of: .daemon).refusal?.reason == reason)
            if !model.lists { #expect(try played.states() == [.lost]) }
            #expect(try played.enrol(as: "one", checking: model.lists).done?.prints == 1)
            if model.lists {
                let enabled = try played.fixture.ask(.enable(account: Person.daemon.account))
                #expect(enabled.done?.state == .valid)
            }
            #expect(try played.login(with: "one").assertion != nil)
            #expect(try played.fixture.status(of: .daemon).refusal == nil)
            #expect(try played.states() == [.usable])
        }

        @Test("one's lost print keeps neither their other fingers nor other accounts out")
        func lostOfSeveral() throws {
            let played = try PlayedFixture(.synaptics, enrolled: "one")
            try played.enrol(.daemon, .leftIndex, as: "two", checking: true)
            try played.reader.send(.lose("one"))
            let client = try played.fixture.client()
            try client.send(.login(.daemon, tries: 1))
            #expect(try client.wait(for: .printLost).subject == Bytes("right-index".utf8))
            try client.wait(for: .touch)
            try played.reader.send(.touch("two"))
            #expect(try played.conclude(client).assertion != nil)
            #expect(try played.failures == 0)
            try played.fixture.restart()
            let status = try played.fixture.status(of: .daemon)
            #expect(status.refusal == nil)
            let listed = try played.states()
            #expect(Set(listed) == [.lost, .usable])
            let shown = try played.fixture.statusParts(of: .daemon).compactMap { part in
                if case .print(let print) = part { print.state } else { nil }
            }
            #expect(shown == listed)
            #expect(try played.enrol(.bin, as: "three", checking: true).done?.prints == 1)
            // Who guesses with a lost print in the account is counted as ever.
            #expect(try played.login(with: "three").reason == .noMatch)
            #expect(try played.failures == 1)
        }

        @Test(
            "a finger that another system left on the reader is not enrolled, as it could not match",
            arguments: PlayedReader.Model.allCases)
        func foreign(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model)
            try played.reader.send(.foreign("one"))
            if model.lists {
                try played.expect(.fingerOnReader) { try played.enrol(as: "one", checking: true) }
                #expect(played.reader.stored == ["one"])
            } else {
                // Compared with the prints that are asked for, and no others: nothing is in the way.
                #expect(try played.enrol(as: "one").done?.prints == 1)
                #expect(try played.login(with: "one").assertion != nil)
                return
            }
            #expect(try played.enrol(as: "two", checking: true).done?.prints == 1)
            #expect(try played.login(with: "two").assertion != nil)
        }

        @Test(
            "what a former account has left is deleted from its reader, too",
            arguments: PlayedReader.Model.allCases)
        func former(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            #expect(try played.enrol(.bin, as: "two", checking: true).done?.prints == 1)
            let fixture = played.fixture
            // Marks that are not this machine's show no account to be the one that enrolled.
            try DaemonFixture.write(
                "signet-life: 1\n", to: fixture.file("life", of: .bin), mode: 0o600)
            try fixture.restart()
            #expect(try fixture.ask(.login(.bin)).reason == .invalidated)
            try fixture.restart()
            #expect(try fixture.ask(.delete(account: Person.bin.account, finger: nil)).done != nil)
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
            #expect(try played.enrol(.bin, as: "two", checking: true).done?.prints == 1)
        }

        @Test(
            "an account that deletes its fingers leaves those of others on the reader",
            arguments: PlayedReader.Model.allCases, [false, true])
        func others(model: PlayedReader.Model, restarts: Bool) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            #expect(try played.enrol(.bin, as: "two", checking: true).done?.prints == 1)
            if restarts { try played.fixture.restart() }
            let request = Request.delete(account: Person.bin.account, finger: nil)
            #expect(try played.fixture.ask(request).done != nil)
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
        }

        @Test("a full reader is reported as such", arguments: PlayedReader.Model.allCases)
        func full(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model)
            try played.reader.send(.fill)
            let before = played.reader.stored
            try played.expect(.readerFull) {
                try played.enrol(.daemon, .leftIndex, as: "one", checking: model.lists)
            }
            #expect(played.reader.stored == before)
            #expect(try played.fixture.ask(.login(.daemon)).reason == .notEnrolled)
        }

        @Test(
            "a finger that is enrolled again replaces its print",
            arguments: PlayedReader.Model.allCases)
        func again(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            #expect(try played.enrol(as: "one", checking: true).done?.prints == 1)
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
        }

        @Test(
            "an enrolment that ends early leaves fingers and reader of one mind",
            arguments: PlayedReader.Model.allCases)
        func early(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.enrol(.daemon, .leftIndex, as: "two", checking: true)
            let client = try played.fixture.client()
            try client.send(
                .enroll(account: Person.daemon.account, finger: .rightIndex, readerID: nil))
            for _ in 0..<2 {
                try client.wait(for: .touch)
                try played.reader.send(.touch("one"))
            }
            try client.send(.cancel)
            try played.expect(.cancelled) { try client.last() }
            #expect(try played.login(with: "two").assertion != nil)
            #expect(
                try Int(played.fixture.status(of: .daemon).prints) == played.reader.stored.count)
        }

        @Test(
            "the owner of another account's finger is not revealed, even if the reader knows the print",
            arguments: PlayedReader.Model.allCases)
        func taken(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.expect(.fingerNotEnrolled) {
                try played.enrol(.bin, as: "one", checking: true)
            }
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
        }
    }
}
