// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@testable import DBus
@testable import MainContext

/// An object that answers when it is told to.
@ServiceActor
private final class EchoObject: BusObject {
    nonisolated static let path = "/org/signet/Echo"
    nonisolated static let interface = "org.signet.Echo"
    nonisolated static let xml = """
        <node><interface name="org.signet.Echo">
          <method name="Say"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>
          <method name="Wait"/>
          <method name="Fail"/>
          <method name="Lie"><arg type="s" direction="out"/></method>
          <signal name="Said"><arg type="s"/></signal>
          <property name="count" type="u" access="read"/>
          <property name="gone" type="s" access="read"/>
        </interface></node>
        """

    private(set) var calls: [BusMethodCall] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Resumed when a call waits.
    var waits: CheckedContinuation<Void, Never>?

    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue] {
        calls.append(call)
        switch call.member {
        case "Say": return call.arguments
        case "Wait":
            await withCheckedContinuation { continuation in
                waiting.append(continuation)
                waits?.resume()
                waits = nil
            }
            return []
        case "Fail": throw BusMethodFault("org.signet.Error.No", "no")
        default: return [.uint32(1)]
        }
    }

    func property(_ name: String, of interface: String) -> BusValue? {
        name == "count" ? .uint32(UInt32(calls.count)) : nil
    }

    func proceed() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// A bus with an object on it, and a client that calls it.
private struct ServerFixture {
    static let limit = Duration.seconds(10)

    let scratch: Scratch
    let bus: PrivateBus
    let server: BusConnection
    let client: BusConnection
    let object: EchoObject
    let export: BusExport
    let name: String

    @ServiceActor
    init() async throws {
        scratch = try Scratch()
        bus = try PrivateBus(socket: scratch.at("bus"))
        server = try await BusConnection.connect(socket: bus.socket, limit: Self.limit)
        client = try await BusConnection.connect(socket: bus.socket, limit: Self.limit)
        object = EchoObject()
        export = try server.export(
            object, at: EchoObject.path, interfaces: EchoObject.xml)
        try await server.take(name: "org.signet.Echo", limit: Self.limit)
        name = try await client.owner(of: "org.signet.Echo", limit: Self.limit)
    }

    func call(
        _ member: String, _ arguments: [BusValue] = [], answer: String = "()",
        path: String = EchoObject.path
    ) -> BusCall {
        BusCall(
            to: "org.signet.Echo", path: path, interface: EchoObject.interface, member: member,
            arguments: arguments, answer: answer)
    }

    @ServiceActor
    func ask(_ call: BusCall) async throws(BusFault) -> [BusValue] {
        try await client.call(call, limit: Self.limit).values
    }

    /// The client's own unique name.
    @ServiceActor
    func clientName() async throws -> String {
        _ = try await ask(call("Say", [.string("")], answer: "(s)"))
        return try #require(object.calls.last?.sender)
    }
}

private func onServer(
    _ body: @ServiceActor (ServerFixture) async throws -> Void
) async throws {
    MainLoop.runInBackground()
    try await body(ServerFixture())
}

@Suite("an object on a bus", .timeLimit(.minutes(5)))
struct BusServerTests {
    @Test("answers a call with values, and knows the caller by the name that the bus wrote")
    func answers() async throws {
        try await onServer { fixture in
            let said = try await fixture.ask(fixture.call("Say", [.string("ä")], answer: "(s)"))
            #expect(said == [.string("ä")])
            let heard = try #require(fixture.object.calls.first)
            #expect(heard.sender.hasPrefix(":") && heard.sender != fixture.name)
            #expect(heard.path == EchoObject.path && heard.arguments == [.string("ä")])
        }
    }

    @Test("answers with its own errors, and with one for a result of another type")
    func errors() async throws {
        try await onServer { fixture in
            for (member, words) in [
                ("Fail", "org.signet.Error.No"), ("Lie", BusMethodFault.failed),
            ] {
                do throws(BusFault) {
                    _ = try await fixture.ask(
                        fixture.call(member, answer: member == "Lie" ? "(s)" : "()"))
                    Issue.record("\(member) was answered")
                } catch {
                    guard case .refused(let text) = error else {
                        Issue.record("\(member): \(error)")
                        continue
                    }
                    #expect(text.contains(words), "\(text)")
                }
            }
        }
    }

