// SPDX-License-Identifier: Apache-2.0
import Posix

/// The program `signet-server --try`, from start to exit.
package enum TrialProgram {
    /// Runs a server that a user tries out, in `directory` or in the user's default one, until
    /// SIGTERM or SIGINT; returns the exit status.
    ///
    /// It takes nothing from its environment but the default directory.
    package static func run(in directory: String?) -> Int32 {
        let path = directory ?? TrialDirectory.standardPath()
        // If a standard descriptor were closed, the next file to be opened would receive the output.
        guard fillStandardDescriptors() else { return 1 }
        do throws(SystemFault) {
            try ServerProgram.enterServer(keeping: [])
            let trial: TrialDirectory
            do throws(StartFault) {
                guard let path else {
                    throw .trial("there is no home directory: write --try DIRECTORY")
                }
                trial = try TrialDirectory(path)
            } catch {
                report("cannot start: \(error.text)")
                return 1
            }
            let request = StartRequest(configuration: trial.configuration, trial: trial)
            return try ServerProgram.serve(request) { service, port in
                await introduce(TrialServer(trial), service: service, port: port)
            }
        } catch {
            report("cannot start: \(error)")
            return 1
        }
    }

    private static func introduce(
        _ server: TrialServer, service: Service, port: UInt16
    ) async -> Int32 {
        do throws(AdminFault) {
            try await server.introduce(service, port: port)
            return 0
        } catch {
            report("the application could not be created: \(error.text)")
            return 1
        }
    }
}
