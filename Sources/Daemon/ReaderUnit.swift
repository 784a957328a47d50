import Bus
import Loop

/// The unit of the readers' process.
///
/// signetd has no capability to signal another user's process, so systemd does it
/// (`org.freedesktop.systemd1.Manager.KillUnit`, systemd's org.freedesktop.systemd1(5)).
@ServiceActor
struct ReaderUnit {
    private static let name = "signet-reader.service"
    private static let killed: Int32 = 9

    let bus: Logind
    let journal: DecisionJournal

    /// Kills the process for what it does or does not do: the next request gets another one.
    func kill(_ why: String) {
        journal.fault("signet-reader \(why): killing it")
        onService {
            let call = BusCall(
                to: "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                "org.freedesktop.systemd1.Manager", "KillUnit",
                [.string(Self.name), .string("all"), .int32(Self.killed)], answer: "()")
            do throws(BusFault) {
                try await bus.call(call)
            } catch {
                journal.fault(
                    "signet-reader could not be killed: \(error)."
                        + " Run 'systemctl kill -s KILL signet-reader'")
            }
        }
    }
}
