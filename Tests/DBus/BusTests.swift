// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import TestSupport
import Testing

@testable import DBus
@testable import MainContext

/// A bus, a connection to it, and the calls that logind takes.
private struct BusFixture {
    static let login = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let limit = Duration.seconds(10)

    let scratch: Scratch
    let bus: PrivateBus
    let connection: BusConnection

    @ServiceActor
    init() async throws {
        scratch = try Scratch()
        bus = try PrivateBus(socket: scratch.at("bus"))
        connection = try await BusConnection.connect(socket: bus.socket, limit: Self.limit)
    }

    static var inhibit: BusCall {
        BusCall(
            to: login, path: path, interface: manager, member: "Inhibit",
            arguments: [.string("sleep"), .string("tests"), .string("because"), .string("delay")],
            answer: "(h)")
    }

    static func property(_ name: String) -> BusCall {
        BusCall.property(name, of: manager, at: path, from: login)
    }

    static func sleep(from sender: String) -> BusSignal {
        BusSignal(
            from: sender, path: path, interface: manager, member: "PrepareForSleep", type: "(b)")
    }

    /// Asks the bus itself: what came before the answer has been heard by then.
    @ServiceActor
    func settle() async throws {
        let call = BusCall(
            to: BusConnection.busName, path: "/org/freedesktop/DBus",
            interface: BusConnection.busName, member: "GetId",
            answer: "(s)")
        _ = try await connection.call(call, limit: Self.limit)
    }
}

/// Runs a test where the connection lives.
private func onBus(_ body: @ServiceActor (BusFixture) async throws -> Void) async throws {
    MainLoop.runInBackground()
    try await body(BusFixture())
}

@Suite("a connection to a message bus", .timeLimit(.minutes(5)))
struct BusTests {
    @Test("a method is called, and its answer comes in the form that was asked for")
    func call() async throws {
        try await onBus { fixture in
            let call = BusCall(
                to: BusConnection.busName, path: "/org/freedesktop/DBus",
                interface: BusConnection.busName,
                member: "GetConnectionCredentials", arguments: [.string(BusConnection.busName)],
                answer: "(a{sv})")
            let answer = try await fixture.connection.call(call, limit: BusFixture.limit)
            guard case .array("{sv}", let entries) = answer.values.first else {
                return #expect(answer.values.isEmpty, "an array of entries")
            }
            let names = entries.compactMap { entry in
                if case .entry(let key, .variant) = entry { key.string } else { nil }
            }
            #expect(names.contains("ProcessID"))
        }
    }

