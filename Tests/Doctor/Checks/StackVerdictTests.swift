// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import Posix
import TestSupport
import Testing

@testable import Doctor

/// Debian's common-auth as pam-auth-update writes it, with the profile's lines.
private let debian = """
    # here are the per-package modules (the "Primary" block)
    auth	[success=2 conv_err=die default=ignore]	pam_signet.so keyring
    auth	[success=1 default=ignore]	pam_unix.so nullok try_first_pass
    # here's the fallback if no module succeeds
    auth	requisite			pam_deny.so
    auth	required			pam_permit.so
    auth	optional			pam_cap.so
    """

/// Fedora's system-auth as authselect writes it for sssd with faillock and a fingerprint, ours.
private let fedora = """
    auth  required                                     pam_env.so
    auth  required                                     pam_faildelay.so delay=2000000
    auth  required                                     pam_faillock.so preauth silent
    auth  sufficient                                   pam_signet.so
    auth  [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
    auth  [default=1 ignore=ignore success=ok]         pam_localuser.so
    auth  sufficient                                   pam_unix.so nullok
    auth  [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
    auth  sufficient                                   pam_sss.so forward_pass
    auth  required                                     pam_faillock.so authfail
    auth  required                                     pam_deny.so
    """

private func codes(_ files: [String: String]) -> [String] {
    let parsed = StackFiles(files.mapValues { Array($0.utf8) })
    return StackCheck(ServiceStacks(parsed)).findings().map(\.code)
}

/// The findings' codes about one service.
private func codes(_ lines: String, common: String = debian) -> [String] {
    codes(["sudo": lines, "common-auth": common])
}

private func example(_ name: String) throws -> String {
    String(decoding: try Layout.read("\(Layout.package)/pam/examples/\(name)"), as: UTF8.self)
}

private let plain = """
    auth [success=1 default=ignore] pam_unix.so
    auth requisite pam_deny.so
    auth required pam_permit.so
    """

private let touch = "auth [success=done conv_err=die default=ignore] pam_signet.so"

