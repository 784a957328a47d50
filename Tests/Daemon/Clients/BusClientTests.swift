// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import DBus
import Gate
import LoginProtocol
import MainContext
import TestSupport
import Testing

@testable import Daemon

extension DaemonTests {
    @Suite("a client of the bus that was identified before") struct BusClientTests {
        private let account = Person.daemon.account

        private func verify(_ name: BusClientName) -> DesktopVerifyRequest {
            DesktopVerifyRequest(client: name, account: account, finger: nil)
        }

        @Test("is the same client at its next request, and polkit is asked about it each time")
        func again() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            for count in 1...3 {
                let client = try fixture.verify(program)
                try fixture.daemon.storage.send(.scan("one"))
                #expect(try client.last().done?.finger == .rightIndex)
                #expect(try fixture.polkit.heard().count == count)
            }
            try fixture.polkit.set(PlayedPolkit.verify, .no)
            #expect(try fixture.ask(verify(program.name)).reason == .notPermitted)
            // Another user's client is another client.
            try fixture.polkit.set(PlayedPolkit.verify, .yes)
            let other = try fixture.program(of: .games)
            #expect(try fixture.ask(verify(other.name)).reason == .otherRequester)
        }

        @Test("is unknown once its process has ended, and polkit is not asked")
        func ended() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let claim = DesktopClaimRequest(client: program.name, account: nil)
            #expect(try fixture.ask(claim).own(DesktopAccountAnswer.self) != nil)
            let before = try fixture.polkit.heard()
            try program.end()
            #expect(try fixture.ask(claim).reason == .notPermitted)
            #expect(try fixture.ask(verify(program.name)).reason == .notPermitted)
            #expect(try fixture.polkit.heard() == before)
        }

        @Test("is unknown once it has left the bus, although its process lives")
        func left() throws {
            let fixture = try DesktopFixture()
            let connection = try BusPlace(on: fixture.bus)
            let claim = DesktopClaimRequest(client: connection.name, account: nil)
            #expect(try fixture.ask(claim).own(DesktopAccountAnswer.self) != nil)
            try connection.leave()
            #expect(try fixture.ask(claim).reason == .notPermitted)
            #expect(try fixture.ask(verify(connection.name)).reason == .notPermitted)
        }

        @Test("gets no change of fingers for an authorisation that came when it had left")
        func leftMeanwhile() throws {
            let fixture = try DesktopFixture()
            let name = Person.daemon.account
            let requests: [(BusClientName) -> any DaemonRequest] = [
                { DesktopDeleteRequest(client: $0, account: name, finger: nil) },
                {
                    DesktopEnrollRequest(
                        client: $0, account: name, finger: .leftThumb, readerID: nil)
                },
            ]
            try fixture.polkit.set(PlayedPolkit.enroll, .silent)
            for (index, request) in requests.enumerated() {
                let program = try BusPlace(on: fixture.bus)
                let client = try fixture.interface()
                try client.send(Request(request(program.name)))
                try fixture.polkit.awaitChecks(index + 1)
                try program.leave()
                try fixture.polkit.proceed()
                #expect(try client.last().reason == .notPermitted)
                #expect(client.heard.count == 1, "nothing was begun")
            }
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("has left when the daemon's connection to the bus ends, whoever has its name then")
        func otherConnection() throws {
            let scratch = try Scratch()
            let bus = try PrivateBus(socket: scratch.at("bus"))
            let place = try BusPlace(on: bus)
            let (logind, found) = try waiting { [name = place.name, socket = bus.socket] in
                let journal = DecisionJournal(foreground: false)
                let logind = Logind(socket: socket, journal: journal)
                let clients = BusClients(
                    bus: logind, examiner: PresenceExaminer(Configuration()), journal: journal)
                return (logind, try await clients.find(name))
            }
            #expect(try waiting { found.hasLeft } == false)
            bus.end()
            while try waiting({ logind.connections }) < 2 {}
            #expect(try waiting { found.hasLeft })
        }

        @Test("is not taken for one that has its name on a bus that was started anew")
        func otherBus() throws {
            let fixture = try DesktopFixture()
            // A number that clients of the next bus have not reached by themselves.
            for _ in 0..<20 { try BusPlace.pass(on: fixture.bus.socket) }
            let root = try BusPlace(on: fixture.bus)
            let claim = DesktopClaimRequest(client: root.name, account: account)
            #expect(try fixture.ask(claim).own(DesktopAccountAnswer.self) != nil)
            #expect(try fixture.polkit.heard().count == 2, "one for the name of the user")

            fixture.bus.end()
            let bus = try PrivateBus(socket: fixture.bus.socket)
            let polkit = try PlayedPolkit.start(on: bus)
            defer { try? polkit.end() }
            let own = DesktopClaimRequest(
                client: try #require(BusClientName(":1.424242")), account: nil)
            #expect(try fixture.ask(own).reason == .notPermitted, "the daemon is on the new bus")
            let number = try #require(root.name.text.split(separator: ".").last.flatMap { Int($0) })
            let last = try bus.names().compactMap {
                $0.split(separator: ".").last.flatMap { Int($0) }
            }
            .max()
            for _ in try #require(last) + 1..<number { try BusPlace.pass(on: bus.socket) }
            let games = try BusProgram(of: .games, on: bus)
            try #require(games.name == root.name)
            // Root's may verify for others; this one may not.
            #expect(try fixture.ask(verify(games.name)).reason == .otherRequester)
        }
    }

    @Suite("what is asked ahead for a client of the bus") struct AskedAheadTests {
        private let account = Person.daemon.account

        @Test("does not let polkit ask for a password twice, nor about what was refused")
        func claim() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let claim = DesktopClaimRequest(client: program.name, account: "root")
            func actions() throws -> [String] { try fixture.polkit.heard().map(\.action) }
            try fixture.polkit.set(PlayedPolkit.setUserName, .no)
            #expect(try fixture.ask(claim).reason == .notPermitted)
            #expect(try actions() == [PlayedPolkit.setUserName])
            try fixture.polkit.set(PlayedPolkit.setUserName, .yes)
            #expect(try fixture.ask(claim).own(DesktopAccountAnswer.self) != nil)
            #expect(
                try actions().suffix(2) == [PlayedPolkit.setUserName, PlayedPolkit.verify])
            // Either of the two suffices, and neither is not enough.
            try fixture.polkit.set(PlayedPolkit.verify, .no)
            #expect(try fixture.ask(claim).own(DesktopAccountAnswer.self) != nil)
            try fixture.polkit.set(PlayedPolkit.enroll, .no)
            #expect(try fixture.ask(claim).reason == .notPermitted)
        }

        @Test("does not count if polkit took long: a lid that was closed meanwhile is noticed")
        func lid() throws {
            let fixture = try DesktopFixture()
            let client = try fixture.verifyAwaitingPolkit(try fixture.program(of: .daemon))
            try fixture.daemon.setLid("state:      closed\n")
            try fixture.daemon.passTime(2)
            try fixture.polkit.proceed()
            #expect(try client.last().reason == .lidClosed)
        }

        @Test("takes nothing from the time for a finger, however long polkit took")
        func dialogue() throws {
            let fixture = try DesktopFixture()
            let client = try fixture.verifyAwaitingPolkit(try fixture.program(of: .daemon))
            // Longer than `touch.timeout`.
            try fixture.daemon.passTime(100)
            try fixture.polkit.proceed()
            try client.wait(for: .touch)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().done?.finger == .rightIndex)
        }

        @Test("tells nothing else to a client that polkit refuses")
        func refused() throws {
            let fixture = try DesktopFixture(enrolled: false)
            try fixture.daemon.setLid("state:      closed\n")
            try fixture.polkit.set(PlayedPolkit.verify, .no)
            let other = try fixture.program(of: .games)
            let request = DesktopVerifyRequest(client: other.name, account: account, finger: nil)
            #expect(try fixture.ask(request).reason == .notPermitted)
        }
    }
}

/// A connection of this process to a bus, which does nothing there.
final class BusPlace {
    let name: BusClientName
    private let connection: BusConnection
    private let bus: PrivateBus

    init(on bus: PrivateBus) throws {
        self.bus = bus
        let (socket, before) = (bus.socket, Set(try bus.names()))
        let connection = try waiting {
            try await BusConnection.connect(socket: socket, limit: .seconds(10))
        }
        self.connection = connection
        // The other new name is of the program that asked for the names, and has gone.
        let new = try bus.names().filter { !before.contains($0) }
        let there = try waiting { () async throws -> [String] in
            var there: [String] = []
            for name in new {
                let owner = try? await connection.owner(of: name, limit: .seconds(10))
                if owner != nil { there.append(name) }
            }
            return there
        }
        try #require(there.count == 1)
        name = try #require(there.first.flatMap(BusClientName.init))
    }

    /// Leaves the bus, and waits until the bus knows it.
    func leave() throws {
        try waiting { [connection] in connection.close() }
        while try bus.names().contains(name.text) {}
    }

    /// Is on a bus for a moment, which takes a number.
    static func pass(on socket: String) throws {
        try waiting {
            try await BusConnection.connect(socket: socket, limit: .seconds(10)).close()
        }
    }
}
