// SPDX-License-Identifier: Apache-2.0
import Configuration

/// A row of the table of administrative commands.
struct AdminVerb: Sendable {
    /// What the command works on.
    enum Work: Sendable {
        /// The database that the configuration names.
        case database(
            @Sendable (Administration, AdminArguments) async throws(AdminFault) -> Void)
        /// Only the configuration.
        case configuration(
            @Sendable (Configuration, AdminOutput) async throws(AdminFault) -> Void)
    }

    /// The command's name, for example `application add`.
    let name: String
    /// The names of the operands, in order.
    let operands: [String]
    let options: [AdminOption]
    let purpose: String
    let work: Work
    /// What the command did nevertheless if its output could not be written.
    private(set) var unseen: @Sendable (AdminArguments) -> String = { _ in
        "what it does, it has done"
    }

    init(
        _ name: String, _ operands: [String] = [], _ options: [AdminOption] = [],
        _ purpose: String,
        _ perform:
            @escaping @Sendable (Administration, AdminArguments) async throws(AdminFault) -> Void
    ) {
        self.init(name, operands, options, purpose, .database(perform))
    }

    init(
        _ name: String, _ operands: [String], _ options: [AdminOption], _ purpose: String,
        _ work: Work
    ) {
        self.name = name
        self.operands = operands
        self.options = options
        self.purpose = purpose
        self.work = work
    }

    /// Returns this row with another message for output that could not be written.
    func unseen(_ text: @escaping @Sendable (AdminArguments) -> String) -> AdminVerb {
        var verb = self
        verb.unseen = text
        return verb
    }

    /// The usage, for example `application add NAME [--audience URL]`.
    var usage: String {
        ([name] + operands + options.map { "[\($0.name) \($0.value)]" }).joined(separator: " ")
    }
}

/// An option of a command; every option takes a value.
struct AdminOption: Sendable {
    /// The name, for example `--audience`.
    let name: String
    /// The placeholder for its value.
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The maximum number of rows in a list.
    static let limit = AdminOption("--limit", "NUMBER")
}

/// The table of all commands.
enum AdminVerbs {
    /// All rows, in the order of `--help`.
    static let all: [AdminVerb] =
        applications + accounts + registrations + templates + signingKeys + audit + upkeep
        + restoring

    /// The text for `--help`.
    static let help = """
        usage: signet-server admin [--config FILE] [--json] COMMAND

        \(all.map { "  \($0.usage)\n      \($0.purpose)" }.joined(separator: "\n"))

          --config FILE  the settings, instead of /etc/signet/server.conf
          --json         lists and answers as JSON

        Exit status: 0 done, 1 configuration, database or standard output cannot be used,
        2 wrong usage, 3 not there, 4 not possible now.
        """
}