    @Test("an answer of another form is refused, however near it is")
    func form() async throws {
        try await onBus { fixture in
            for form in ["(u)", "()", "(ss)", "(as)", "(v)"] {
                let call = BusCall(
                    to: BusConnection.busName, path: "/org/freedesktop/DBus",
                    interface: BusConnection.busName,
                    member: "GetId", answer: form)
                await #expect(throws: BusFault.malformed, "\(form)") {
                    try await fixture.connection.call(call, limit: BusFixture.limit)
                }
            }
        }
    }

    @Test("names, paths and texts that are none are not sent")
    func invalid() async throws {
        try await onBus { fixture in
            let bus = BusConnection.busName
            let path = "/org/freedesktop/DBus"
            let calls = [
                BusCall(to: "no name", path: path, interface: bus, member: "GetId", answer: "(s)"),
                BusCall(to: bus, path: "no/path", interface: bus, member: "GetId", answer: "(s)"),
                BusCall(
                    to: bus, path: path, interface: "interface", member: "GetId", answer: "(s)"),
                BusCall(to: bus, path: path, interface: bus, member: "Get.Id", answer: "(s)"),
                BusCall(to: bus, path: path, interface: bus, member: "GetId", answer: "s"),
                BusCall(to: bus, path: path, interface: bus, member: "GetId", answer: "(s"),
                BusCall(
                    to: bus, path: path, interface: bus, member: "GetNameOwner",
                    arguments: [.string("a\0b")], answer: "(s)"),
                BusCall(
                    to: bus, path: path, interface: bus, member: "GetId",
                    arguments: [.objectPath("x")], answer: "(s)"),
                BusCall(
                    to: bus, path: path, interface: bus, member: "GetId",
                    arguments: [.array(of: "s", [.byte(1)])], answer: "(s)"),
            ]
            for call in calls {
                await #expect(throws: BusFault.invalidCall, "\(call)") {
                    try await fixture.connection.call(call, limit: BusFixture.limit)
                }
            }
            for path in ["bus", "", "/a\0b"] {
                await #expect(throws: BusFault.invalidCall) {
                    _ = try await BusConnection.connect(socket: path, limit: BusFixture.limit)
                }
            }
        }
    }

    @Test("a name without an owner and an unknown method are reported")
    func unknown() async throws {
        try await onBus { fixture in
            await #expect(throws: BusFault.unknown) {
                try await fixture.connection.owner(of: BusFixture.login, limit: BusFixture.limit)
            }
            await #expect(throws: BusFault.unknown) {
                try await fixture.connection.call(BusFixture.inhibit, limit: BusFixture.limit)
            }
            let call = BusCall(
                to: BusConnection.busName, path: "/org/freedesktop/DBus",
                interface: BusConnection.busName,
                member: "Nothing",
                answer: "()")
            await #expect(throws: BusFault.unknown) {
                try await fixture.connection.call(call, limit: BusFixture.limit)
            }
        }
    }

    @Test("a peer that does not answer is awaited up to the limit, and a cancelled call not at all")
    func silence() async throws {
        try await onBus { fixture in
            let logind = try fixture.bus.startLogind()
            try fixture.bus.setSilent(true)
            await #expect(throws: BusFault.timedOut) {
                try await fixture.connection.call(
                    BusFixture.property("LidClosed"), limit: .milliseconds(20))
            }
            let connection = fixture.connection
            let (result, expired) = await limited(to: .milliseconds(20)) {
                do throws(BusFault) {
                    _ = try await connection.call(
                        BusFixture.property("LidClosed"), limit: BusFixture.limit)
                    return Result<Void, BusFault>.success(())
                } catch { return .failure(error) }
            }
            #expect(expired && fault(result) == .cancelled)
            try fixture.bus.setSilent(false)
            let answer = try await connection.call(
                BusFixture.property("LidClosed"), limit: BusFixture.limit)
            #expect(answer.values.first?.variant?.boolean == false)
            logind.signal(SIGKILL)
        }
    }

    private func fault(_ result: Result<Void, BusFault>) -> BusFault? {
        if case .failure(let fault) = result { fault } else { nil }
    }

    @Test("a descriptor that comes is ours until it is released, and then closed")
    func descriptor() async throws {
        try await onBus { fixture in
            let logind = try fixture.bus.startLogind()
            var answer: BusAnswer? = try await fixture.connection.call(
                BusFixture.inhibit, limit: BusFixture.limit)
            #expect(answer?.values == [.handle(0)] && answer?.descriptor != nil)
            try fixture.bus.awaitInhibitors(1)
            #expect(try fixture.bus.lastInhibitor() == "sleep|tests|because|delay")
            answer = nil
            try fixture.bus.awaitInhibitors(0)
            logind.signal(SIGKILL)
        }
    }

    @Test("a missing bus, or a peer that is not a bus, is reported within the limit")
    func noBus() async throws {
        MainLoop.runInBackground()
        let scratch = try Scratch()
        await #expect(throws: BusFault.self) {
            _ = try await BusConnection.connect(socket: scratch.at("none"), limit: BusFixture.limit)
        }
        // It listens, takes the connection, and says nothing.
        let mute = unsafe listen_stream(scratch.at("mute"))
        defer { close(mute) }
        await #expect(throws: BusFault.timedOut) {
            _ = try await BusConnection.connect(
                socket: scratch.at("mute"), limit: .milliseconds(50))
        }
    }

    @Test("a bus that ends is noticed, and then nothing can be asked")
    func end() async throws {
        try await onBus { fixture in
            let connection = fixture.connection
            await withCheckedContinuation { continuation in
                connection.ended = { continuation.resume() }
                fixture.bus.end()
            }
            #expect(!connection.isOpen)
            await #expect(throws: BusFault.closed) {
                _ = try await connection.owner(of: BusFixture.login, limit: BusFixture.limit)
            }
            #expect(connection.subscribe(to: BusFixture.sleep(from: ":1.1")) { _ in } == nil)
        }
    }
}

