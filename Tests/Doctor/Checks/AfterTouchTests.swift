// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol
import Testing

@testable import Doctor

/// A machine with modules, as their packages put them there.
private struct Modular {
    let bare: Bare

    private static let modules = [
        "signet", "unix", "permit", "deny", "mount", "kwallet5", "ecryptfs", "fscrypt", "cifscreds",
        "userdb", "krb5", "winbind", "sss", "ldap", "encfs", "zfs_key", "ssh", "script", "exec",
        "pwdfile", "systemd_home", "systemd_loadkey", "google_authenticator", "oath", "u2f",
        "gnome_keyring", "succeed_if", "afs_session", "ccreds", "nologin", "limits", "keyinit",
    ]

    init() throws {
        bare = try Bare()
        for module in Self.modules {
            try bare.write("usr/lib/x86_64-linux-gnu/security/pam_\(module).so", "")
        }
    }

    func findings(settings: String = "") throws -> [Finding] {
        let configuration = try Configuration(files: [("signet.conf", Array(settings.utf8))])
        return StackCheck(
            bare.machine.stacks(), configuration: configuration, files: bare.machine.files
        ).findings()
    }

    /// What is said about a service whose `auth` stack goes on with these lines after a touch.
    func said(
        _ lines: String, service: String = "sudo", option: String = "", rest: String = ""
    ) throws -> [String] {
        try bare.write(
            "etc/pam.d/\(service)",
            """
            auth [success=2 conv_err=die default=ignore] pam_signet.so \(option)
            auth [success=1 default=ignore] pam_unix.so try_first_pass
            auth requisite pam_deny.so
            auth required pam_permit.so
            \(lines)
            account required pam_unix.so
            session required pam_unix.so
            \(rest)

            """)
        let named = try findings().filter { $0.subject == Array(service.utf8) }
        return named.map(\.code)
    }
}

@Suite("what follows a touch, in a stack")
struct AfterTouchTests {
    @Test(
        "is reported where a module asks because the touch gives it no password",
        arguments: [
            "pam_mount.so", "pam_mount.so disable_interactive enable_interactive",
            "pam_mount.so use_first_pass", "pam_kwallet5.so", "pam_encfs.so", "pam_zfs_key.so",
            "pam_ssh.so", "pam_ssh.so try_first_pass", "pam_script.so", "pam_pwdfile.so pwdfile=/x",
            "pam_exec.so expose_authtok /bin/x", "pam_exec.so expose_authtok type=auth /bin/x",
            "pam_krb5.so", "pam_krb5.so use_first_pass", "pam_krb5.so try_first_pass",
            "pam_winbind.so", "pam_sss.so", "pam_ldap.so", "pam_unix.so try_first_pass",
            "/usr/lib/x86_64-linux-gnu/security/pam_unix.so",
        ])
    func asks(module: String) throws {
        let machine = try Modular()
        #expect(try machine.said("auth optional \(module)") == ["prompt-after-touch"])
        #expect(try machine.said("-auth [default=ignore] \(module)") == ["prompt-after-touch"])
    }

    @Test(
        "is none where it does not ask, or asks on purpose",
        arguments: [
            "pam_mount.so disable_interactive",
            "pam_mount.so enable_interactive disable_interactive",
            "pam_krb5.so force_first_pass", "pam_winbind.so use_first_pass",
            "pam_userdb.so use_first_pass",
            "pam_sss.so use_first_pass", "pam_ldap.so use_first_pass", "pam_unix.so use_first_pass",
            "pam_ssh.so use_first_pass", "pam_pwdfile.so use_first_pass", "pam_exec.so /bin/x",
            "pam_exec.so expose_authtok type=session /bin/x", "pam_ecryptfs.so unwrap",
            "pam_fscrypt.so", "pam_cifscreds.so", "pam_gnome_keyring.so", "pam_afs_session.so",
            "pam_ccreds.so action=store", "pam_google_authenticator.so nullok",
            "pam_oath.so usersfile=/etc/users.oath", "pam_u2f.so cue", "pam_systemd_home.so",
        ])
    func silent(module: String) throws {
        #expect(try Modular().said("auth optional \(module)") == [])
    }

    @Test("is mended by no command that would leave no password that works")
    func needed() throws {
        let machine = try Modular()
        try machine.bare.write("etc/security/pam_mount.conf.xml", "<volume />")
        func mend(_ auth: String) throws -> String {
            try machine.bare.write(
                "etc/pam.d/sudo",
                """
                auth sufficient pam_signet.so
                \(auth)
                account required pam_unix.so
                session optional pam_mount.so

                """)
            let found = try machine.findings().filter { $0.code == "prompt-after-touch" }
            return try String(decoding: #require(found.first).mend.bytes, as: UTF8.self)
        }
        let mount = "auth optional pam_mount.so\n"
        #expect(try mend(mount + "auth required pam_unix.so").contains("disable_interactive"))
        let both = "auth required pam_unix.so\n" + mount + "auth optional pam_sss.so use_first_pass"
        #expect(try mend(both).contains("disable_interactive"))
        // pam_unix takes what pam_mount asks for, and asks for nothing itself.
        let taking = mount + "auth required pam_unix.so use_first_pass"
        #expect(try !mend(taking).contains("disable_interactive"))
        // Nor where only another service that reads the same file needs it.
        try machine.bare.write("etc/pam.d/common-mount", mount)
        try machine.bare.write(
            "etc/pam.d/login",
            "@include common-mount\nauth required pam_unix.so use_first_pass\n")
        #expect(
            try !mend("auth required pam_unix.so\n@include common-mount")
                .contains("disable_interactive"))
    }

