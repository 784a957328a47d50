// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages
import TestSupport
import Testing

@testable import Doctor

private func findings(_ files: [String: String], keyring: String? = nil) throws -> [Finding] {
    let settings = try keyring.map { services in
        let text = "[keyring]\nservices = \(services)\n"
        return try Configuration(files: [("signet.conf", Array(text.utf8))])
    }
    let stacks = ServiceStacks(StackFiles(files.mapValues { Array($0.utf8) }))
    return StackCheck(stacks, configuration: settings).findings()
}

/// The findings' codes about one service, by default one that may get the login password.
private func codes(
    _ lines: String, service: String = "login", keyring: String? = nil
) throws -> [String] {
    try findings([service: lines], keyring: keyring).map(\.code)
}

private func isDangerous(_ lines: String) throws -> Bool {
    try codes(lines).contains("released-password")
}

private let touch = "auth [success=done conv_err=die default=ignore] pam_signet.so"
private let profile = """
    auth [success=2 conv_err=die default=ignore] pam_signet.so keyring
    auth [success=1 default=ignore] pam_unix.so nullok try_first_pass
    auth requisite pam_deny.so
    auth required pam_permit.so

    """

@Suite("the login password that a touch releases, in a stack")
struct ReleasedPasswordTests {
    @Test(
        "is a danger in front of a module that takes it for one that was typed",
        arguments: [
            "pam_unix.so", "pam_unix.so try_first_pass", "pam_unix.so use_first_pass",
            "pam_unix.so nullok likeauth", "pam_sss.so", "pam_sss.so forward_pass", "pam_ldap.so",
            "pam_krb5.so", "pam_winbind.so", "pam_extrausers.so", "pam_tcb.so", "pam_userdb.so",
            "pam_radius_auth.so", "pam_ssh.so", "pam_pgsql.so", "/lib/security/pam_unix.so",
            "pam_exec.so expose_authtok /usr/local/bin/check",
        ])
    func taken(module: String) throws {
        for control in ["required", "requisite", "[success=ok default=die]"] {
            let stack = "auth required pam_signet.so keyring\nauth \(control) \(module)\n"
            let found = try codes(stack)
            #expect(found.contains("released-password"), "\(stack)")
            // It is not reported that the password is still asked for.
            #expect(!found.contains("touch-not-enough") && !found.contains("touch-behind-password"))
            #expect(try !isDangerous(stack.replacing(" keyring", with: "")), "\(stack)")
        }
    }

    @Test("is one through jumps, includes, substacks, and an optional touch")
    func ways() throws {
        let signet = "auth required pam_signet.so keyring\n"
        for stack in [
            "auth optional pam_signet.so keyring\nauth required pam_unix.so\n",
            "auth [success=1 default=ignore] pam_signet.so keyring\nauth required pam_deny.so\n"
                + "auth required pam_unix.so\n",
            "auth required pam_env.so\n\(signet)auth [success=1 default=ignore] pam_unix.so\n"
                + "auth requisite pam_deny.so\nauth required pam_permit.so\n",
            "\(signet)auth sufficient pam_unix.so\nauth sufficient pam_sss.so\n"
                + "auth required pam_deny.so\n",
            // For accounts that each module but one does not know.
            "\(signet)auth [success=ok user_unknown=ignore default=bad] pam_unix.so\n"
                + "auth [success=ok user_unknown=ignore default=bad] pam_sss.so\n",
        ] { #expect(try isDangerous(stack), "\(stack)") }
        let unix = "auth required pam_unix.so\n"
        for (files, place) in [
            (["login": "\(signet)@include more\n", "more": unix], "more:1"),
            (["login": "\(signet)auth substack more\n", "more": unix], "more:1"),
            (["login": "@include common-auth\n\(unix)", "common-auth": profile], "login:2"),
            (["login": "auth include more\n\(unix)", "more": signet], "login:2"),
        ] {
            let found = try findings(files).first { $0.code == "released-password" }
            #expect(found?.level == .danger)
            let told = String(decoding: found?.what.bytes ?? [], as: UTF8.self)
            #expect(
                told.contains("(\(place))") && told.hasPrefix("login: pam_unix does not ask"),
                "\(files)")
        }
    }

