// SPDX-License-Identifier: Apache-2.0
import DBus
import Dispatch
import MainContext
import TestSupport
import Testing

/// Runs code on the service's thread of this process, and waits for it; for tests on a thread of
/// their own.
func waiting<Value: Sendable>(
    _ body: @escaping @Sendable @ServiceActor () async throws -> Value
) throws -> Value {
    MainLoop.runInBackground()
    let box = ResultBox<Value>()
    let done = DispatchSemaphore(value: 0)
    onService {
        do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
        done.signal()
    }
    done.wait()
    return try #require(box.result).get()
}

/// SAFETY: written before the semaphore is signalled, read after.
private final class ResultBox<Value>: @unchecked Sendable {
    var result: Result<Value, any Error>?
}

/// polkit on a test's bus: it says what it is told to, and knows who asked what about whom.
@ServiceActor
final class PlayedPolkit: BusObject {
    /// What it says about an action.
    enum Rule: Sendable {
        /// It has a password given, and then authorises.
        case yes
        case no
        /// It authorises without a password, as an administrator's rule may.
        case always
        /// Authorised, and kept for a while.
        case kept
        /// It does not answer until it is released.
        case silent
        /// It answers with an error.
        case error
        /// Something else than an answer.
        case malformed
    }

    /// A check that it was asked for.
    struct Check: Equatable, Sendable {
        let action: String
        let client: String
    }

    nonisolated static let verify = "net.reactivated.fprint.device.verify"
    nonisolated static let enroll = "net.reactivated.fprint.device.enroll"
    nonisolated static let setUserName = "net.reactivated.fprint.device.setusername"
    private static let path = "/org/freedesktop/PolicyKit1/Authority"
    private static let xml = """
        <node><interface name="org.freedesktop.PolicyKit1.Authority">
          <method name="CheckAuthorization">
            <arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/>
            <arg type="a{ss}" direction="in"/><arg type="u" direction="in"/>
            <arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/>
          </method>
          <method name="CancelCheckAuthorization"><arg type="s" direction="in"/></method>
        </interface></node>
        """

    private(set) var checks: [Check] = []
    private(set) var cancelled = 0
    private var rules: [String: Rule] = [:]
    private var asked: [(count: Int, CheckedContinuation<Void, Never>)] = []
    private var ended: [CheckedContinuation<Void, Never>] = []
    private var held: [CheckedContinuation<Void, Never>] = []
    private let connection: BusConnection
    private var export: BusExport?

    private init(_ connection: BusConnection) { self.connection = connection }

    /// Starts polkit on a bus; it authorises everything but what is said otherwise.
    nonisolated static func start(on bus: PrivateBus) throws -> PlayedPolkit {
        let socket = bus.socket
        return try waiting {
            let connection = try await BusConnection.connect(socket: socket, limit: .seconds(10))
            let polkit = PlayedPolkit(connection)
            polkit.export = try connection.export(polkit, at: path, interfaces: xml)
            try await connection.take(name: "org.freedesktop.PolicyKit1", limit: .seconds(10))
            return polkit
        }
    }

    /// Leaves the bus.
    nonisolated func end() throws { try waiting { self.connection.close() } }

    nonisolated func set(_ action: String, _ rule: Rule) throws {
        try waiting { self.rules[action] = rule }
    }

    /// The checks so far.
    nonisolated func heard() throws -> [Check] { try waiting { self.checks } }

    /// Waits until so many checks were asked for in all.
    nonisolated func awaitChecks(_ count: Int) throws {
        try waiting {
            if self.checks.count >= count { return }
            await withCheckedContinuation { self.asked.append((count, $0)) }
        }
    }

    /// Waits until a check was cancelled.
    nonisolated func awaitCancellation() throws {
        try waiting {
            if self.cancelled > 0 { return }
            await withCheckedContinuation { self.ended.append($0) }
        }
    }

    /// Answers what it was silent about.
    nonisolated func proceed() throws {
        try waiting {
            for continuation in self.held { continuation.resume() }
            self.held = []
        }
    }

    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue] {
        guard call.member == "CheckAuthorization" else {
            cancelled += 1
            for continuation in ended { continuation.resume() }
            ended = []
            return []
        }
        let action = call.arguments[1].string ?? ""
        let rule = rules[action] ?? .yes
        // Without a question to the user.
        if case .uint32(0) = call.arguments[3], rule.asks {
            return [.structure([.boolean(false), .boolean(true), .array(of: "{ss}", [])])]
        }
        checks.append(Check(action: action, client: Self.client(call.arguments[0])))
        for (count, continuation) in asked where checks.count >= count { continuation.resume() }
        asked.removeAll { checks.count >= $0.count }
        var details: [BusValue] = []
        var isAuthorized = true
        switch rule {
        case .yes, .always: break
        case .no: isAuthorized = false
        case .kept:
            details = [.entry(.string("polkit.temporary_authorization_id"), .string("tmpauthz0"))]
        case .silent: await withCheckedContinuation { held.append($0) }
        case .error: throw BusMethodFault("org.freedesktop.PolicyKit1.Error.Failed", "no")
        case .malformed: return [.string("yes")]
        }
        return [
            .structure([
                .boolean(isAuthorized), .boolean(false), .array(of: "{ss}", details),
            ])
        ]
    }

    /// The client that a subject names; empty for any other kind of subject.
    private static func client(_ subject: BusValue) -> String {
        guard case .structure(let members) = subject,
            members.first?.string == "system-bus-name", case .array(_, let entries)? = members.last,
            case .entry(.string("name"), .variant(.string(let name)))? = entries.first
        else { return "" }
        return name
    }
}

extension PlayedPolkit.Rule {
    /// Whether a password is asked for.
    fileprivate var asks: Bool {
        switch self {
        case .yes, .kept, .silent: true
        case .no, .always, .error, .malformed: false
        }
    }
}
