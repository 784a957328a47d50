// SPDX-License-Identifier: Apache-2.0
/// The parsed value of a setting.
package enum SettingValue: Equatable, Sendable {
    /// A duration, written as `30s`, `500ms` or `2min`; nil is `off`, where the setting permits it.
    case duration(Duration?)
    case count(Int)
    /// Words separated by commas; may be empty.
    case words([String])
    /// One word or text.
    case word(String)
    /// Numbers separated by commas; may be empty.
    case numbers([Int])
}

/// One row of a program's table of settings.
package struct Setting: Sendable {
    /// The section in the file.
    package let section: String
    /// The key in the section.
    package let key: String
    /// The default value, which is the safe choice.
    package let standard: SettingValue
    /// The accepted values.
    package let accepts: Form
    /// A one-line description for users.
    package let purpose: String

    /// Whether signetd uses the setting.
    ///
    /// The other settings are used only by signet-relay, which reads them at each start and does
    /// not run most of the time, and by `signet doctor`.
    package var isUsedByDaemon: Bool {
        section != "doctor" && (section != "relay" || key == "timeout")
    }

    /// Creates a row of a program's table.
    package init(
        section: String, key: String, standard: SettingValue, accepts: Form, purpose: String
    ) {
        self.section = section
        self.key = key
        self.standard = standard
        self.accepts = accepts
        self.purpose = purpose
    }

    /// The form of the values that a setting accepts.
    package enum Form: Sendable {
        case duration(ClosedRange<Duration>, orOff: Bool)
        case count(ClosedRange<Int>)
        case words
        /// Names, with or without `!` in front.
        case names
        /// Names without `!` in front.
        case plainNames
        /// One of these words.
        case choice([String])
        /// Any text of 1 to this many bytes.
        case text(Int)
        /// Ascending numbers within these bounds, without duplicates.
        case numbers(ClosedRange<Int>)
    }

    /// The full name, `section.key`.
    package var name: String { "\(section).\(key)" }
}

