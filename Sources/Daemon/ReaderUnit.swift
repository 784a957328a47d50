import Bus
import Loop

/// The unit of the readers' process.
///
/// signetd has no capability to signal another user's process, so systemd does it
/// (`org.freedesktop.systemd1.Manager`, systemd's org.freedesktop.systemd1(5)).
@ServiceActor
struct ReaderUnit {
    private static let (service, socket) = ("signet-reader.service", "signet-reader.socket")
    private static let killed: Int32 = 9

    let bus: Logind
    let journal: DecisionJournal

    /// Kills the process for what it does or does not do, and returns when that is done: the next
    /// request gets another one.
    func kill(_ why: String) async {
        journal.fault("signet-reader \(why): killing it")
        await call(
            "KillUnit", [.string(Self.service), .string("all"), .int32(Self.killed)], answer: "()",
            elseRun: "systemctl kill -s KILL signet-reader")
    }

    /// Has the socket made anew, where somebody else answers there: the process has handed it on.
    func replace() {
        journal.fault(
            "another process than signet-reader answers on its socket: replacing the socket")
        onService {
            await call(
                "RestartUnit", [.string(Self.socket), .string("replace")], answer: "(o)",
                elseRun: "systemctl restart signet-reader.socket")
        }
    }

    private func call(
        _ method: String, _ arguments: [BusValue], answer: String, elseRun command: String
    ) async {
        let call = BusCall(
            to: "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
            "org.freedesktop.systemd1.Manager", method, arguments, answer: answer)
        do throws(BusFault) {
            try await bus.call(call)
        } catch {
            journal.fault("systemd does not do that: \(error). Run '\(command)'")
        }
    }
}