@Suite("the judgement on a stack")
struct StackVerdictTests {
    @Test("has nothing against Debian's and Fedora's own, GDM's, and the shipped examples")
    func sound() throws {
        #expect(codes("@include common-auth\n") == [])
        #expect(
            codes([
                "su": "auth sufficient pam_rootok.so\n@include common-auth", "common-auth": debian,
            ]) == [])
        #expect(
            codes([
                "login": "auth substack system-auth\nauth include postlogin\n",
                "system-auth": fedora, "postlogin": "auth optional pam_lastlog.so\n",
            ]) == [])
        #expect(
            codes([
                "gdm-password": """
                auth requisite pam_nologin.so
                auth required pam_succeed_if.so user != root quiet_success
                @include common-auth
                auth optional pam_gnome_keyring.so
                """, "common-auth": debian,
            ]) == ["typing-blocked"])
        #expect(
            codes([
                "sudo": try example("sudo"), "common-auth": plain,
                "common-account": "", "common-session-noninteractive": "",
            ]) == [])
        #expect(codes(["login": try example("login")]) == [])
        #expect(
            codes([
                "gdm-fingerprint": try example("gdm-fingerprint"),
                "common-account": "", "common-session": "",
            ]) == [])
        for name in ["lightdm", "lightdm-finger"] {
            #expect(codes(["lightdm": try example(name)]) == [])
        }
        #expect(codes(["passwd": try example("passwd")]) == [])
    }

    @Test(
        "a touch that skips what a password login must pass is reported, whatever it is called",
        arguments: [
            "auth required pam_google_authenticator.so", "auth required pam_of_our_own.so",
            "auth requisite pam_u2f.so", "auth [success=ok default=die] pam_x.so",
            "auth [success=1 default=ignore] pam_x.so\nauth requisite pam_deny.so",
        ])
    func factors(line: String) {
        let after = "\(touch)\n@include common-auth\n\(line)\n"
        #expect(codes(after, common: plain) == ["factor-skipped"])
        #expect(codes("\(line)\n\(touch)\n@include common-auth\n", common: plain) == [])
    }

    @Test(
        "a touch may skip what decides nothing, and what another way makes unnecessary",
        arguments: [
            "auth optional pam_of_our_own.so", "auth required pam_permit.so",
            "auth required pam_env.so", "auth required pam_cap.so",
            "auth optional pam_gnome_keyring.so",
            "-auth optional pam_kwallet5.so", "auth sufficient pam_u2f.so\nauth optional pam_x.so",
            "auth required pam_group.so", "auth [default=ignore] pam_x.so",
        ])
    func harmless(line: String) {
        #expect(codes("\(touch)\n@include common-auth\n\(line)\n", common: plain) == [])
    }

    @Test("line ends of Windows are found in any stack, with the command that removes them")
    func carriageReturns() {
        let unix = "auth sufficient pam_signet.so\n@include common-auth\n"
        let windows = unix.replacing("\n", with: "\r\n")
        #expect(codes(windows, common: plain).contains("stack-carriage-return"))
        #expect(
            codes(unix, common: plain.replacing("\n", with: "\r\n")).contains(
                "stack-carriage-return"))
        let one = "auth sufficient pam_signet.so\r\n@include common-auth\n"
        #expect(codes(one, common: plain) == ["stack-carriage-return"])
        let parsed = StackFiles(["sudo": Array(one.utf8), "common-auth": Array(plain.utf8)])
        let found = StackCheck(ServiceStacks(parsed)).findings().first
        #expect(found?.mend.bytes == "sed -i 's/\\r//g' /etc/pam.d/sudo".bytes)
        #expect(codes("# comment\r\n\(unix)", common: plain) == [])
    }

    @Test("a file at whose end libpam gives up is found, also if it is the one of 'other'")
    func cut() {
        #expect(codes("\(plain)\nauth optional pam_x.so \\\n").contains("stack-cut"))
        #expect(
            codes(["sudo": plain, "other": "auth required pam_deny.so \\"]).filter {
                $0 == "stack-cut"
            }.count
                >= 1)
    }

    @Test("a required finger in front of the password locks users out without a reader")
    func unreachable() {
        let found = codes("auth required pam_signet.so\n@include common-auth\n", common: plain)
        #expect(found.contains("password-unreachable"))
        #expect(
            codes("auth requisite pam_signet.so\n@include common-auth\n", common: plain)
                .contains("password-unreachable"))
        #expect(
            codes(
                "auth [success=done default=die] pam_signet.so\n@include common-auth\n",
                common: plain)
                == ["password-unreachable"])
    }

    @Test("a wrong finger, or a fault, that ends the stack is distinguished from no finger")
    func lost() {
        let mismatch = touch.replacing("conv_err=die", with: "auth_err=die maxtries=die")
        #expect(
            codes(mismatch + "\n@include common-auth\n", common: plain) == [
                "password-lost-after-mismatch"
            ])
        let fault = touch.replacing(
            "default=ignore",
            with: "authinfo_unavail=ignore auth_err=ignore maxtries=ignore default=bad")
        #expect(
            codes(fault + "\n@include common-auth\n", common: plain) == [
                "password-lost-after-fault"
            ])
    }

    @Test("a stack without a password is a danger, but not GDM's for fingers")
    func noPassword() {
        #expect(codes(touch + "\nauth requisite pam_deny.so\n") == ["no-password"])
        #expect(codes(["gdm-fingerprint": "auth required pam_signet.so\n"]) == [])
    }

    @Test("a stack that ends in success admits every user")
    func open() {
        #expect(
            codes("\(touch)\nauth sufficient pam_unix.so\nauth required pam_permit.so\n").contains(
                "stack-open"))
        #expect(
            codes(
                "auth sufficient pam_signet.so\nauth sufficient pam_unix.so\nauth required pam_permit.so\n"
            ).contains("stack-open"))
        // libpam counts a jump for nothing, but the permit behind it for something.
        let short = debian.replacing("success=2", with: "success=3").replacing(
            "auth\trequisite\t\t\tpam_deny.so", with: "")
        #expect(codes("@include common-auth\n", common: short).contains("stack-open"))
    }

    @Test("a touch that is optional, or whose jump counts for nothing, is not enough")
    func touchNotEnough() {
        #expect(
            codes("auth optional pam_signet.so\n@include common-auth\n", common: plain) == [
                "touch-not-enough"
            ])
        let jump = "auth [success=1 default=ignore] pam_signet.so\nauth required pam_unix.so\n"
        #expect(codes(jump) == ["touch-not-enough"])
    }

    @Test("gates behind the touch are passed by, those in front are not")
    func gates() {
        #expect(
            codes("\(touch)\nauth requisite pam_nologin.so\n@include common-auth\n", common: plain)
                == ["gate-skipped"])
        #expect(
            codes("auth requisite pam_nologin.so\n\(touch)\n@include common-auth\n", common: plain)
                == [])
        #expect(
            codes("\(touch)\nauth required pam_access.so\n@include common-auth\n", common: plain)
                == ["gate-skipped"])
    }

    @Test("faillock's gate may be passed by a touch that faillock neither counts nor forgets by")
    func faillockGate() {
        let preauth = "auth required pam_faillock.so preauth\n"
        #expect(codes("\(touch)\n\(preauth)@include common-auth\n", common: plain) == [])
        let reset = """
            auth [success=2 conv_err=die default=ignore] pam_signet.so
            \(preauth)auth [success=1 default=die] pam_unix.so
            auth sufficient pam_faillock.so authsucc
            auth sufficient pam_faillock.so authsucc
            """
        #expect(codes(reset).contains("gate-skipped"))
    }

    @Test("has nothing against the shipped authselect profile, with each of its features")
    func authselect() throws {
        func expanded(_ name: String, _ features: [String]) throws -> String {
            let answer = ChildOutput.of(
                "\(Layout.package)/checks/authselect",
                arguments: ["\(Layout.package)/packaging/authselect/\(name)"] + features,
                cap: 65_536, within: .seconds(60))
            guard case .said(let text) = answer else {
                Issue.record("\(name): \(answer)")
                return ""
            }
            return String(decoding: text, as: UTF8.self)
        }
        for more in [[], ["with-faillock"], ["with-faillock", "without-nullok", "with-mkhomedir"]] {
            let features = ["with-signet", "with-signet-greeter"] + more
            let names = ["system-auth", "password-auth", "fingerprint-auth", "postlogin"]
            var files = try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try expanded($0, features)) })
            #expect(files["system-auth"]?.contains("pam_signet.so") == true)
            files["sudo"] = "auth include system-auth\naccount include system-auth\n"
            files["login"] = "auth substack system-auth\nauth include postlogin\n"
            files["sshd"] = "auth substack password-auth\n"
            files["gdm-fingerprint"] = "auth substack fingerprint-auth\n"
            #expect(codes(files) == [], "\(more)")
        }
    }

    @Test("what packaging tools and editors leave behind is not a service, and may be included")
    func leftovers() {
        let bad = "auth required pam_signet.so\n"
        for name in ["sudo.dpkg-old", "sudo.dpkg-dist", "su.rpmnew", "sudo~", ".sudo.swp"] {
            #expect(codes([name: bad]) == [], "\(name)")
        }
        #expect(codes(["sudo": "@include su.rpmsave\n", "su.rpmsave": bad]) == ["no-password"])
    }

    @Test("pam_faillock that counts fingers, or is not reset by them, is reported")
    func faillock() {
        let counted = """
            auth [success=done auth_err=2 maxtries=2 default=ignore] pam_signet.so
            auth sufficient pam_unix.so
            auth requisite pam_deny.so
            auth [default=die] pam_faillock.so authfail
            """
        #expect(codes(counted).contains("fingers-counted"))
        let reset = """
            \(touch)
            auth [success=1 default=bad] pam_unix.so
            auth [default=die] pam_faillock.so authfail
            auth sufficient pam_faillock.so authsucc
            """
        #expect(codes(reset) == ["failures-stay"])
    }

    @Test("jumps beyond the end are reported, in any module's line")
    func longJump() {
        #expect(
            codes(
                "auth [success=9 default=ignore] pam_signet.so\n@include common-auth\n",
                common: plain)
                == ["long-jump", "touch-not-enough"])
        #expect(
            codes(
                "\(touch)\nauth [success=4 default=ignore] pam_unix.so\nauth requisite pam_deny.so\n"
            )
            .contains("long-jump"))
    }

    @Test("an endless wait for the finger is reported where a password follows, and only there")
    func endlessWait() throws {
        let waiting = debian.replacing("pam_signet.so", with: "pam_signet.so wait")
        #expect(codes(["swaylock": waiting]).contains("wait-before-password"))
        #expect(codes(["kde-fingerprint": debian]).contains("wait-before-password"))
        #expect(!codes(["swaylock": debian]).contains("wait-before-password"))
        #expect(
            codes([
                "kde-fingerprint": try example("kde-fingerprint"), "common-account": "",
            ]) == [])
    }

    @Test("face recognition and fingwit beside the module are known, and no fault")
    func neighbours() {
        for module in ["pam_howdy", "pam_irlume"] {
            #expect(
                codes("auth sufficient \(module).so\n@include common-auth\n") == [], "\(module)")
        }
        #expect(
            codes(
                """
                auth [authinfo_unavail=1 default=ignore] pam_fingwit.so
                \(touch)
                @include common-auth
                """, common: plain) == [])
    }

    @Test(
        "a module that occurs twice, pam_fprintd beside it, and wrong types and options are reported"
    )
    func lines() {
        #expect(codes("\(touch)\n@include common-auth\n") == ["module-twice"])
        #expect(
            codes("auth sufficient pam_fprintd.so\n\(touch)\n@include common-auth\n", common: plain)
                == ["other-fingerprint"])
        #expect(
            codes(
                "\(touch)\n@include common-auth\nauth [default=ignore] pam_fprintd.so\n",
                common: plain)
                == ["other-fingerprint"])
        #expect(codes("@include common-auth\nsession optional pam_signet.so\n") == ["wrong-type"])
        #expect(
            codes("\(touch) timeuot=5\n@include common-auth\n", common: plain) == ["module-option"])
        #expect(
            codes("\(touch) debug debug\n@include common-auth\n", common: plain) == [
                "module-option"
            ])
        #expect(
            codes("\(touch) socket=/run/x.sock\n@include common-auth\n", common: plain) == [
                "socket-elsewhere"
            ])
    }

    @Test("unreadable lines, and missing and endless includes, are reported")
    func troubles() {
        #expect(
            codes("\(touch)\nauht required pam_unix.so\n@include common-auth\n", common: plain)
                .contains("stack-broken"))
        #expect(codes("\(touch)\n@include gone\n") == ["include-missing"])
        #expect(codes("\(touch)\n@include sudo\n").contains("include-loop"))
    }

    @Test("services with the same finding at the same place are reported together")
    func together() {
        let parsed = StackFiles([
            "sudo": Array("@include common-auth".utf8), "su": Array("@include common-auth".utf8),
            "common-auth": Array("auth required pam_signet.so\n\(plain)".utf8),
        ])
        let findings = StackCheck(ServiceStacks(parsed)).findings()
        #expect(findings.allSatisfy { $0.subject == Array("su, sudo".utf8) })
        #expect(
            findings.first.map { String(decoding: $0.mend.bytes, as: UTF8.self) }
                == "${EDITOR:-vi} /etc/pam.d/common-auth")
    }

    @Test("services without the module are not judged")
    func others() {
        #expect(codes(["cron": "auth required pam_permit.so\n"]) == [])
    }

    @Test("a stack with too many ways is said to be one")
    func tangled() {
        let gates = (0..<14).map { "auth optional pam_strange\($0).so\n" }.joined()
        #expect(
            codes(gates + touch + "\n@include common-auth\n", common: plain) == ["stack-tangled"])
    }
}

@Suite("the stack for passwords")
struct PasswordStackTests {
    private func codes(_ text: String?) -> [String] {
        var files: [String: [UInt8]] = ["common-auth": Array(debian.utf8)]
        files["signet"] = text.map { Array($0.utf8) }
        return PasswordStackCheck(files: StackFiles(files)).findings().map(\.code)
    }

    @Test("as shipped is sound")
    func shipped() throws {
        let text = try Layout.read("\(Layout.package)/pam/signet")
        #expect(codes(String(decoding: text, as: UTF8.self)) == [])
    }

    @Test("is reported if it is missing, asks for a finger, or admits every user or none")
    func bad() {
        #expect(codes(nil) == ["password-stack-missing"])
        #expect(codes("@include common-auth\n") == ["password-stack-recursive"])
        #expect(
            codes("auth sufficient pam_unix.so\nauth required pam_permit.so\n") == [
                "password-stack-open"
            ])
        #expect(
            codes("auth required pam_unix.so\nauth required pam_deny.so\n") == [
                "password-stack-closed"
            ])
    }
}
