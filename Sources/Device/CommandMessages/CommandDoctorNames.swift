// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about names in the lists of `signet.conf` that nobody has, and lines without effect.
extension Finding {
    /// No service has the name.
    package static func serviceUnknown(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .serviceUnknown, name, what,
            why: "an entry under a wrong name neither lets in nor keeps out. Correct it",
            mend: editSettings)
    }

    /// No account has the name.
    package static func accountUnknown(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .accountUnknown, name, what,
            why: """
                an entry under a wrong name neither lets in nor keeps out whom it means. Correct it
                """,
            mend: editSettings)
    }

    /// No group has the name.
    package static func groupUnknown(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .groupUnknown, name, what,
            why: "it lets nobody in. Correct it, or make the group",
            mend: editSettings)
    }

    /// No group has the name, and its members are to be kept out.
    package static func deniedGroupUnknown(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .deniedGroupUnknown, name, what,
            why: """
                nobody can tell whom it is to keep out, so all accounts are kept out, until the \
                name is right, or the directory that knows it answers
                """,
            mend: editSettings)
    }

    /// No service has the name, which is to get the password.
    package static func keyringServiceUnknown(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .keyringServiceUnknown, name, what,
            why: "a touch releases the password to no service of this name. Correct the name",
            mend: editSettings)
    }

    /// A list of units has a word that is none.
    package static func unitMalformed(_ name: Bytes, _ what: Text) -> Finding {
        Finding(
            .unitMalformed, name, what,
            why: """
                the entry has no effect. Write the whole name of the unit: NAME.service, or \
                NAME@.service for all instances of a template
                """,
            mend: editSettings)
    }

    /// A line with a setting that there is no more; `line` is file, line and what to write.
    package static func settingObsolete(_ line: Bytes) -> Finding {
        Finding(
            .settingObsolete, Bytes("/etc/signet/signet.conf".utf8), "\(line)",
            why: "an earlier version had this setting. The rest of the file is in force",
            mend: editSettings)
    }

    // Untranslated: a command
    static let editSettings: Text =
        "${EDITOR:-vi} /etc/signet/signet.conf; signet config --check; systemctl try-restart signetd"
}