    @Test(
        "is none where a touch does not lead to it",
        arguments: [
            "# auth optional pam_mount.so", "auth optional pam_permit.so # pam_mount.so",
            "auth sufficient pam_permit.so\nauth optional pam_mount.so",
            "auth [success=done default=ignore] pam_permit.so\nauth optional pam_mount.so",
            "auth [success=1 default=ignore] pam_permit.so\nauth optional pam_mount.so",
            "password optional pam_mount.so", "session optional pam_mount.so",
            "auth optional pam_mount.so.off", "auth optional /opt/none/pam_mount.so",
            "auth [success=1 default=ignore] pam_succeed_if.so service in su:sudo quiet\n"
                + "auth optional pam_mount.so",
            "auth [default=1 success=ignore] pam_succeed_if.so quiet service = login\n"
                + "auth optional pam_mount.so",
        ])
    func unreached(lines: String) throws {
        #expect(try Modular().said(lines) == [])
    }

    @Test("is reported in includes and substacks, and behind rules that are about other services")
    func reached() throws {
        let machine = try Modular()
        try machine.bare.write("etc/pam.d/common-more", "auth optional pam_mount.so\n")
        for lines in [
            "@include common-more", "auth include common-more", "auth substack common-more",
            "auth [success=1 default=ignore] pam_succeed_if.so service = login quiet\n"
                + "auth optional pam_mount.so",
            "auth [success=1 default=ignore] pam_succeed_if.so user = bob\n"
                + "auth optional pam_mount.so",
        ] {
            #expect(try machine.said(lines) == ["prompt-after-touch"], "\(lines)")
        }
        let place = try #require(machine.findings().first?.what.bytes)
        #expect(String(decoding: place, as: UTF8.self).contains("(sudo:6)"))
    }

    @Test("is reported once: a module that has asked gives the password to those after it")
    func once() throws {
        let machine = try Modular()
        for (lines, count) in [
            ("auth optional pam_mount.so\nauth optional pam_kwallet5.so", 1),
            ("auth optional pam_kwallet5.so\nauth optional pam_mount.so", 1),
            ("auth optional pam_unix.so\nauth optional pam_mount.so", 1),
            // pam_sss does not pass on what it has asked for.
            ("auth optional pam_sss.so\nauth optional pam_mount.so", 2),
            ("auth optional pam_sss.so forward_pass\nauth optional pam_mount.so", 1),
            (
                "auth optional pam_mount.so disable_propagate_password\nauth optional pam_unix.so",
                2
            ),
            ("auth optional pam_systemd_loadkey.so\nauth optional pam_mount.so", 0),
            (
                "auth optional pam_kwallet5.so\nauth optional pam_mount.so disable_pam_password",
                2
            ),
            ("auth optional pam_kwallet5.so\nauth optional pam_winbind.so", 2),
        ] {
            let said = try machine.said(lines)
            #expect(said == Array(repeating: "prompt-after-touch", count: count), "\(lines)")
        }
        // A password was typed before the touch.
        try machine.bare.write(
            "etc/pam.d/sudo",
            """
            auth optional pam_unix.so
            auth required pam_signet.so
            auth optional pam_mount.so

            """)
        #expect(try !machine.findings().map(\.code).contains("prompt-after-touch"))
        // The touch alone is not enough.
        try machine.bare.write(
            "etc/pam.d/sudo",
            """
            auth required pam_unix.so
            auth required pam_signet.so
            auth optional pam_mount.so

            """)
        #expect(try !machine.findings().map(\.code).contains("prompt-after-touch"))
    }

    @Test("is none in services that ask for no touch, and none if the touch ends the stack")
    func elsewhere() throws {
        let machine = try Modular()
        let mount = "auth optional pam_mount.so"
        #expect(try machine.said(mount, service: "sshd") == ["network-line"])
        #expect(try machine.said(mount, service: "cron") == [])
        #expect(try machine.said(mount, service: "other") == ["prompt-after-touch"])
        try machine.bare.write("etc/pam.d/chpasswd", "password required pam_unix.so\n")
        let asking = try machine.findings().filter { $0.code == "prompt-after-touch" }
        #expect(asking.map(\.subject) == [Array("other".utf8)])
        try machine.bare.write("etc/pam.d/other", "")
        try machine.bare.write(
            "etc/pam.d/sudo",
            "auth [success=done default=ignore] pam_signet.so\nauth required pam_unix.so\n\(mount)\n"
        )
        #expect(try !machine.findings().map(\.code).contains("prompt-after-touch"))
    }

