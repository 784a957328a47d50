// SPDX-License-Identifier: Apache-2.0
import DBus
import Glibc
import MainContext
import TestSupport
import Testing

/// signet-fprint on a fixture's bus, and its clients.
final class InterfaceFixture {
    let desktop: DesktopFixture
    private(set) var program: TestSupport.Program
    private let idle: String
    private let rest: String
    var daemon: DaemonFixture { desktop.daemon }

    /// Starts it, and waits until it has its name.
    init(
        _ kinds: [DaemonFixture.Kind] = [.storage], configuration: String = "",
        enrolled: Bool = true, idle: String = "-", rest: String = "50", usb: Bool = false
    ) throws {
        desktop = try DesktopFixture(kinds, configuration: configuration, enrolled: enrolled)
        if usb {
            let nodes = desktop.daemon.directory + "/usb"
            try #require(unsafe mkdir(nodes, 0o755) == 0 && mkdir(nodes + "/001", 0o755) == 0)
        }
        (self.idle, self.rest) = (idle, rest)
        program = try Self.start(desktop, idle: idle, rest: rest)
    }

    deinit { program.signal(SIGKILL) }

    private static func start(
        _ desktop: DesktopFixture, idle: String, rest: String
    ) throws -> TestSupport.Program {
        let notices = try ReadinessNotices(at: desktop.daemon.directory + "/fprint-notify")
        let directory = desktop.daemon.directory
        let program = try TestSupport.Program(
            Command(
                [
                    Layout.products + "/testfixture", "desktop", desktop.daemon.socket,
                    desktop.bus.socket, idle, directory + "/passed", rest,
                ], environment: ["NOTIFY_SOCKET": directory + "/fprint-notify"]))
        guard notices.hearReady(within: .patience) else {
            throw TestFault.deadline(awaited: "signet-fprint", transcript: program.errors)
        }
        return program
    }

    /// A client of the bus, which is root's.
    func client() throws -> DesktopBusClient { try DesktopBusClient(on: desktop.bus) }
}

/// A client of signet-fprint that calls it, and hears what it is told.
final class DesktopBusClient: Sendable {
    /// What a call ended with: values, or the end of an error's name.
    enum Outcome: Equatable, Sendable {
        case values([BusValue])
        case error(String)

        static let done = Outcome.values([])
    }

    static let name = "net.reactivated.Fprint"
    static let device = "/net/reactivated/Fprint/Device/0"
    private static let limit = Duration.seconds(20)

    private let connection: BusConnection
    private let heard: Heard

    /// What was heard, in its order.
    @ServiceActor
    private final class Heard {
        var signals: [String] = []
        var subscriptions: [BusSubscription?] = []
        private var waiting: [(String, CheckedContinuation<Void, Never>)] = []

        nonisolated init() {}

        func take(_ signal: String) {
            signals.append(signal)
            for (wanted, continuation) in waiting where wanted == signal { continuation.resume() }
            waiting.removeAll { $0.0 == signal }
        }

        func wait(for signal: String) async {
            if signals.contains(signal) { return }
            await withCheckedContinuation { waiting.append((signal, $0)) }
        }
    }

