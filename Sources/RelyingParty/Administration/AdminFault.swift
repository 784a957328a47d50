// SPDX-License-Identifier: Apache-2.0
import SQL

/// Why a command of the administrator failed, with a message that says what to do.
///
/// Each case has an exit status and an outcome for the audit trail.
enum AdminFault: Error, Equatable {
    /// The command line is wrong.
    case usage(String)
    /// Configuration, keys, database or standard output cannot be used.
    case unusable(String)
    /// The audit trail was tampered with.
    case tampered(String)
    /// The named object does not exist.
    case missing(String)
    /// The present state of the named object does not permit the command.
    case refused(String)

    /// The exit status, as documented in signet-server(8).
    var status: Int32 {
        switch self {
        case .unusable, .tampered: 1
        case .usage: 2
        case .missing: 3
        case .refused: 4
        }
    }

    /// The message for people: what happened, and what to do about it.
    var text: String {
        switch self {
        case .usage(let text), .unusable(let text), .tampered(let text), .missing(let text),
            .refused(let text):
            text
        }
    }

    /// The outcome recorded in the audit trail.
    var outcome: String {
        switch self {
        case .usage: "malformed"
        case .unusable: "unavailable"
        case .tampered: "tampered"
        case .missing: "not-found"
        case .refused: "conflict"
        }
    }
}

extension AdminFault {
    static func noApplication(_ name: String) -> AdminFault {
        .missing("there is no application '\(name)': 'application list' shows all")
    }

    static func noAccount(_ name: String, of application: String) -> AdminFault {
        .missing(
            """
            '\(application)' has no account '\(name)': 'account list \(application)' shows all, \
            'activation add' makes one
            """)
    }

    /// Translates a database fault.
    init(_ fault: DatabaseFault) { self = .unusable("\(fault)") }

    /// Translates a problem of the service into the terms of the command line.
    init(_ problem: Problem) {
        switch problem.status {
        // No API key is involved: the application has been removed in the meantime.
        case 401, 404: self = .missing("not found: there is no object with this name or id")
        case 503: self = .unusable("the database is not available: try again later")
        default: self = .refused(problem.title)
        }
    }
}
