// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A fixture with Debian's own PAM stacks and programs, the packaged ones that are only unpacked
/// among them, and the module in `common-auth`, as the profile puts it there.
extension SignetFixture {
    /// With a finger for alice and one for bob, if `enrolled`; `options` are the module's.
    static func debian(
        options: String = "", readers: [ReaderKind] = [.storage], enrolled: Bool = true,
        allowsOthers: Bool = false
    ) throws -> SignetFixture {
        let signet = try SignetFixture(
            readers: readers, programs: Built.programs(), allowsOthers: allowsOthers)
        try signet.shell(
            """
            cp /etc/pam.debian/* /etc/pam.d/
            sed -i /pam_faildelay/d /etc/pam.d/login
            """)
        try signet.installStacks(options: options)
        if enrolled { try signet.enrolPeople() }
        return signet
    }

    /// Writes what the profiles of pam-auth-update write, ours among them.
    func installStacks(options: String) throws {
        // pam_unix as Debian has it, but for `nodelay`: without the two seconds after a failure.
        try host.writeService(
            "common-auth",
            """
            auth [success=2 conv_err=die default=ignore] pam_signet.so keyring \(options)
            auth [success=1 default=ignore] pam_unix.so nodelay try_first_pass
            auth requisite pam_deny.so
            auth required pam_permit.so

            """)
        try host.writeService("common-account", "account required pam_unix.so\n")
        try host.writeService(
            "common-password",
            """
            password [success=1 default=ignore] pam_unix.so obscure sha512
            password requisite pam_deny.so
            password required pam_permit.so
            password optional pam_signet.so

            """)
        for name in ["common-session", "common-session-noninteractive"] {
            try host.writeService(name, "session required pam_unix.so\n")
        }
    }

    /// Adds the accounts that Debian's packages would have added, with the first ids that are free.
    func addSystemAccounts(_ names: String...) throws {
        for name in names {
            try shell(
                """
                getent passwd \(name) >/dev/null || \
                useradd --system --no-create-home --home-dir /nonexistent --user-group \
                    --shell /usr/sbin/nologin \(name)
                """)
        }
    }

    /// Starts a system bus, on which every client may do anything.
    @discardableResult
    func startBus() throws -> Program {
        try host.write(
            "/etc/dbus-1/host.conf",
            """
            <busconfig>
              <type>system</type>
              <listen>unix:path=/run/dbus/system_bus_socket</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <allow own="*"/>
                <allow send_type="method_call"/>
                <allow send_type="signal"/>
                <allow send_requested_reply="true" send_type="method_return"/>
                <allow send_requested_reply="true" send_type="error"/>
                <allow receive_type="method_call"/>
                <allow receive_type="method_return"/>
                <allow receive_type="error"/>
                <allow receive_type="signal"/>
              </policy>
            </busconfig>

            """)
        let bus = try host.start(
            ["dbus-daemon", "--config-file=/etc/dbus-1/host.conf", "--nofork", "--print-address"])
        try bus.expect("unix:path=")
        return bus
    }
}