    @Test("is not called with arguments of another type, or for what it does not have")
    func unknown() async throws {
        try await onServer { fixture in
            let calls = [
                fixture.call("Say", [.uint32(1)], answer: "(s)"), fixture.call("Say"),
                fixture.call("Nothing"), fixture.call("Wait", path: "/org/signet/Other"),
            ]
            for call in calls {
                await #expect(throws: BusFault.self) { try await fixture.ask(call) }
            }
            #expect(fixture.object.calls.isEmpty)
            let large = String(repeating: "x", count: ValueCoding.cap)
            await #expect(throws: BusFault.self) {
                try await fixture.ask(fixture.call("Say", [.string(large)], answer: "(s)"))
            }
            #expect(fixture.object.calls.isEmpty)
        }
    }

    @Test("a call that is answered later holds up no other")
    func later() async throws {
        try await onServer { fixture in
            let slow = onService { try? await fixture.ask(fixture.call("Wait")) }
            await withCheckedContinuation { fixture.object.waits = $0 }
            let said = try await fixture.ask(fixture.call("Say", [.string("x")], answer: "(s)"))
            #expect(said == [.string("x")])
            fixture.object.proceed()
            let ended = await slow.value
            #expect(ended == [])
        }
    }

    @Test("has properties; one without a value is an error")
    func properties() async throws {
        try await onServer { fixture in
            @ServiceActor func read(_ name: String) async throws -> [BusValue] {
                try await fixture.ask(
                    .property(
                        name, of: EchoObject.interface, at: EchoObject.path,
                        from: "org.signet.Echo"))
            }
            let count = try await read("count")
            #expect(count == [.variant(.uint32(0))])
            await #expect(throws: BusFault.self) { try await read("gone") }
            await #expect(throws: BusFault.self) { try await read("none") }
        }
    }

    @Test("a signal reaches the client that it is for, and no other; one for all reaches all")
    func signals() async throws {
        try await onServer { fixture in
            let other = try await BusConnection.connect(
                socket: fixture.bus.socket, limit: ServerFixture.limit)
            let signal = BusSignal(
                from: fixture.name, path: EchoObject.path, interface: EchoObject.interface,
                member: "Said", type: "(s)")
            var heard: [String: [String]] = ["client": [], "other": []]
            let subscriptions = [
                fixture.client.subscribe(to: signal) {
                    heard["client"]?.append($0[0].string ?? "")
                },
                other.subscribe(to: signal) { heard["other"]?.append($0[0].string ?? "") },
            ]
            @ServiceActor func say(_ text: String, to client: String?) throws {
                try fixture.server.emit(
                    BusEmission(
                        from: EchoObject.path, interface: EchoObject.interface, member: "Said",
                        arguments: [.string(text)]), to: client)
            }
            // The subscriptions are in force once the bus has answered.
            let name = try await fixture.clientName()
            _ = try await other.owner(of: "org.signet.Echo", limit: ServerFixture.limit)
            try say("you", to: name)
            try say("all", to: nil)
            // Signals and answers keep their order.
            _ = try await fixture.clientName()
            _ = try await other.call(
                fixture.call("Say", [.string("")], answer: "(s)"), limit: ServerFixture.limit)
            #expect(heard == ["client": ["you", "all"], "other": ["all"]])
            #expect(subscriptions.count == 2)
            other.close()
        }
    }

    @Test("changed properties are reported as the standard interface has it")
    func changes() async throws {
        try await onServer { fixture in
            let signal = BusSignal(
                from: fixture.name, path: EchoObject.path,
                interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                type: "(sa{sv}as)")
            var heard: [[BusValue]] = []
            let subscription = fixture.client.subscribe(to: signal) { heard.append($0) }
            _ = try await fixture.clientName()
            try fixture.server.emit(
                .propertiesChanged(
                    [("count", .uint32(3))], of: EchoObject.interface, at: EchoObject.path))
            _ = try await fixture.clientName()
            #expect(
                heard == [
                    [
                        .string(EchoObject.interface), .dictionary([("count", .uint32(3))]),
                        .array(of: "s", []),
                    ]
                ])
            #expect(subscription != nil)
        }
    }

    @Test("malformed signals, paths and descriptions are refused, and so is a second object there")
    func malformed() async throws {
        try await onServer { fixture in
            for xml in ["", "<node>", "<node/>", "<interface name='a.b'/>", "<node>\0</node>"] {
                #expect(throws: BusFault.self, "\(xml)") {
                    _ = try fixture.server.export(
                        fixture.object, at: "/org/signet/Other", interfaces: xml)
                }
            }
            for path in ["", "x", "/a/", "/a\0"] {
                #expect(throws: BusFault.invalidCall) {
                    _ = try fixture.server.export(
                        fixture.object, at: path, interfaces: EchoObject.xml)
                }
            }
            #expect(throws: BusFault.self) {
                _ = try fixture.server.export(
                    fixture.object, at: EchoObject.path, interfaces: EchoObject.xml)
            }
            let good = BusEmission(
                from: EchoObject.path, interface: EchoObject.interface, member: "Said",
                arguments: [.string("\0")])
            #expect(throws: BusFault.invalidCall) { try fixture.server.emit(good) }
            let said = BusEmission(
                from: EchoObject.path, interface: EchoObject.interface, member: "Said")
            for name in ["org.signet.Echo", "", ":", ":1.2\0"] {
                #expect(throws: BusFault.invalidCall) {
                    try fixture.server.emit(said, to: name)
                }
            }
        }
    }

    @Test("it can be called until it is withdrawn, and its name is free once it is given up")
    func withdrawn() async throws {
        MainLoop.runInBackground()
        try await onService { () async -> Result<Void, any Error> in
            do {
                let scratch = try Scratch()
                let bus = try PrivateBus(socket: scratch.at("bus"))
                let limit = ServerFixture.limit
                let server = try await BusConnection.connect(socket: bus.socket, limit: limit)
                let client = try await BusConnection.connect(socket: bus.socket, limit: limit)
                let object = EchoObject()
                var export: BusExport? = try server.export(
                    object, at: EchoObject.path, interfaces: EchoObject.xml)
                try await server.take(name: "org.signet.Echo", limit: limit)
                let call = BusCall(
                    to: "org.signet.Echo", path: EchoObject.path, interface: EchoObject.interface,
                    member: "Say", arguments: [.string("x")], answer: "(s)")
                #expect(try await client.call(call, limit: limit).values == [.string("x")])
                #expect(export != nil)
                export = nil
                await #expect(throws: BusFault.unknown) {
                    try await client.call(call, limit: limit)
                }
                try await server.release(name: "org.signet.Echo", limit: limit)
                await #expect(throws: BusFault.unknown) {
                    try await client.owner(of: "org.signet.Echo", limit: limit)
                }
                return .success(())
            } catch { return .failure(error) }
        }.value.get()
    }

    @Test("the bus says who a client is, until it has left")
    func credentials() async throws {
        try await onServer { fixture in
            let name = try await fixture.clientName()
            let found = try await fixture.server.credentials(of: name, limit: ServerFixture.limit)
            #expect(found.uid == geteuid() && found.pid == getpid())
            #expect(found.process?.hasEnded != true)
            var left = false
            let subscription = fixture.server.followOwner(of: name) { left = left || $0 == nil }
            _ = try await fixture.server.owner(of: name, limit: ServerFixture.limit)
            fixture.client.close()
            while !left {
                _ = try? await fixture.server.owner(
                    of: "org.signet.Echo", limit: ServerFixture.limit)
            }
            await #expect(throws: BusFault.unknown) {
                _ = try await fixture.server.credentials(of: name, limit: ServerFixture.limit)
            }
            for wrong in ["org.signet.Echo", "", "1.2"] {
                await #expect(throws: BusFault.invalidCall) {
                    _ = try await fixture.server.credentials(
                        of: wrong, limit: ServerFixture.limit)
                }
            }
            #expect(subscription != nil)
        }
    }
}
