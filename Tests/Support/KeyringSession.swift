// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The real GNOME Keyring behind the login, and a session in which it can be looked at.
extension SignetFixture {
    /// Installs it: `login` unlocks it with the password that it was given, `passwd` changes it.
    ///
    /// The stack counts failed passwords too, as faillock(8) tells.
    package func installKeyring(options: String = "") throws {
        try host.writeService(
            "login",
            """
            auth required pam_faillock.so preauth silent deny=3
            auth [success=2 conv_err=die default=ignore] pam_signet.so keyring \(options)
            auth [success=1 default=ignore] pam_unix.so nodelay try_first_pass
            auth [default=die] pam_faillock.so authfail deny=3
            auth required pam_permit.so
            auth optional pam_gnome_keyring.so
            account required pam_faillock.so
            @include common-account
            @include common-session
            session optional pam_gnome_keyring.so auto_start

            """)
        try host.writeService(
            "passwd",
            """
            password required pam_unix.so sha512
            password optional pam_gnome_keyring.so use_authtok
            password optional pam_signet.so

            """)
        try host.write("/usr/local/bin/desktop", Self.desktop, mode: 0o755)
        try host.write("/usr/local/bin/keyring", Self.keyring, mode: 0o755)
    }

    /// What a desktop does: a bus, and the keyring daemon that the login has started joins it.
    private static let desktop = """
        #!/bin/sh
        exec dbus-run-session -- sh -c \
            'gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1; exec bash'

        """

    /// Asks the login keyring, over the bus, how it is; an item of it is kept and shown.
    private static let keyring = """
        #!/bin/sh
        case $1 in
        state)
            dbus-send --session --print-reply --dest=org.freedesktop.secrets \
                /org/freedesktop/secrets/collection/login org.freedesktop.DBus.Properties.Get \
                string:org.freedesktop.Secret.Collection string:Locked |
                sed -n 's/.*boolean true/the keyring is locked/p;s/.*boolean false/the keyring is open/p'
            ;;
        keep) printf %s "$2" | secret-tool store --collection=login --label=item item one ;;
        show) echo "item: $(secret-tool lookup item one)" ;;
        esac

        """

    /// Ends what a session left running: the next login starts a keyring of its own, locked.
    package func endKeyrings() {
        for pid in host.processes(named: "gnome-keyring-d") { _ = Glibc.kill(pid, SIGKILL) }
    }

    /// How often alice's password failed, as faillock(8) has counted.
    package func failedPasswords() throws -> Int {
        let outcome = try host.run(["faillock", "--user", "alice"])
        return outcome.output.split(separator: "\n").count { $0.hasSuffix(" V") }
    }
}
