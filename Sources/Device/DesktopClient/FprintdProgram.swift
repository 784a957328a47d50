// SPDX-License-Identifier: Apache-2.0
import DBus
import MainContext

/// The program behind `fprintd-enroll`, `fprintd-verify`, `fprintd-list` and `fprintd-delete`.
@ServiceActor
package enum FprintdProgram {
    /// Runs one command to its end.
    ///
    /// Must be called on the process's main thread, which runs the main loop.
    ///
    /// - Parameter words: the command, such as `list`, and its arguments.
    /// - Parameter address: the D-Bus address of the system bus, of a Unix socket.
    /// - Parameter say: shows a line at once.
    /// - Returns: the exit status: 0 if it succeeded, else 1, as fprintd's commands do.
    package nonisolated static func run(
        _ words: [String], address: String, say: @escaping @Sendable (String) -> Void
    ) -> Int32 {
        let command: FprintdCommand
        do throws(FprintdCommand.Refusal) {
            command = try FprintdCommand(
                words.first ?? "", arguments: Array(words.dropFirst()))
        } catch {
            switch error {
            case .help(let text):
                say(text)
                return 0
            case .mistake(let text):
                say(text)
                return 1
            }
        }
        let status = FprintdStatus()
        onService {
            status.value = await outcome(of: command, address: address, say: say)
            MainLoop.quit()
        }
        MainLoop.run()
        return status.value
    }

    private static func outcome(
        of command: FprintdCommand, address: String, say: @escaping (String) -> Void
    ) async -> Int32 {
        let bus: BusConnection
        do throws(BusFault) {
            bus = try await BusConnection.connect(address: address, limit: .seconds(25))
        } catch {
            say("Failed to connect to the system bus: \(error)")
            return 1
        }
        do throws(FprintdSession.Failure) {
            return try await FprintdSession(bus, say: say).carryOut(command) ? 0 : 1
        } catch {
            say(error.text)
            return 1
        }
    }
}

/// Written on the service's thread, read when that thread is gone.
// SAFETY: MainLoop.run joins the service's thread before it returns.
private final class FprintdStatus: @unchecked Sendable {
    var value: Int32 = 1
}
