// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestScopes
import TestSupport
import Testing

@testable import HTTPServer

private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

/// Sends a request on a new connection, and returns whether it was answered.
private func isAnswered(_ port: UInt16) throws -> Bool {
    let connection = try RawConnection(port: port)
    connection.send(request)
    return connection.receive(until: "[] 0").contains("200 OK")
}

@Suite("Where a network has all its connections", .serialized, .threadOfItsOwn)
struct ConnectionLimitTests {
    private func server(
        limit: Int, total: Int = 12_000, gate: HandlerGate? = nil
    ) throws -> HTTPServer {
        var configuration = local()
        configuration.addressLimit = limit
        configuration.connectionLimit = total
        return try HTTPServer(configuration) { request in
            if request.path == "/wait" { await gate?.pass() }
            return await echo(request)
        }
    }

    @Test("the one that has waited the longest makes room, and the others stay")
    func longest() async throws {
        let server = try server(limit: 3)
        let used = try RawConnection(port: server.port)
        used.send(request)
        #expect(used.receive(until: "[] 0").contains("200 OK"))
        let silent = try RawConnection(port: server.port)
        let begun = try RawConnection(port: server.port)
        begun.send("GET / HTTP/1.1\r\nHo")
        while server.connectionFigures.open < 3 { await Task.yield() }
        // One that makes progress has not waited.
        used.send(request)
        #expect(used.receive(until: "[] 0").contains("200 OK"))
        #expect(try isAnswered(server.port))
        #expect(silent.receiveAll() == "")
        begun.send("st: a\r\n\r\n")
        #expect(begun.receive(until: "[] 0").contains("200 OK"))
        used.send(request)
        #expect(used.receive(until: "[] 0").contains("200 OK"))
        #expect(server.connectionFigures.shed == 1)
        await server.stop(within: .seconds(1))
    }

    @Test("memory is given back once most of a crowd have gone, and not before")
    func crowd() {
        let connections = Connections(limit: 1_000, networkLimit: 0)
        func add(_ count: Int) -> [Connection] {
            (0..<count).map { _ in
                let connection = Connection(descriptor: -1, peer: "192.0.2.1", within: 1)
                connections.add(connection)
                return connection
            }
        }
        let few = add(255)
        few.forEach(connections.remove)
        #expect(!connections.hasCrowdLeft())
        for _ in 0..<2 {
            let all = add(400)
            #expect(!connections.hasCrowdLeft())
            all.prefix(299).forEach(connections.remove)
            #expect(!connections.hasCrowdLeft())
            all.suffix(101).forEach(connections.remove)
            #expect(connections.hasCrowdLeft())
            #expect(!connections.hasCrowdLeft())
        }
    }