    init(on bus: PrivateBus) throws {
        let (socket, heard) = (bus.socket, Heard())
        self.heard = heard
        connection = try waiting {
            let connection = try await BusConnection.connect(socket: socket, limit: .seconds(10))
            let owner = try await connection.owner(of: Self.name, limit: Self.limit)
            for (member, type) in [
                ("VerifyFingerSelected", "(s)"), ("VerifyStatus", "(sb)"), ("EnrollStatus", "(sb)"),
            ] {
                let signal = BusSignal(
                    from: owner, path: Self.device, interface: Self.name + ".Device",
                    member: member, type: type)
                heard.subscriptions.append(
                    connection.subscribe(to: signal) { values in
                        heard.take("\(member) \(Self.text(values))")
                    })
            }
            let changes = BusSignal(
                from: owner, path: Self.device, interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged", type: "(sa{sv}as)")
            heard.subscriptions.append(
                connection.subscribe(to: changes) { values in
                    guard case .array(_, let entries) = values[1] else { return }
                    for case .entry(.string(let name), .variant(.boolean(let value))) in entries {
                        heard.take("\(name) \(value)")
                    }
                })
            for (member, type) in [
                ("InterfacesAdded", "(oa{sa{sv}})"), ("InterfacesRemoved", "(oas)"),
            ] {
                let signal = BusSignal(
                    from: owner, path: "/net/reactivated/Fprint",
                    interface: "org.freedesktop.DBus.ObjectManager", member: member, type: type)
                heard.subscriptions.append(
                    connection.subscribe(to: signal) { values in
                        guard case .objectPath(let path)? = values.first else { return }
                        heard.take("\(member) \(path)")
                    })
            }
            _ = try await connection.owner(of: Self.name, limit: Self.limit)
            return connection
        }
    }

    private static func text(_ values: [BusValue]) -> String {
        values.map { value in
            switch value {
            case .string(let text): text
            case .boolean(let flag): "\(flag)"
            default: "\(value)"
            }
        }.joined(separator: " ")
    }

    /// Calls a method of the device, or of another object.
    func call(
        _ member: String, _ argument: String? = nil, answer: String = "()",
        of interface: String = "Device", at path: String = DesktopBusClient.device
    ) throws -> Outcome {
        try waiting {
            await self.outcome(member, argument, answer: answer, of: interface, at: path)
        }
    }

    /// The devices, as the manager lists them.
    func devices() throws -> Outcome {
        try call("GetDevices", answer: "(ao)", of: "Manager", at: "/net/reactivated/Fprint/Manager")
    }

    /// Makes a call and does not wait for it.
    func begin(_ member: String, _ argument: String? = nil) throws -> PendingCall {
        let pending = PendingCall()
        try waiting {
            _ = onService {
                pending.end(
                    await self.outcome(
                        member, argument, answer: "()", of: "Device", at: Self.device))
            }
        }
        return pending
    }

    @ServiceActor
    private func outcome(
        _ member: String, _ argument: String?, answer: String, of interface: String, at path: String
    ) async -> Outcome {
        let call = BusCall(
            to: Self.name, path: path,
            interface: interface.contains(".") ? interface : "\(Self.name).\(interface)",
            member: member, arguments: argument.map { [.string($0)] } ?? [], answer: answer)
        do throws(BusFault) {
            return .values(try await connection.call(call, limit: Self.limit).values)
        } catch {
            guard case .refused(let text) = error else { return .error("\(error)") }
            // GDBus.Error:net.reactivated.Fprint.Error.ClaimDevice: …
            let name = text.split(separator: ":").dropFirst().first ?? ""
            return .error(String(name.split(separator: ".").last ?? ""))
        }
    }

    /// Reads a property of the device.
    func property(_ name: String) throws -> BusValue? {
        try waiting {
            try await self.connection.call(
                .property(name, of: Self.name + ".Device", at: Self.device, from: Self.name),
                limit: Self.limit
            ).values.first
        }
    }

    /// Waits until this was heard.
    func wait(for signal: String) throws {
        let heard = heard
        try waiting { await heard.wait(for: signal) }
    }

    /// Forgets what was heard so far, so that `wait` waits for what comes from now on.
    func forget() throws {
        let heard = heard
        _ = try property("name")
        try waiting { heard.signals = [] }
    }

    /// What was heard so far, and how much of it came before an answer of the service now.
    func signals() throws -> [String] {
        _ = try property("name")
        let heard = heard
        return try waiting { heard.signals }
    }

    /// Subscribes to so many different signals of the service.
    func subscribe(_ count: Int) throws {
        let (connection, heard) = (connection, heard)
        try waiting {
            for number in 0..<count {
                let signal = BusSignal(
                    from: Self.name, path: "/net/reactivated/Fprint/Device/\(number)",
                    interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                    type: "(sa{sv}as)")
                heard.subscriptions.append(connection.subscribe(to: signal) { _ in })
            }
            // The bus knows them all when it answers.
            _ = try await connection.owner(of: Self.name, limit: Self.limit)
        }
    }

    /// Leaves the bus.
    func leave() throws {
        try waiting { self.connection.close() }
    }
}

/// A call that was made and is not waited for yet.
final class PendingCall: Sendable {
    private let state = State()

    @ServiceActor
    private final class State {
        var outcome: DesktopBusClient.Outcome?
        var waiting: CheckedContinuation<Void, Never>?

        nonisolated init() {}
    }

    @ServiceActor
    fileprivate func end(_ outcome: DesktopBusClient.Outcome) {
        state.outcome = outcome
        state.waiting?.resume()
        state.waiting = nil
    }

    /// Waits for what the call ends with.
    func outcome() throws -> DesktopBusClient.Outcome {
        let state = state
        let outcome = try waiting {
            if state.outcome == nil { await withCheckedContinuation { state.waiting = $0 } }
            return state.outcome
        }
        return try #require(outcome)
    }
}