    @Test("is safe if a touch skips the password, or no password has to be right behind it")
    func harmless() throws {
        for stack in [
            "\(touch) keyring\nauth required pam_unix.so\n",
            profile + "auth optional pam_gnome_keyring.so\n",
            "auth [success=1 default=ignore] pam_signet.so keyring\nauth required pam_unix.so\n"
                + "auth required pam_permit.so\n",
            // The password was typed before, and is right, or the stack has failed by now.
            "auth required pam_unix.so\nauth required pam_signet.so keyring prompt=finger\n"
                + "auth optional pam_gnome_keyring.so\n",
            "auth required pam_unix.so\nauth required pam_signet.so keyring prompt=finger\n"
                + "auth required pam_sss.so use_first_pass\n",
            "auth required pam_signet.so keyring\nauth optional pam_unix.so\n",
            "auth required pam_signet.so keyring\nauth sufficient pam_unix.so\n"
                + "auth required pam_permit.so\n",
            "auth required pam_signet.so keyring\nauth required pam_sss.so prompt_always\n",
            "auth required pam_signet.so keyring\nauth required pam_google_authenticator.so\n",
            "auth required pam_signet.so keyring\nauth required pam_exec.so /bin/true\n",
            // With an option that it does not know the module releases nothing.
            "auth required pam_signet.so keyring keyring\nauth required pam_unix.so\n",
        ] { #expect(try !isDangerous(stack), "\(stack)") }
    }

    @Test(
        "has nothing against the shipped stacks; the one for finger and password is reported as one"
    )
    func shipped() throws {
        func example(_ name: String) throws -> String {
            String(
                decoding: try Layout.read("\(Layout.package)/pam/examples/\(name)"), as: UTF8.self)
        }
        for (name, service) in [
            ("login", "login"), ("lightdm", "lightdm"), ("lightdm-finger", "lightdm"),
            ("gdm-fingerprint", "gdm-fingerprint"),
        ] {
            let found = try findings([
                service: try example(name), "common-account": "", "common-session": "",
            ])
            #expect(found.isEmpty, "\(name): \(found.map(\.code))")
        }
        let both = try findings(["login": try example("finger-and-password")]).map(\.code)
        #expect(both == ["password-unreachable", "touch-behind-password"])
    }

    @Test("if the service is not listed, this is reported at its own lines, not at shared ones")
    func unlisted() throws {
        let own = "auth required pam_signet.so keyring\nauth required pam_unix.so\n"
        let found = try codes(own, service: "sudo")
        #expect(found.contains("released-password") && found.contains("keyring-unlisted"))
        let shared = try findings([
            "sudo": "@include common-auth\nauth required pam_unix.so\n", "common-auth": profile,
        ]).map(\.code)
        #expect(shared == ["touch-not-enough"])
    }
}

@Suite("the option keyring, in a stack")
struct KeyringOptionTests {
    @Test("has no effect in a service that keyring.services does not list, except in shared lines")
    func unlisted() throws {
        #expect(
            try codes("\(touch) keyring\nauth required pam_unix.so\n", service: "sudo")
                == ["keyring-unlisted"])
        #expect(try codes("\(touch) keyring\nauth required pam_unix.so\n") == [])
        let stacks = ["sudo", "login", "sshd"].map { ($0, "@include common-auth\n") }
        var files = Dictionary(uniqueKeysWithValues: stacks)
        files["common-auth"] = profile
        #expect(try findings(files).isEmpty)
        // A file that a listed service includes is shared, whatever its name.
        #expect(
            try findings(
                [
                    "login": "auth include mine\n", "sudo": "auth include mine\n", "mine": profile,
                ], keyring: "login"
            ).map(\.subject).contains(Array("sudo".utf8)) == false)
        #expect(
            try codes("\(touch) keyring\nauth required pam_unix.so\n", keyring: "greetd")
                == ["keyring-unlisted"])
        #expect(
            try codes(
                "\(touch) keyring\nauth required pam_unix.so\n", service: "greeter",
                keyring: "greeter") == [])
    }

    @Test("is missed where a keyring stands behind a touch, and only there")
    func missing() throws {
        let keyring = "auth optional pam_gnome_keyring.so\n"
        let login = """
            auth [success=1 conv_err=die default=ignore] pam_signet.so
            auth requisite pam_unix.so try_first_pass
            auth required pam_permit.so

            """
        #expect(try codes(login) == [])
        #expect(try codes(login + keyring) == ["keyring-missing"])
        #expect(try codes(login + "auth optional pam_kwallet5.so\n") == ["keyring-missing"])
        #expect(try codes(login + keyring, service: "sudo") == [])
        // The touch ends the stack before it.
        let short = "\(touch)\nauth requisite pam_unix.so\n"
        #expect(try codes(short + keyring) == [])
        #expect(
            try codes(login.replacing("pam_signet.so", with: "pam_signet.so keyring") + keyring)
                == [])
        // The keyring opens with the password that was typed.
        let both = "auth required pam_unix.so\nauth required pam_signet.so prompt=finger\n"
        #expect(try !codes(both + keyring).contains("keyring-missing"))
    }

    @Test(
        "is a danger in a service for people far away, where it is meant or has an effect",
        arguments: [
            "sshd", "openvpn", "openvpn-office", "vsftpd", "imap", "xrdp-sesman", "cockpit",
        ])
    func remote(service: String) throws {
        let stack = "\(touch) keyring\nauth required pam_unix.so\n"
        let found = try findings([service: stack])
        #expect(found.map(\.code) == ["keyring-remote"])
        #expect(found.first?.level == .danger)
        let plain = stack.replacing(" keyring", with: "")
        #expect(try codes(plain, service: service, keyring: service) == ["network-line"])
        let shared = [service: "@include common-auth\n", "common-auth": profile]
        #expect(try findings(shared).isEmpty)
        #expect(
            try findings(shared, keyring: "login, \(service)").map(\.code) == ["keyring-remote"])
    }
}
