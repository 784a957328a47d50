// SPDX-License-Identifier: Apache-2.0
import Policy

/// One row of the table of administration: what has no row is not done.
struct AdminVerb: Sendable {
    /// What it works on.
    enum Work: Sendable {
        /// The database that the configuration names.
        case database(
            @Sendable (Administration, AdminArguments) async throws(AdminFault) -> Void)
        /// The configuration alone.
        case configuration(
            @Sendable (Configuration, AdminOutput) async throws(AdminFault) -> Void)
    }

    /// `application add`, for example.
    let name: String
    /// What stands behind it, in this order.
    let operands: [String]
    let options: [AdminOption]
    let purpose: String
    let work: Work
    /// What was done all the same where nobody could be shown it.
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

    /// The row, with another word on what was done where nobody could be shown it.
    func unseen(_ text: @escaping @Sendable (AdminArguments) -> String) -> AdminVerb {
        var verb = self
        verb.unseen = text
        return verb
    }

    /// How it is called: `application add NAME [--audience URL]`.
    var usage: String {
        ([name] + operands + options.map { "[\($0.name) \($0.value)]" }).joined(separator: " ")
    }
}

/// An option of a row; all take a value.
struct AdminOption: Sendable {
    /// `--audience`, for example.
    let name: String
    /// What its value is called.
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The most rows of a list.
    static let limit = AdminOption("--limit", "NUMBER")
}

/// All that an administrator can have done.
enum AdminVerbs {
    /// Every row, in the order in which they are shown.
    static let all: [AdminVerb] =
        applications + accounts + registrations + templates + signingKeys + audit + upkeep
        + restoring

    /// The words of `--help`.
    static let help = """
        usage: signet-server admin [--config FILE] [--json] COMMAND

        \(all.map { "  \($0.usage)\n      \($0.purpose)" }.joined(separator: "\n"))

          --config FILE  the settings, instead of /etc/signet/server.conf
          --json         lists and answers as JSON

        Exit status: 0 done, 1 configuration, database or standard output cannot be used,
        2 wrong usage, 3 not there, 4 not possible now.
        """
}