    @Test("is none in a service that signet.conf excludes")
    func excluded() throws {
        let machine = try Modular()
        #expect(try machine.said("auth optional pam_mount.so") == ["prompt-after-touch"])
        let settings = "[login]\nservices = !sudo\n"
        #expect(try machine.findings(settings: settings).map(\.code) == [])
        let others = "[login]\nservices = !login\n"
        #expect(try machine.findings(settings: others).map(\.code) == ["prompt-after-touch"])
    }

    @Test("asks only some where the touch releases the password of accounts that have stored it")
    func released() throws {
        let machine = try Modular()
        for module in ["pam_mount.so", "pam_kwallet5.so", "pam_zfs_key.so"] {
            let line = "auth optional \(module)"
            #expect(
                try machine.said(line, service: "login", option: "keyring")
                    == ["prompt-without-keyring"])
            #expect(
                try machine.said(line, service: "login").contains("prompt-after-touch"))
            // The daemon releases nothing to sudo, whatever its line says.
            #expect(
                try machine.said(line, service: "sudo", option: "keyring")
                    == ["keyring-unlisted", "prompt-after-touch"])
            try machine.bare.write("etc/pam.d/login", "")
        }
        #expect(
            try machine.said(
                "auth optional pam_mount.so disable_pam_password", service: "login",
                option: "keyring") == ["prompt-after-touch"])
    }

    @Test("asks in the session where a volume is set up, and the lines before kept no password")
    func volumes() throws {
        let machine = try Modular()
        let quiet = "auth optional pam_mount.so disable_interactive"
        let session = "session optional pam_mount.so"
        func said(_ lines: String, _ rest: String) throws -> [String] {
            try machine.said(lines, rest: rest)
        }
        let file = "etc/security/pam_mount.conf.xml"
        for none in ["<pam_mount></pam_mount>", "<!-- <volume user=\"x\" /> --><pam_mount/>"] {
            try machine.bare.write(file, none)
            #expect(try said(quiet, session) == [])
        }
        try machine.bare.write(file, "<!-- a --><pam_mount><volume user=\"alice\" /></pam_mount>")
        #expect(try said(quiet, session) == ["prompt-after-touch"])
        #expect(try said("", session) == ["prompt-after-touch"])
        #expect(try said(quiet, session + " disable_interactive") == [])
        #expect(try said(quiet, "session required pam_unix.so") == [])
        // It keeps what another module asked for.
        #expect(
            try said("auth optional pam_kwallet5.so\n\(quiet)", session)
                == ["prompt-after-touch"])
        #expect(try said("auth optional pam_mount.so", session) == ["prompt-after-touch"])
        #expect(
            try said(quiet, "session [success=1 default=ignore] pam_permit.so\n\(session)") == [])
        // At login the volumes stay unmounted.
        #expect(
            try machine.said(
                quiet, service: "login", option: "keyring", rest: session + " disable_interactive")
                == ["closed-after-touch"])
    }

    @Test("leaves directories closed at login, which is a note, and one for sudo is none")
    func closed() throws {
        let machine = try Modular()
        for module in ["pam_ecryptfs.so unwrap", "pam_cifscreds.so", "pam_fscrypt.so"] {
            let line = "auth optional \(module)"
            let isSetUp = module != "pam_fscrypt.so"
            let expected = isSetUp ? ["closed-after-touch"] : []
            #expect(try machine.said(line, service: "login", option: "keyring") == expected)
            #expect(try machine.said(line, service: "login") == expected)
            #expect(try machine.said(line) == [])
            try machine.bare.write("etc/pam.d/login", "")
        }
        try machine.bare.write("etc/fscrypt.conf", "{}")
        #expect(
            try machine.said("auth optional pam_fscrypt.so", service: "login")
                == ["closed-after-touch"])
        let levels = try machine.findings().map(\.level)
        #expect(levels == [.note])
    }

    @Test("asks for a home of systemd-homed, where there is one")
    func homes() throws {
        let machine = try Modular()
        let rest = "session optional pam_systemd_home.so"
        func said(_ lines: String = "", service: String = "login") throws -> [String] {
            try machine.said(lines, service: service, option: "keyring", rest: rest)
        }
        #expect(try said() == [])
        try machine.bare.write("var/lib/systemd/home/hilda.identity", "{}")
        #expect(try said() == ["home-after-touch"])
        #expect(try said("auth optional pam_systemd_home.so") == ["prompt-without-keyring"])
        // sudo is asked for by users whose home is open.
        #expect(try said(service: "sudo") == ["keyring-unlisted"])
        #expect(
            try machine.said("", service: "login", rest: "account optional pam_systemd_home.so")
                == ["home-after-touch"])
    }
}
