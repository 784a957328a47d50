// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("readers") struct ReaderTests {
        private static let name = Person.daemon.account

        @Test("each reader is listed with its features")
        func listing() throws {
            let fixture = try DaemonFixture([.storage, .text, .image])
            let client = try fixture.client(.bin)
            try client.send(.readers)
            let readers = try client.rest().compactMap { answer -> ReaderAnswer? in
                if case .reader(let reader) = answer { reader } else { nil }
            }
            let byDriver = Dictionary(
                uniqueKeysWithValues: readers.map {
                    (String(decoding: $0.driver, as: UTF8.self), $0)
                })
            let storage = try #require(byDriver["virtual_device_storage"])
            #expect(storage.features.isSuperset(of: [.identify, .storage, .storageList]))
            let text = try #require(byDriver["virtual_device"])
            #expect(text.features.isDisjoint(with: [.identify, .storage]))
            let image = try #require(byDriver["virtual_image"])
            #expect(image.features.contains(.hostMatching))
        }

        @Test("fingers on two readers: either is accepted, and one failed touch counts once")
        func several() throws {
            let fixture = try DaemonFixture.withTwoReaders()
            for (reader, finger) in [(fixture.storage, "one"), (fixture.text, "two")] {
                let client = try fixture.client()
                try client.send(.login(.daemon, tries: 1))
                // Each asks for a finger.
                try client.wait(for: .touch)
                try client.wait(for: .touch)
                try reader.send(.scan(finger))
                #expect(try client.last().assertion != nil)
                #expect(try fixture.status(of: .daemon).lock == .open)
            }
            let wrong = try fixture.client()
            try wrong.send(.login(.daemon, tries: 1))
            try wrong.wait(for: .touch)
            try wrong.wait(for: .touch)
            try fixture.text.send(.scan("three"))
            #expect(try wrong.last() == .denial(Denial(.noMatch, mismatches: 1)))
            #expect(try fixture.failures(of: .daemon) == 1)
            #expect(fixture.threads <= 5)
        }

        @Test("one of two readers that is unplugged leaves the other")
        func unplugOne() throws {
            let fixture = try DaemonFixture.withTwoReaders()
            #expect(try fixture.loginUnplugging().assertion != nil)
        }

        @Test("a reader that the administrator excludes is not used")
        func ignored() throws {
            let fixture = try DaemonFixture(
                [.text], configuration: "[reader]\nignore = virtual_device:0\n")
            #expect(try fixture.enrol(.daemon, as: "one").reason == .noReader)
            #expect(try fixture.ask(.readers) == .done(DoneAnswer()))
        }

        @Test("reports how the reader expects the finger, and its faults by name")
        func faults() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let faults: [(Int, DenialReason)] = [
                (0, .readerFailed), (4, .readerBusy), (5, .readerConfused), (257, .readerTooHot),
            ]
            for (code, reason) in faults {
                let client = try fixture.client()
                try client.send(.login(.daemon))
                let touch = try client.wait(for: .touch)
                #expect(touch.scan != nil && touch.subject?.isEmpty == false)
                try fixture.storage.send(.error(code))
                #expect(try client.last().reason == reason)
                #expect(try fixture.failures(of: .daemon) == 0)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a login is denied at once if its reader is gone")
        func gone() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try fixture.unplug(fixture.storage)
            #expect(try client.last().reason == .readerRemoved)
            #expect(try fixture.ask(.login(.daemon)) == .denial(Denial(.noReader)))
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("a print that another system took off the reader opens nothing")
        func foreignRemoval() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try fixture.storage.send(.remove("one"))
            try fixture.storage.send(.scan("one"))
            #expect(try client.last().assertion == nil)
        }
    }
}
