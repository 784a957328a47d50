// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL
import Synchronization

/// The program `signet-server admin`, from start to exit.
///
/// It hardens the process as the server does, runs one command, and reports a failure with one line
/// on standard error and an exit status (signet-server(8)).
package enum AdminProgram {
    /// Runs a command, and returns the exit status.
    ///
    /// A command whose result cannot be written to standard output fails, although its changes
    /// remain.
    package static func run(_ line: AdminCommandLine) -> Int32 {
        finished { () throws(AdminFault) in
            do throws(SystemFault) {
                try ServerProgram.enterServer()
                return try ServerProgram.finished { await perform(line) }
            } catch { throw .unusable("\(error)") }
        }
    }

    /// Writes a text such as the help to standard output, and returns the exit status.
    package static func show(_ text: String) -> Int32 {
        finished { () throws(AdminFault) in
            guard writeAll([UInt8]("\(text)\n".utf8), to: 1) else {
                throw .unusable("the help could not be written to standard output")
            }
            return 0
        }
    }

    private static func finished(_ body: () throws(AdminFault) -> Int32) -> Int32 {
        do throws(AdminFault) {
            // If a standard descriptor were closed, the next file to be opened would receive the
            // output.
            guard fillStandardDescriptors() else { throw .unusable("/dev/null cannot be opened") }
            return try body()
        } catch {
            complain("signet-server: \(error.text)")
            return error.status
        }
    }

    private static func perform(_ line: AdminCommandLine) async -> Int32 {
        let loss = Loss()
        var output = AdminOutput(isJSON: line.isJSON) { text in
            guard !writeAll([UInt8]("\(text)\n".utf8), to: 1) else { return }
            loss.hasHappened.store(true, ordering: .sequentiallyConsistent)
        }
        output.isLost = { loss.hasHappened.load(ordering: .sequentiallyConsistent) }
        do throws(AdminFault) {
            let settings = try AdminFiles.settings(line.configuration)
            switch line.verb.work {
            case .configuration(let work): try await work(settings, output)
            case .database(let work):
                let service = try await AdminFiles.service(settings)
                let admin = Administration(service, output: output, by: whoCalls())
                do throws(AdminFault) {
                    try await work(admin, line.arguments)
                } catch {
                    await service.database.close()
                    throw error
                }
                await service.database.close()
            }
            guard !output.isLost() else {
                throw .unwritten(line)
            }
            return 0
        } catch {
            complain("signet-server: \(error.text)")
            return error.status
        }
    }

    /// Whether writing to standard output has failed.
    private final class Loss: Sendable {
        let hasHappened = Atomic(false)
    }

    /// The acting user, and the user who logged in, which the kernel preserves through sudo and su.
    private static func whoCalls() -> String {
        let acting = "uid \(effectiveUID())"
        guard let bytes = FileLook.beginning(of: "/proc/self/loginuid", cap: 16),
            let login = UInt32(String(decoding: bytes, as: UTF8.self)), login != .max
        else { return acting }
        return "\(acting), logged in as uid \(login)"
    }
}