@Suite("signals of a bus", .timeLimit(.minutes(5)))
struct BusSignalTests {
    @Test("a signal is heard from its sender, until the subscription is released")
    func heard() async throws {
        try await onBus { fixture in
            let logind = try fixture.bus.startLogind()
            let owner = try await fixture.connection.owner(
                of: BusFixture.login, limit: BusFixture.limit)
            var said: [[BusValue]] = []
            var subscription = fixture.connection.subscribe(to: BusFixture.sleep(from: owner)) {
                said.append($0)
            }
            #expect(subscription != nil)
            try await fixture.settle()
            _ = try fixture.bus.sleep()
            try fixture.bus.wake()
            try await fixture.settle()
            #expect(said == [[.boolean(true)], [.boolean(false)]])
            subscription = nil
            _ = try fixture.bus.sleep()
            try await fixture.settle()
            #expect(said.count == 2 && subscription == nil)
            logind.signal(SIGKILL)
        }
    }

    @Test("a signal from any other sender is ignored, whether sent to all or to us alone")
    func forged() async throws {
        try await onBus { fixture in
            let logind = try fixture.bus.startLogind()
            let owner = try await fixture.connection.owner(
                of: BusFixture.login, limit: BusFixture.limit)
            var said: [[BusValue]] = []
            let subscription = fixture.connection.subscribe(to: BusFixture.sleep(from: owner)) {
                said.append($0)
            }
            try await fixture.settle()
            try fixture.bus.forge("PrepareForSleep", "boolean:true")
            for name in try fixture.bus.names() {
                try fixture.bus.forge("PrepareForSleep", "boolean:true", to: name)
            }
            try await fixture.settle()
            #expect(said.isEmpty)
            // And one that says something else than it should, from any sender.
            let loose = fixture.connection.subscribe(to: BusFixture.sleep(from: owner)) {
                said.append($0)
            }
            try fixture.bus.forge("PrepareForSleep", "string:yes")
            try await fixture.settle()
            #expect(said.isEmpty && subscription != nil && loose != nil)
            logind.signal(SIGKILL)
        }
    }

    @Test("a sender by a name that can change hands, and forms that are none, are not taken")
    func refused() async throws {
        try await onBus { fixture in
            let signals = [
                BusFixture.sleep(from: BusFixture.login), BusFixture.sleep(from: ""),
                BusFixture.sleep(from: ":"),
                BusSignal(
                    from: ":1.1", path: "path", interface: BusFixture.manager,
                    member: "PrepareForSleep",
                    type: "(b)"),
                BusSignal(
                    from: ":1.1", path: BusFixture.path, interface: "manager",
                    member: "PrepareForSleep",
                    type: "(b)"),
                BusSignal(
                    from: ":1.1", path: BusFixture.path, interface: BusFixture.manager,
                    member: "Prepare.For",
                    type: "(b)"),
            ]
            for signal in signals {
                #expect(fixture.connection.subscribe(to: signal) { _ in } == nil, "\(signal)")
            }
        }
    }

