// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import LoginMessages

/// A row of the table of administrative commands: its syntax, and the function that runs it.
struct AdminVerb: Sendable {
    /// The resources that a command uses.
    enum Work: Sendable {
        /// The database that the configuration names.
        case database(
            @Sendable (Administration, AdminArguments) async throws(AdminFault) -> Void)
        /// Only the configuration.
        case configuration(
            @Sendable (Configuration, AdminOutput) async throws(AdminFault) -> Void)
    }

    /// The command's name, which begins with `admin`, and its operands and options.
    let syntax: CommandSyntax
    let work: Work
    /// Who may call the command over HTTP; nil if it is for the command line alone.
    ///
    /// docs/admin/SERVER-OPERATE.md says why some are.
    private(set) var reach: Reach?
    /// The members of a body that stand for the operands, in their order.
    private(set) var members: [String]
    /// What the command has done even if its output could not be written, in words for people.
    private(set) var unseen: @Sendable (AdminArguments) -> String = { _ in
        "the command itself took effect"
    }

    init(
        _ name: String, operands: [OperandSyntax] = [], options: [OptionSyntax] = [],
        summary: Text,
        _ perform:
            @escaping @Sendable (Administration, AdminArguments) async throws(AdminFault) -> Void
    ) {
        self.init(
            name, operands: operands, options: options, summary: summary, work: .database(perform))
    }

    init(
        _ name: String, operands: [OperandSyntax], options: [OptionSyntax], summary: Text,
        work: Work
    ) {
        syntax = CommandSyntax(
            "admin \(name)", summary: summary, operands: operands, options: options)
        members = operands.map { $0.value.name.lowercased() }
        self.work = work
    }

    /// What a command called over HTTP may concern.
    enum Reach: Sendable {
        /// One application or one of its registrations, which the first operand names: a key with
        /// the scope `admin` is confined to its own.
        case application
        /// The whole server: only for keys with the scope `server`.
        case server
    }

    /// Returns this row as one that may also be called over HTTP.
    ///
    /// `members` names the operands in a body, if their placeholders do not.
    func overHTTP(_ reach: Reach, members: [String]? = nil) -> AdminVerb {
        var verb = self
        verb.reach = reach
        verb.members = members ?? self.members
        return verb
    }

    /// The command's name without `admin`, for example `application add`.
    var name: String { syntax.words.dropFirst().joined(separator: " ") }

    /// Returns this row with another message for output that could not be written.
    func unseen(_ text: @escaping @Sendable (AdminArguments) -> String) -> AdminVerb {
        var verb = self
        verb.unseen = text
        return verb
    }
}

extension OptionSyntax {
    /// The maximum number of rows in a list.
    static let limit = OptionSyntax(
        "limit", .number(1...100_000), summary: "show at most this many rows; the default is 1000")
    static let account = OptionSyntax(
        "account", ValueSyntax("NAME"), summary: "only those of this account")
    static let flags = OptionSyntax(
        "flags", ValueSyntax("WORDS", kind: .words),
        summary: "the flags, separated by commas; empty for none")
}

/// The table of all administrative commands.
enum AdminVerbs {
    /// The commands for applications, what belongs to them, and the audit trail, in the order of the
    /// help: those that may also be called over HTTP are among them.
    static let ofDatabase: [AdminVerb] =
        applications + callbacks + apiKeys + accounts + registrations + templates + signingKeys
        + audit
}
