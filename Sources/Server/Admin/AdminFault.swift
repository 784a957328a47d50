// SPDX-License-Identifier: Apache-2.0
import Database

/// Why an administrator's command was not done.
enum AdminFault: Error, Equatable {
    /// The command line is not one that there is.
    case usage(String)
    /// Configuration, keys or database cannot be used.
    case unusable(String)
    /// What was named is not there.
    case missing(String)
    /// The state of what was named does not allow it.
    case refused(String)

    /// The exit status that says so; signet-server(8) has them.
    var status: Int32 {
        switch self {
        case .unusable: 1
        case .usage: 2
        case .missing: 3
        case .refused: 4
        }
    }

    /// What a person is told: what happened, and what to do now.
    var text: String {
        switch self {
        case .usage(let text), .unusable(let text), .missing(let text), .refused(let text): text
        }
    }

    /// The word of it in the audit trail.
    var outcome: String {
        switch self {
        case .usage: "malformed"
        case .unusable: "unavailable"
        case .missing: "not-found"
        case .refused: "conflict"
        }
    }
}

extension AdminFault {
    /// There is no such application.
    static func noApplication(_ name: String) -> AdminFault {
        .missing("there is no application '\(name)': 'application list' shows all")
    }

    /// The application has no such account.
    static func noAccount(_ name: String, of application: String) -> AdminFault {
        .missing(
            """
            '\(application)' has no account '\(name)': 'account list \(application)' shows all, \
            'activation add' makes one
            """)
    }

    /// What was to be shown did not get out; what was done for it stands.
    static func unwritten(_ line: AdminCommandLine) -> AdminFault {
        .unusable(
            """
            what '\(line.verb.name)' shows could not be written to standard output: \
            \(visible(line.verb.unseen(line.arguments)))
            """)
    }

    /// What the database said, and what to do.
    init(_ fault: DatabaseFault) {
        switch fault {
        case .unavailable(let reason):
            self = .unusable("the database does not answer: \(reason)")
        case .full:
            self = .unusable("there is no room left where the database is: make room, then again")
        case .newer(let found, let known):
            self = .unusable(
                """
                the database has form \(found), this program knows \(known): \
                use the program that it was made with, or a later one
                """)
        case .broken(let reason):
            self = .unusable("the database cannot be used: \(reason)")
        }
    }

    /// A problem of the service, in the words of the command line.
    init(_ problem: Problem) {
        switch problem.status {
        // No administrator has an API key: what refuses one is that its application is gone.
        case 401, 404: self = .missing("there is nothing of this name or id")
        case 503: self = .unusable("the database does not answer: try again later")
        default: self = .refused(problem.title)
        }
    }
}
