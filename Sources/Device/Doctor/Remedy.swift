// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Domain
import LoginMessages
import LoginProtocol

/// Commands that several findings name. They are for a root shell, and never translated.
enum Remedy {
    /// Edits the configuration, checks it, and has the daemon read it.
    static let editSettings: Text =
        "${EDITOR:-vi} /etc/signet/signet.conf; signet config --check; systemctl try-restart signetd"

    /// Edits a file.
    static func edit(_ path: String) -> Text { "${EDITOR:-vi} \(Shell.word(path.bytes))" }

    /// Edits a file of the PAM configuration. A distribution's own is copied to /etc/pam.d before,
    /// where the copy overrides it.
    static func edit(_ place: StackPosition) -> Text { owned(place, then: edit) }

    /// Removes the carriage returns from a file of the PAM configuration, in the same way.
    static func removeReturns(_ place: StackPosition) -> Text {
        owned(place) { "sed -i 's/\\r//g' \(Shell.word($0.bytes))" }
    }

    /// Has pam_mount ask for nothing on any of its lines in a file, in the same way.
    static func silenceMount(_ line: Handler) -> Text {
        guard !line.options.contains("enable_interactive") else { return edit(line.place) }
        return owned(line.place) {
            """
            sed -i '/^[^#]*disable_interactive/!s/^[^#]*pam_mount\\.so/& disable_interactive/' \
            \(Shell.word($0.bytes))
            """
        }
    }

    private static func owned(_ place: StackPosition, then change: (String) -> Text) -> Text {
        let own = StackPosition(file: place.file).path
        guard own != place.path else { return change(own) }
        return "cp -n \(Shell.word(place.path.bytes)) \(Shell.word(own.bytes)) && \(change(own))"
    }

    /// Shows the fingers, and behind a `#` has the command that makes a key for them: a stranger's
    /// finger must be seen before.
    static func lookThenEnable(_ account: AccountName) -> Text {
        let account = Shell.word(account)
        return "signet list --account \(account) # signet enable --account \(account)"
    }

    /// Shows the state, and behind a `#` has both ways out where an account may not be the one that
    /// enrolled: it gets the fingers, or they are deleted. Which one is right, only a person knows.
    static func lookThenAdopt(_ account: AccountName) -> Text {
        let account = Shell.word(account)
        return """
            signet status --account \(account) # signet enable --account \(account) # or: signet \
            delete --all --account \(account)
            """
    }
}
