#if !hasFeature(Embedded)
import Wire

/// Findings about names in the lists of `[login]` that nobody has.
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

    // Untranslated: a command
    static let editSettings: Text =
        "${EDITOR:-vi} /etc/signet/signet.conf; signet config --check; systemctl try-restart signetd"
}
#endif