    @Test("an owner of the daemon's name is sent nothing by users other than root")
    func shield() async throws {
        MainLoop.runInBackground()
        let scratch = try Scratch()
        // Others have to get to the socket.
        try #require(unsafe chmod(scratch.path, 0o755) == 0)
        let policy = "\(Layout.package)/packaging/dbus/org.signet.Daemon.conf"
        let bus = try PrivateBus(socket: scratch.at("bus"), policy: policy)
        try await onService { () -> Result<Void, any Error> in
            do {
                let name = "org.signet.Daemon"
                let connection = try await BusConnection.connect(
                    socket: bus.socket, limit: BusFixture.limit)
                let unique = try #require(try bus.names().first)
                #expect(try bus.lets(uid: 1, sendTo: unique), "without a name it could be")
                try await connection.take(name: name, limit: BusFixture.limit)
                for address in [name, unique] {
                    #expect(try !bus.lets(uid: 1, sendTo: address))
                    #expect(try bus.lets(uid: 0, sendTo: address))
                }
                let second = try await BusConnection.connect(
                    socket: bus.socket, limit: BusFixture.limit)
                await #expect(throws: BusFault.refused("\(name) is taken")) {
                    try await second.take(name: name, limit: BusFixture.limit)
                }
                connection.close()
                second.close()
                return .success(())
            } catch { return .failure(error) }
        }.value.get()
    }

    @Test("the owner of a name is followed when the name changes hands")
    func owner() async throws {
        try await onBus { fixture in
            var owners: [String?] = []
            let subscription = fixture.connection.followOwner(of: BusFixture.login) {
                owners.append($0)
            }
            try await fixture.settle()
            for _ in 0..<2 {
                let logind = try fixture.bus.startLogind()
                try await fixture.settle()
                let owner = try await fixture.connection.owner(
                    of: BusFixture.login, limit: BusFixture.limit)
                #expect(owners.last == owner)
                logind.signal(SIGKILL)
                try logind.expectEnd()
                while owners.last != .some(nil) { try await fixture.settle() }
            }
            #expect(owners.count == 4 && subscription != nil)
        }
    }
}

@Suite("values of a bus")
struct BusValueTests {
    private static let values: [BusValue] = [
        .boolean(true), .byte(255), .int16(-1), .uint16(65_535), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(0.5), .string("ä"), .objectPath("/a/b"),
        .signature("a{sv}"), .handle(3), .variant(.variant(.string(""))),
        .array(of: "s", []), .array(of: "{sv}", [.entry(.string("k"), .variant(.byte(1)))]),
        .structure([.string("x"), .array(of: "(ib)", [.structure([.int32(1), .boolean(false)])])]),
    ]

    @Test("every kind is decoded as it was encoded, and as no other kind")
    func round() throws {
        for value in Self.values {
            #expect(try coded([value], as: "(\(value.signature))") == [value], "\(value)")
            #expect(try coded([value], as: "(\(value.signature)s)") == nil, "\(value)")
            #expect(try coded([value, .byte(1)], as: "(\(value.signature))") == nil)
        }
        #expect(
            try coded(Self.values, as: BusValue.structure(Self.values).signature) == Self.values)
    }

    @Test("what is too large, too deep or too many is refused")
    func bounds() throws {
        let long = String(repeating: "x", count: ValueCoding.cap)
        #expect(try coded([.string(long)], as: "(s)") == nil)
        let many = BusValue.array(of: "y", Array(repeating: .byte(0), count: ValueCoding.count))
        #expect(try coded([many], as: "(ay)") == nil)
        var deep = BusValue.byte(0)
        for _ in 0..<ValueCoding.depth { deep = .variant(deep) }
        #expect(ValueCoding.body([deep]) == nil)
    }

    @Test("what has no form on the bus is not made")
    func unsendable() {
        let values: [BusValue] = [
            .string("\0"), .objectPath(""), .objectPath("a"), .signature("("), .signature("\u{1}"),
            .array(of: "", []), .array(of: "ss", []), .array(of: "s", [.byte(0)]),
            .entry(.variant(.byte(0)), .byte(0)),
        ]
        for value in values { #expect(ValueCoding.body([value]) == nil, "\(value)") }
    }

    private func coded(_ values: [BusValue], as type: String) throws -> [BusValue]? {
        let body = try #require(ValueCoding.body(values))
        return ValueCoding.values(of: body, type: type)
    }
}