/// The table of all settings.
///
/// A key without a row here is rejected.
package enum Settings {
    /// The setting `daemon.idle-exit`.
    package static let idleExit = Setting(
        section: "daemon", key: "idle-exit", standard: .duration(.seconds(30)),
        accepts: .duration(.seconds(1)...(.seconds(86_400)), orOff: true),
        purpose: "how long the daemon keeps running without requests")
    /// The setting `daemon.connections`.
    package static let connections = Setting(
        section: "daemon", key: "connections", standard: .count(128),
        accepts: .count(8...4_096),
        purpose: "simultaneous connections of all users together")
    /// The setting `daemon.connections-per-user`.
    package static let connectionsPerUser = Setting(
        section: "daemon", key: "connections-per-user", standard: .count(16),
        accepts: .count(2...1_024),
        purpose: "simultaneous connections of one user")
    /// The setting `touch.timeout`.
    package static let touchTimeout = Setting(
        section: "touch", key: "timeout", standard: .duration(.seconds(60)),
        accepts: .duration(.seconds(1)...(.seconds(170)), orOff: false),
        purpose: "the longest wait for a finger, whatever the caller asks for")
    /// The setting `touch.max-tries`.
    package static let touchTries = Setting(
        section: "touch", key: "max-tries", standard: .count(5), accepts: .count(1...5),
        purpose: "the most fingers tried in one request, whatever the caller asks for")
    /// The setting `touch.waiting`.
    package static let touchWaiting = Setting(
        section: "touch", key: "waiting", standard: .count(8), accepts: .count(0...64),
        purpose: "requests that may wait while another is served")
    /// The setting `reader.ignore`.
    package static let ignoredReaders = Setting(
        section: "reader", key: "ignore", standard: .words([]), accepts: .words,
        purpose: "readers that are not used, by the ids that 'signet readers' shows")
    /// The setting `enrolment.fingers`.
    package static let fingers = Setting(
        section: "enrolment", key: "fingers", standard: .count(10), accepts: .count(1...10),
        purpose: "how many fingers an account may enrol")
    /// The setting `enrolment.timeout`.
    package static let enrolmentTimeout = Setting(
        section: "enrolment", key: "timeout", standard: .duration(.seconds(120)),
        accepts: .duration(.seconds(10)...(.seconds(600)), orOff: false),
        purpose: "the longest time that an enrolment may take")
    /// The setting `password.timeout`.
    package static let passwordTimeout = Setting(
        section: "password", key: "timeout", standard: .duration(.seconds(30)),
        accepts: .duration(.seconds(1)...(.seconds(300)), orOff: false),
        purpose: "the longest time that a password check may take")
    /// The setting `login.services`.
    package static let loginServices = Setting(
        section: "login", key: "services", standard: .words([]), accepts: .names,
        purpose: "PAM services with fingerprint login: name for only these, !name for all but these"
    )
    /// The setting `login.accounts`.
    package static let loginAccounts = Setting(
        section: "login", key: "accounts", standard: .words(["!root"]), accepts: .names,
        purpose: "accounts with fingerprint login, in the same way; put !root there too")
    /// The setting `login.groups`.
    package static let loginGroups = Setting(
        section: "login", key: "groups", standard: .words([]), accepts: .names,
        purpose: "groups whose members have fingerprint login, in the same way")
    /// The value of `login.lid`, `login.seat` and similar settings that denies the login.
    package static let refuse = "refuse"
    /// The setting `login.lid`.
    package static let loginLid = Setting(
        section: "login", key: "lid", standard: .word(refuse),
        accepts: .choice([refuse, "ignore"]),
        purpose: "whether fingers are asked for while the lid is closed")
    /// The setting `login.seat`.
    package static let loginSeat = Setting(
        section: "login", key: "seat", standard: .word(refuse),
        accepts: .choice([refuse, "ignore"]),
        purpose: "whether a session may use readers of another seat")
    /// The value of the settings in `[login]` that permits the login.
    package static let allow = "allow"
    /// The setting `login.others`.
    package static let loginOthers = Setting(
        section: "login", key: "others", standard: .word(refuse),
        accepts: .choice([refuse, "warn"]),
        purpose: "whether one user may ask for another's finger, as su does; warn shows who asks")
    /// The setting `login.without-logind`.
    package static let loginWithoutLogind = Setting(
        section: "login", key: "without-logind", standard: .word("consoles"),
        accepts: .choice(["consoles", "terminals", "any"]),
        purpose: "who may ask for a finger where logind does not run")
    /// The setting `login.without-seat`.
    package static let loginWithoutSeat = Setting(
        section: "login", key: "without-seat", standard: .word(refuse),
        accepts: .choice([refuse, allow]),
        purpose: "whether local sessions at no seat may ask: serial consoles, containers")
    /// The setting `login.console-units`.
    package static let loginConsoleUnits = Setting(
        section: "login", key: "console-units",
        standard: .words([
            "getty@.service", "autovt@.service", "kmsconvt@.service", "ly@.service",
            "ly.service", "serial-getty@.service", "console-getty.service",
            "container-getty@.service",
        ]), accepts: .words,
        purpose: "system units that log users in at a console: NAME.service or NAME@.service")
    /// The setting `login.display-managers`.
    package static let loginDisplayManagers = Setting(
        section: "login", key: "display-managers",
        standard: .words([
            "gdm.service", "gdm3.service", "sddm.service", "lightdm.service", "greetd.service",
            "lxdm.service", "plasmalogin.service", "cosmic-greeter.service",
        ]), accepts: .words,
        purpose: "system units that log users in at a greeter")
    /// The setting `login.lockers`.
    ///
    /// The names that screen lockers pass to libpam: those of their packages in Debian, and of the
    /// projects' own files. xsecurelock names `common-auth` in Debian and `system-auth` elsewhere.
    package static let loginLockers = Setting(
        section: "login", key: "lockers",
        standard: .words([
            "i3lock", "swaylock", "hyprlock", "gtklock", "waylock", "xsecurelock", "common-auth",
            "system-auth", "xscreensaver", "xlock", "vlock", "physlock", "screen", "sxlock",
            "kde", "kde-fingerprint", "kscreenlocker", "gnome-screensaver", "cinnamon-screensaver",
            "mate-screensaver", "xfce4-screensaver", "budgie-screensaver", "ukui-screensaver",
            "ukui-screensaver-qt", "dde-lock", "deepin-screensaver", "light-locker",
            "cosmic-greeter", "lxqt-screenlock",
        ]), accepts: .plainNames,
        purpose: "PAM services of screen lockers: only these may ask without root's rights")
    /// The setting `login.terminals`.
    ///
    /// The names are those that the kernel knows (comm of proc(5), at most 15 bytes). Not listed
    /// are programs that can also show a terminal on another machine, such as emacs, and those with
    /// the name of an interpreter, such as java and python3.
    package static let loginTerminals = Setting(
        section: "login", key: "terminals",
        standard: .words([
            "alacritty", "aterm", "black-box", "blackbox", "code", "codium", "contour",
            "cool-retro-term", "cosmic-term", "deepin-terminal", "dolphin", "fbterm", "foot",
            "ghostty", "gnome-terminal-", "guake", "hyper", "io.elementary.t", "kate", "kdevelop",
            "kgx", "kitty", "konsole", "kterm", "kwrite", "lilyterm", "lxterminal",
            "mate-terminal", "mlterm", "ptyxis-agent", "pterm", "qterminal", "rio", "roxterm",
            "rxvt", "sakura", "st", "stterm", "tabby", "terminator", "terminology", "termit",
            "tilda", "tilix", "urxvt", "urxvtd", "warp", "wezterm-gui", "xfce4-terminal",
            "xiterm+thai", "xterm", "yakuake", "zutty",
        ]), accepts: .plainNames,
        purpose: "programs whose terminals are shown in a window of the session they run in")

    /// The setting `keyring.services`.
    ///
    /// Each service of the default runs as root on the machine itself, and opens the session in
    /// which the keyring is used. The names are those of Debian's packages and of the projects' own
    /// files.
    package static let keyringServices = Setting(
        section: "keyring", key: "services",
        standard: .words([
            // login(1) of util-linux and shadow, started by getty on a console. cosmic-greeter has
            // greetd use it too if its own service is not installed.
            "login",
            // GNOME's display manager has one service for passwords and one for fingers. Both open
            // sessions and both unlock the screen, as gdm's own worker does too.
            "gdm-password", "gdm-fingerprint",
            // Display managers with one service for all logins. Their services `-autologin` and
            // `-greeter` are separate and ask for nothing.
            "lightdm", "sddm", "plasmalogin", "lxdm", "xdm", "wdm", "slim", "ly",
            // greetd, for every greeter except COSMIC's, which uses its own service.
            "greetd", "cosmic-greeter",
        ]), accepts: .plainNames,
        purpose: "services that may get the login password for the keyring after a touch")
    /// The setting `vault.kind`.
    package static let vaultKind = Setting(
        section: "vault", key: "kind", standard: .word("auto"),
        accepts: .choice(["auto", "tpm", "file"]),
        purpose: "where new keys are stored: the TPM if it works, always the TPM, or a file")
    /// The setting `vault.tpm`.
    package static let vaultTPM = Setting(
        section: "vault", key: "tpm", standard: .word("auto"), accepts: .text(256),
        purpose: "how to reach the TPM: auto, device:/dev/…, tabrmd:… or swtpm:…")
    /// The setting `vault.pcrs`.
    package static let vaultRegisters = Setting(
        section: "vault", key: "pcrs", standard: .numbers([]), accepts: .numbers(0...23),
        purpose: "PCRs that new keys are bound to; a firmware update may change them")
    /// The setting `vault.timeout`.
    package static let vaultTimeout = Setting(
        section: "vault", key: "timeout", standard: .duration(.seconds(10)),
        accepts: .duration(.seconds(1)...(.seconds(60)), orOff: false),
        purpose: "the longest time that a TPM command may take")
    /// The setting `ssh.grants`.
    package static let sshGrants = Setting(
        section: "ssh", key: "grants", standard: .word(refuse), accepts: .choice([refuse, allow]),
        purpose: "whether one touch may allow a few ssh signatures; see 'signet ssh allow'")
    /// The setting `relay.ca-file`.
    package static let relayAuthorities = Setting(
        section: "relay", key: "ca-file", standard: .word("system"), accepts: .text(256),
        purpose: "the trusted certificate authorities: system, or a PEM file with only those")
    /// The setting `relay.pin`.
    package static let relayPin = Setting(
        section: "relay", key: "pin", standard: .word("none"), accepts: .text(512),
        purpose: "a key that the server must also have: sha256//BASE64, several separated by ;")
    /// The setting `relay.connect-timeout`.
    package static let relayConnectTimeout = Setting(
        section: "relay", key: "connect-timeout", standard: .duration(.seconds(5)),
        accepts: .duration(.milliseconds(100)...(.seconds(30)), orOff: false),
        purpose: "the longest time to connect to a server")
    /// The setting `relay.timeout`.
    package static let relayTimeout = Setting(
        section: "relay", key: "timeout", standard: .duration(.seconds(15)),
        accepts: .duration(.milliseconds(100)...(.seconds(60)), orOff: false),
        purpose: "the longest time that a server may take to answer")
    /// The setting `relay.proxy`.
    package static let relayProxy = Setting(
        section: "relay", key: "proxy", standard: .word("none"), accepts: .text(256),
        purpose: "the URL of a proxy for servers, or none")

    /// The setting `doctor.accept`.
    package static let doctorAccept = Setting(
        section: "doctor", key: "accept", standard: .word("none"), accepts: .text(2_048),
        purpose: "findings of signet doctor that are accepted: CODE SUBJECT: REASON, several with ;"
    )

    /// All settings, in the order in which they are shown.
    package static let all: [Setting] = [
        idleExit, connections, connectionsPerUser, touchTimeout, touchTries, touchWaiting,
        ignoredReaders, fingers, enrolmentTimeout, passwordTimeout, loginServices,
        loginAccounts, loginGroups, loginLid, loginSeat, loginOthers, loginWithoutLogind,
        loginWithoutSeat, loginConsoleUnits, loginDisplayManagers, loginLockers, loginTerminals,
        keyringServices, vaultKind,
        vaultTPM, vaultRegisters, vaultTimeout, sshGrants, relayAuthorities, relayPin,
        relayConnectTimeout,
        relayTimeout, relayProxy, doctorAccept,
    ]
}

/// A setting of an earlier version.
///
/// A line that sets it has no effect. Rejecting the whole file because of it would replace
/// everything else in the file by the defaults.
package struct FormerSetting: Sendable {
    /// The section in the file.
    let section: String
    /// The key in the section.
    let key: String
    /// The setting that replaced it.
    let successor: Setting
    /// The advice on what to write instead, for a warning.
    let advice: String
}

extension Settings {
    /// The former settings.
    static let former: [FormerSetting] = [
        // It listed the services that must not get the password. If it were read as the new list,
        // the password would be released to exactly those services.
        FormerSetting(
            section: "keyring", key: "except", successor: keyringServices,
            advice: """
                'except' in [keyring] has no effect: 'services' now lists the services that may get \
                the password, by default login and the greeters. Remove the line
                """)
    ]
}
