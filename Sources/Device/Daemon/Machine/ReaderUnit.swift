// SPDX-License-Identifier: Apache-2.0
import DBus
import MainContext

/// Controls the systemd units of the reader process.
///
/// signetd may not signal another user's process, so it asks systemd through
/// `org.freedesktop.systemd1.Manager`; see org.freedesktop.systemd1(5). A failure is logged
/// together with the command that an administrator can run instead.
@ServiceActor
struct ReaderUnit {
    private static let (service, socket) = ("signet-reader.service", "signet-reader.socket")
    private static let (systemd, path) = (
        "org.freedesktop.systemd1", "/org/freedesktop/systemd1/unit/signet_2dreader_2eservice"
    )
    /// SIGKILL.
    private static let killed: Int32 = 9

    let bus: Logind
    let journal: DecisionJournal

    /// Logs the reason, kills the reader process with SIGKILL, and waits for systemd's answer.
    ///
    /// The next request starts a new process.
    func kill(_ why: String) async {
        journal.fault("signet-reader \(why): killing it")
        await call(
            "KillUnit", arguments: [.string(Self.service), .string("all"), .int32(Self.killed)],
            answer: "()",
            elseRun: "systemctl kill -s KILL signet-reader")
    }

    /// Whether systemd is still starting the process; false also where it cannot be asked.
    ///
    /// One that does not even answer has a machine that is busy, and is taken to be starting it. The
    /// caller's own limit bounds that.
    func isStarting() async -> Bool {
        let call = BusCall.property(
            "ActiveState", of: "org.freedesktop.systemd1.Unit", at: Self.path, from: Self.systemd)
        do throws(BusFault) {
            let answer = try await bus.answer(to: call, limit: .seconds(5))
            return answer.values.first?.variant?.string == "activating"
        } catch { return error == .timedOut }
    }

    /// How much processor the unit has used, in nanoseconds; nil where systemd does not count.
    func processorTime() async throws(BusFault) -> UInt64? {
        let call = BusCall.property(
            "CPUUsageNSec", of: "org.freedesktop.systemd1.Service", at: Self.path,
            from: Self.systemd)
        let answer = try await bus.answer(to: call, limit: .seconds(5))
        guard case .uint64(let used)? = answer.values.first?.variant, used != .max else {
            return nil
        }
        return used
    }

    /// Restarts the socket unit, because a process other than the unit's own answers on its socket.
    ///
    /// That means that the reader process has passed the socket on. Returns at once.
    func replace() {
        journal.fault(
            "a process other than signet-reader answers on its socket: replacing the socket")
        onService {
            await call(
                "RestartUnit", arguments: [.string(Self.socket), .string("replace")], answer: "(o)",
                elseRun: "systemctl restart signet-reader.socket")
        }
    }

    private func call(
        _ method: String, arguments: [BusValue], answer: String, elseRun command: String
    ) async {
        let call = BusCall(
            to: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
            interface: "org.freedesktop.systemd1.Manager", member: method, arguments: arguments,
            answer: answer)
        do throws(BusFault) {
            try await bus.call(call)
        } catch {
            journal.fault("the request to systemd failed: \(error). Run '\(command)'")
        }
    }
}
