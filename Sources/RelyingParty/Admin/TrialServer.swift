// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import JSONFormat
import Posix
import SQL
import Synchronization

/// A server that a user tries out (`--try`): it says what it is, and how to begin.
///
/// It has an application `demo`, which its first start makes with an API key that is shown once.
struct TrialServer {
    private static let application = "demo"
    /// Who has made the application, in the audit trail.
    private static let user = "signet-server --try"
    private let directory: TrialDirectory
    /// Writes text for the user to standard output.
    private let show: @Sendable (String) -> Void

    init(
        _ directory: TrialDirectory,
        show: @escaping @Sendable (String) -> Void = { writeAll(Array($0.utf8), to: 1) }
    ) {
        self.directory = directory
        self.show = show
    }

    /// Prepares the application at a server that serves at `port`, and shows how to use it.
    ///
    /// - Throws: the fault of the command that makes the application or its key.
    func introduce(_ service: Service, port: UInt16) async throws(AdminFault) {
        let key = try await makeApplication(service)
        show(text(port: port, key: key))
    }

    /// Makes the application with a key, and returns the key; nil if the application is there.
    private func makeApplication(_ service: Service) async throws(AdminFault) -> String? {
        let admin = Administration(
            service, output: AdminOutput(isJSON: true) { _ in }, by: Self.user)
        let found = try await admin.read { store throws(DatabaseFault) in
            try store.applications.application(name: Self.application)
        }
        guard found == nil else { return nil }
        _ = try await run(["application", "add", Self.application], on: service)
        return try await run(["key", "add", Self.application, "first"], on: service)["key"]?
            .stringValue
    }

    /// Runs a command of `admin` on the server's own database, and returns its answer.
    private func run(_ words: [String], on service: Service) async throws(AdminFault) -> JSON {
        guard
            case .run(let arguments) = ServerCommand.syntax.outcome(
                of: ["admin"] + words, version: ""),
            let line = AdminCommandLine(arguments), case .database(let work) = line.verb.work
        else { throw .usage("there is no command '\(words.joined(separator: " "))'") }
        let answer = Mutex("")
        let output = AdminOutput(isJSON: true) { text in answer.withLock { $0 = text } }
        let admin = Administration(service, output: output, by: Self.user)
        try await work(admin, line.arguments)
        let bytes = Array(answer.withLock { $0 }.utf8)
        return (try? JSON(parsing: bytes)) ?? .null
    }

    /// What the user reads when the server serves.
    private func text(port: UInt16, key: String?) -> String {
        let url = "http://127.0.0.1:\(port)"
        let admin = "signet-server admin --config \(quoted(directory.configuration))"
        let heading = """

            THIS SERVER IS FOR TRYING THINGS OUT. It speaks plain HTTP, without TLS, and every user of
            this machine can reach it. Do not make it reachable from elsewhere, and do not store
            anything in it that you need. Its data are in \(visible(directory.path)).


            """
        let keyLines =
            if let key {
                """
                The API key of the application '\(Self.application)', which is shown only now:

                    \(key)

                """
            } else {
                """
                The application '\(Self.application)' is there already. Another API key for it:

                    \(admin) key add \(Self.application) NAME

                """
            }
        return heading + keyLines + """

            An activation code, with which alice's device registers:

                \(admin) activation add \(Self.application) alice

            In another terminal, with the key in place of KEY:

                curl \(url)/health/ready
                curl \(url)/.well-known/jwks.json
                curl -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' \\
                    -d '{"account":"alice"}' \(url)/v1/activations
                curl -H 'Authorization: Bearer KEY' \(url)/v1/accounts/alice/registrations

            docs/developer/SERVER-IN-TEN-MINUTES.md goes on from here. Ctrl-C stops the server.

            """
    }

    /// A path for a shell's command line.
    private func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+".utf8.contains(byte)
            }
        }
        return isPlain ? path : "'" + visible(path).replacing("'", with: "'\\''") + "'"
    }
}