    @Test("one with half a request makes room like a silent one")
    func slow() async throws {
        let server = try server(limit: 1)
        let slow = try RawConnection(port: server.port)
        slow.send("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        while server.connectionFigures.open < 1 { await Task.yield() }
        #expect(try isAnswered(server.port))
        #expect(slow.receiveAll() == "")
        await server.stop(within: .seconds(1))
    }

    @Test("no request that is being handled is cut; if all are, a new connection is closed")
    func handling() async throws {
        let gate = HandlerGate()
        let server = try server(limit: 1, gate: gate)
        let first = try RawConnection(port: server.port)
        first.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        await gate.arrival()
        #expect(try exchange(server.port, request) == "")
        #expect(server.connectionFigures.shed == 0)
        await gate.open()
        #expect(first.receive(until: "[] 0").contains("200 OK"))
        // Now it waits, and makes room.
        #expect(try isAnswered(server.port))
        await server.stop(within: .seconds(1))
    }

    @Test("a neighbour who opens connections without end keeps nobody from an answer")
    func neighbour() async throws {
        let server = try server(limit: 16)
        let port = server.port
        var answered = 0
        for _ in 0..<100 {
            var silent: [SilentConnection] = []
            for _ in 0..<17 { silent.append(try SilentConnection(port: port)) }
            if try isAnswered(port) { answered += 1 }
            #expect(silent.count == 17)
        }
        #expect(answered == 100)
        #expect(server.connectionFigures.open <= 17)
        await server.stop(within: .seconds(1))
    }

    @Test("the limit of all connections is kept in the same way")
    func total() async throws {
        let server = try server(limit: 0, total: 32)
        var silent: [SilentConnection] = []
        for _ in 0..<100 { silent.append(try SilentConnection(port: server.port)) }
        for _ in 0..<50 { #expect(try isAnswered(server.port)) }
        #expect(silent.count == 100)
        #expect(server.connectionFigures.open <= 33)
        #expect(server.connectionFigures.shed >= 68)
        await server.stop(within: .seconds(1))
    }
}

/// A connection that sends nothing, in an array.
private final class SilentConnection {
    private let connection: RawConnection

    init(port: UInt16) throws { connection = try RawConnection(port: port) }
}

/// A connection of the list under test, whose other end tells whether it was shut down.
private final class PairedConnection {
    let connection: Connection
    private let ends: (Int32, Int32)

    init(_ peer: String) throws {
        var pair: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw TestFault.system(call: "socketpair", subject: peer, code: errno)
        }
        ends = (pair[0], pair[1])
        connection = Connection(descriptor: pair[0], peer: peer, within: 60_000_000_000)
    }

    deinit {
        close(ends.0)
        close(ends.1)
    }

    var isShed: Bool {
        var byte: UInt8 = 0
        return unsafe recv(ends.1, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }
}

@Suite("The list of connections")
struct ConnectionsTests {
    /// Adds a connection for each of these addresses.
    private func add(_ peers: [String], to list: Connections) throws -> [PairedConnection] {
        try peers.map { peer in
            let paired = try PairedConnection(peer)
            list.add(paired.connection)
            return paired
        }
    }

    @Test("gives an IPv6 site four times the connections of one of its networks")
    func site() throws {
        let list = Connections(limit: 100, networkLimit: 2)
        let other = try add(["2001:db8:2::1", "198.51.100.1"], to: list)
        let own = try add((0..<8).map { "2001:db8:1:\($0)::1" }, to: list)
        #expect(own.allSatisfy { !$0.isShed })
        // A ninth, although its own network has none.
        #expect(list.makeRoom(for: PeerNetwork("2001:db8:1:99::1")))
        #expect(own[0].isShed)
        #expect(own.dropFirst().allSatisfy { !$0.isShed })
        #expect(other.allSatisfy { !$0.isShed })
        #expect(list.figures.open == 9)
        // The first 64 bits count as one address.
        let more = try add(["2001:db8:3::1", "2001:db8:3::2"], to: list)
        #expect(list.makeRoom(for: PeerNetwork("2001:db8:3::3")))
        #expect(more.map(\.isShed) == [true, false])
    }

    @Test("sheds only connections of the network that has too many")
    func own() throws {
        let list = Connections(limit: 100, networkLimit: 2)
        let other = try add(["198.51.100.1"], to: list)
        let own = try add(["192.0.2.7", "::ffff:192.0.2.7"], to: list)
        #expect(list.makeRoom(for: PeerNetwork("192.0.2.7")))
        #expect(own.map(\.isShed) == [true, false])
        #expect(!other[0].isShed)
    }

    @Test("finds no room where every connection has a request that is being handled")
    func handling() throws {
        let list = Connections(limit: 2, networkLimit: 0)
        let all = try add(["192.0.2.1", "192.0.2.2"], to: list)
        for paired in all { paired.connection.allowHandler() }
        #expect(!list.makeRoom(for: PeerNetwork("192.0.2.3")))
        #expect(all.allSatisfy { !$0.isShed })
        all[1].connection.allow(1_000_000_000)
        #expect(list.makeRoom(for: PeerNetwork("192.0.2.3")))
        #expect(all.map(\.isShed) == [false, true])
    }

    @Test("counts right, in whatever order connections end")
    func ends() throws {
        let list = Connections(limit: 100, networkLimit: 3)
        let all = try add(Array(repeating: "2001:db8::1", count: 3), to: list)
        #expect(list.makeRoom(for: PeerNetwork("2001:db8::1")))
        // The library closes the one that was shed, too.
        for index in [1, 0, 2] { list.remove(all[index].connection) }
        list.remove(all[1].connection)
        #expect(list.figures.open == 0)
        let again = try add(Array(repeating: "2001:db8::1", count: 2), to: list)
        #expect(list.makeRoom(for: PeerNetwork("2001:db8::1")))
        #expect(again.allSatisfy { !$0.isShed })
        #expect(list.figures.open == 2)
        #expect(list.figures.shed == 1)
    }
}
