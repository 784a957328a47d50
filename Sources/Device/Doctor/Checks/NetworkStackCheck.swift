// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// Checks whether what serves users of other machines is mistaken for what serves the user at this
/// one: a stack with its own line of pam_signet, or a name in `login.lockers` or
/// `login.terminals`.
enum NetworkStackCheck {
    /// Programs that run others' code, or show terminals on other machines, by their own name.
    private static let ambiguous: Set<String> = [
        "bash", "dash", "emacs", "java", "node", "perl", "python", "python3", "ruby", "sh", "socat",
        "systemd", "tmux", "screen", "wezterm-mux-ser", "zsh",
    ]

    /// A remark on a network service whose stack has a line of pam_signet that is not shared with
    /// other services.
    ///
    /// A line in `common-auth` is in the stacks of such services too, which is harmless and cannot
    /// be avoided.
    static func remarks(on service: String, in stacks: ServiceStacks) -> [StackRemark] {
        guard NetworkService.has(service) else { return [] }
        return stacks.chain(of: service, type: .auth).handlers
            .filter { line in
                // `keyring-remote` says more about one that asks for the password.
                line.role == .signet && !line.releasesPassword
                    && !ServiceStacks.isShared(line.place.file)
            }
            .map { handler in { line($0, place: handler.place) } }
    }

    /// Findings on names in the lists of `signet.conf`.
    static func findings(on settings: Configuration) -> [Finding] {
        let lockers = settings.words(Settings.loginLockers).filter { NetworkService.has($0) }
        let terminals = settings.words(Settings.loginTerminals).filter { name in
            ambiguous.contains(name) || NetworkService.hasProgram(Array(name.utf8))
        }
        return lockers.map { locker($0.bytes) } + terminals.map { terminal($0.bytes) }
    }

    private static func line(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "network-line", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): a service for users of other machines has a line of pam_signet \
                (\(place.shown))
                """,
            why: """
                users of other machines cannot touch the reader here, so the line has no \
                effect: such services get no touch. Remove it
                """,
            mend: Remedy.edit(place))
    }

    private static func locker(_ name: Bytes) -> Finding {
        Finding(
            "locker-remote", level: .warning, area: .service, subject: name,
            what: "login.lockers: \(name) is a service for users of other machines",
            why: "the entry has no effect: such services get no touch. Remove it",
            mend: Remedy.editSettings)
    }

    private static func terminal(_ name: Bytes) -> Finding {
        Finding(
            "terminal-ambiguous", level: .danger, area: .service, subject: name,
            what: "login.terminals: \(name) may show a terminal on another machine",
            why: """
                every program of this name counts as a window on the screen, so a user elsewhere \
                could be served by a touch of the user at the reader. Remove the entry
                """,
            mend: Remedy.editSettings)
    }
}
