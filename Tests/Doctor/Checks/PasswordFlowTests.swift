// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import TestSupport
import Testing

@testable import Doctor

private let touch = "auth [success=done conv_err=die default=ignore] pam_signet.so"
private let end = "auth requisite pam_deny.so\nauth required pam_permit.so\n"

private func findings(_ files: [String: String]) -> [Finding] {
    StackCheck(ServiceStacks(StackFiles(files.mapValues { Array($0.utf8) }))).findings()
}

private func codes(_ lines: String, service: String = "sudo") -> [String] {
    findings([service: lines]).map(\.code)
}

@Suite("the way of a password through a stack")
struct PasswordFlowTests {
    /// Debian's common-auth with the profiles of Signet, Unix and sssd, as pam-auth-update writes it.
    private let debian = """
        auth [success=3 conv_err=die default=ignore] pam_signet.so
        auth [success=2 default=ignore] pam_unix.so nullok try_first_pass
        auth [success=1 default=ignore] pam_sss.so use_first_pass
        \(end)
        """

    /// As authconfig wrote it for sssd, with the finger in front.
    private let redHat = """
        \(touch)
        auth sufficient pam_unix.so nullok try_first_pass
        auth requisite pam_succeed_if.so uid >= 1000 quiet_success
        auth sufficient pam_sss.so use_first_pass
        auth required pam_deny.so
        """

    @Test("is sound where Debian, authconfig and authselect have sssd take what pam_unix asked for")
    func sound() throws {
        #expect(codes(debian) == [])
        // A touch passes the gate for uids by, as pam_fprintd's did.
        #expect(codes(redHat) == ["gate-skipped"])
        let path = "\(Layout.package)/packaging/authselect/system-auth"
        let plain = String(decoding: try Layout.read(path), as: UTF8.self)
            .split(separator: "\n").filter { !$0.contains("{exclude") }
            .map { $0.prefix { $0 != "{" } }.joined(separator: "\n")
        let found = codes(plain)
        for code in ["password-unasked", "password-shadowed", "touch-behind-password"] {
            #expect(!found.contains(code))
        }
    }

    @Test(
        "ends at a module that never asks, if no module asked before",
        arguments: [
            "auth sufficient pam_sss.so use_first_pass\n",
            "auth sufficient pam_sss.so use_first_pass\nauth sufficient pam_unix.so\n",
            // pam_sss keeps what was typed to itself without forward_pass.
            "auth sufficient pam_sss.so\nauth sufficient pam_unix.so use_first_pass\n",
            // For accounts of sssd pam_unix is passed over.
            """
            auth [default=1 success=ok] pam_localuser.so
            auth sufficient pam_unix.so
            auth sufficient pam_sss.so use_first_pass

            """,
        ])
    func unasked(lines: String) {
        #expect(codes("\(touch)\n\(lines)auth required pam_deny.so").contains("password-unasked"))
    }

    @Test(
        "continues to a module that never asks, if another asked or may have asked",
        arguments: [
            "auth sufficient pam_unix.so\nauth sufficient pam_sss.so use_first_pass\n",
            "auth sufficient pam_sss.so forward_pass\nauth sufficient pam_unix.so use_first_pass\n",
            "auth optional pam_strange.so\nauth sufficient pam_sss.so use_first_pass\n",
            "auth sufficient pam_google_authenticator.so forward_pass\n"
                + "auth sufficient pam_sss.so use_first_pass\n",
            // pam_krb5 asks all the same.
            "auth sufficient pam_krb5.so use_first_pass\nauth sufficient pam_unix.so\n",
        ])
    func asked(lines: String) {
        #expect(!codes("\(touch)\n\(lines)auth required pam_deny.so").contains("password-unasked"))
    }

