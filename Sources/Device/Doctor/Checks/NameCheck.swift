// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Translates names in the lists of `signet.conf` that match nothing on this machine to findings.
enum NameCheck {
    /// An entry in a list of `signet.conf` has a name that nothing has, or that nothing can have.
    static func finding(on unknown: UnknownName) -> Finding {
        let (name, text) = (unknown.name.bytes, unknown.text)
        return switch unknown.kind {
        case .service:
            Finding(
                "service-unknown", level: .warning, area: .service, subject: name, what: text,
                why: "an entry with a wrong name neither allows nor excludes anything. Correct it",
                mend: Remedy.editSettings)
        case .account:
            Finding(
                "account-unknown", level: .warning, area: .service, subject: name, what: text,
                why: """
                    an entry with a wrong name neither allows nor excludes the account that it was \
                    meant for. Correct it
                    """,
                mend: Remedy.editSettings)
        case .group: unknown.isDenied ? deniedGroup(name, text: text) : group(name, text: text)
        case .emptyGroup: emptyGroup(name, text: text)
        case .keyringService:
            Finding(
                "keyring-service-unknown", level: .warning, area: .service, subject: name,
                what: text,
                why: "a touch releases the password to no service of this name. Correct the name",
                mend: Remedy.editSettings)
        case .consoleUnit, .displayManager:
            Finding(
                "unit-malformed", level: .warning, area: .service, subject: name, what: text,
                why: """
                    the entry has no effect. Write the full name of the unit: NAME.service, or \
                    NAME@.service for all instances of a template
                    """,
                mend: Remedy.editSettings)
        }
    }

    /// The group does not exist.
    private static func group(_ name: Bytes, text: Text) -> Finding {
        Finding(
            "group-unknown", level: .warning, area: .service, subject: name, what: text,
            why: "the entry allows no account. Correct it, or create the group",
            mend: Remedy.editSettings)
    }

    /// The group exists, but has no members that could log in.
    private static func emptyGroup(_ name: Bytes, text: Text) -> Finding {
        Finding(
            "group-empty", level: .warning, area: .service, subject: name, what: text,
            why: "the entry allows no account. Correct it, or add members to the group",
            mend: Remedy.editSettings)
    }

    /// The group does not exist, and its members are to be excluded.
    private static func deniedGroup(_ name: Bytes, text: Text) -> Finding {
        Finding(
            "denied-group-unknown", level: .fault, area: .service, subject: name, what: text,
            why: """
                the members of the group are unknown, so all accounts are excluded until the name \
                is correct or the directory that knows the group answers
                """,
            mend: Remedy.editSettings)
    }
}