    @Test("ends for accounts of sssd, or for local ones, where the other's module refuses them")
    func shadowed() {
        let unix = "auth requisite pam_unix.so\nauth sufficient pam_sss.so use_first_pass\n"
        let sssd = "auth requisite pam_sss.so forward_pass\nauth sufficient pam_unix.so\n"
        for lines in [unix, sssd] {
            let found = findings(["sudo": "\(touch)\n\(lines)auth required pam_deny.so"])
            #expect(found.map(\.code) == ["password-shadowed"], "\(lines)")
        }
        let ignoring =
            "auth [success=done user_unknown=ignore default=die] pam_sss.so forward_pass\n"
        #expect(
            codes("\(touch)\n\(ignoring)auth sufficient pam_unix.so\nauth required pam_deny.so")
                == [])
    }

    @Test("precedes a touch if its module is required, and that is reported instead of the rest")
    func behind() {
        for module in ["pam_sss.so", "pam_unix.so"] {
            #expect(
                codes("auth requisite \(module)\nauth required pam_signet.so").contains(
                    "touch-behind-password"))
            let first = codes("auth sufficient \(module)\n\(touch)\nauth required pam_deny.so")
            #expect(!first.contains("touch-behind-password"))
        }
        #expect(
            codes("auth optional pam_signet.so\nauth required pam_unix.so") == ["touch-not-enough"])
    }

    @Test(
        "cannot be typed while a finger is awaited, where the program shows a field for it alone",
        arguments: [
            "gdm-password", "lightdm", "sddm", "plasmalogin", "greetd", "cosmic-greeter", "kde",
            "i3lock", "swaylock", "hyprlock",
        ])
    func blocked(service: String) throws {
        let finding = try #require(findings([service: debian]).first)
        #expect(finding.code == "typing-blocked")
        #expect(
            String(decoding: finding.mend.bytes, as: UTF8.self).hasSuffix("/etc/pam.d/\(service)"))
        let passwordFirst = """
            auth [success=2 default=ignore] pam_unix.so nodelay
            auth [success=1 default=ignore] pam_signet.so timeout=10
            \(end)
            """
        #expect(codes(passwordFirst, service: service) == [])
        let together = debian.replacing("pam_signet.so", with: "pam_signet.so prompt=together")
        #expect(codes(together, service: service) == [])
        let brief = debian.replacing("pam_signet.so", with: "pam_signet.so timeout=10")
        #expect(codes(brief, service: service) == [])
        let long = debian.replacing("pam_signet.so", with: "pam_signet.so timeout=11")
        #expect(codes(long, service: service) == ["typing-blocked"])
        #expect(codes(debian, service: "sudo") == [])
    }
}

@Suite("stacks and the name service")
struct NameServiceTests {
    private static let local = "\(touch)\nauth required pam_unix.so\n"
    private static let both = """
        \(touch)
        auth sufficient pam_unix.so
        auth sufficient pam_sss.so use_first_pass
        auth required pam_deny.so

        """

    /// A machine on which alice, who has a key, is sssd's.
    private func machine(_ stack: String = local) throws -> Bare {
        let bare = try Bare()
        try bare.write("etc/pam.d/sudo", stack)
        try bare.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n")
        try bare.write("etc/nsswitch.conf", "group: files\npasswd:  files sss systemd # all\n")
        try bare.write("etc/sssd/sssd.conf", "", mode: 0o600)
        try bare.write("var/lib/signet/private/accounts/1000/account", "")
        return bare
    }

    private func isFound(_ bare: Bare) -> Bool {
        bare.codes().contains("directory-password-missing")
    }

    @Test("an sssd account whose password no module asks for is reported")
    func missing() throws {
        let bare = try machine()
        let finding = bare.machine.examine { DaemonView(.absent) }
            .first { $0.code == "directory-password-missing" }
        #expect(finding?.subject == Array("alice".utf8))
    }

    @Test("nothing is reported if it is asked for, the account is local, or sssd is not in use")
    func sound() throws {
        #expect(!isFound(try machine(Self.both)))
        #expect(
            !isFound(try machine("\(touch)\nauth required pam_unix.so\nauth optional pam_x.so\n")))
        let local = try machine()
        try local.write("etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/a:/bin/sh\n")
        #expect(!isFound(local))
        let other = try machine()
        try other.write("etc/nsswitch.conf", "passwd: files ldap sss\n")
        #expect(!isFound(other))
        let plain = try machine()
        try plain.write("etc/nsswitch.conf", "passwd: files\n")
        #expect(!isFound(plain))
    }

    @Test("fprintd's profile beside pam_signet is reported, and no other profile")
    func profile() throws {
        let bare = try Bare()
        try bare.write("var/lib/pam/auth", "Module: unix\nx\nModule: fprintd\nx\n")
        #expect(!bare.codes().contains("fprintd-profile"))
        try bare.write("etc/pam.d/sudo", Self.local)
        #expect(bare.codes().contains("fprintd-profile"))
        try bare.write("var/lib/pam/auth", "Module: unix\nx\nModule: fingwit\nx\n")
        #expect(bare.codes().contains("fprintd-profile"))
        try bare.write("var/lib/pam/auth", "Module: unix\nx\nModule: signet\nx\n")
        #expect(!bare.codes().contains("fprintd-profile"))
    }
}
