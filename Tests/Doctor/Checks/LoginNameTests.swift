// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import Posix
import TestSupport
import Testing

@testable import Doctor

@Suite("names in the lists of [login]")
struct LoginNameTests {
    private static let touch = "auth [success=done default=ignore] pam_signet.so\n"

    private func machine(_ lines: String) throws -> Bare {
        let bare = try Bare()
        for service in ["sudo", "lightdm", "common-auth"] {
            try bare.write("etc/pam.d/\(service)", "auth required pam_unix.so\n")
        }
        try bare.write("usr/lib/pam.d/swaylock", "auth required pam_unix.so\n")
        try bare.write("etc/passwd", "root:x:0\nalice:x:1000\n")
        try bare.write("etc/group", "root:x:0\nstaff:x:50\n")
        try bare.write("etc/signet/signet.conf", "[login]\n\(lines)\n")
        return bare
    }

    private func told(_ bare: Bare) -> [String] {
        findings(bare).map { "\($0.code): \(String(decoding: $0.what.bytes, as: UTF8.self))" }
    }

    private func findings(_ bare: Bare) -> [Finding] {
        let told = [
            "service-unknown", "account-unknown", "group-unknown", "denied-group-unknown",
            "keyring-service-unknown", "unit-malformed", "setting-obsolete",
        ]
        return bare.machine.examine { DaemonView(.absent) }.filter { told.contains($0.code) }
    }

    @Test("that there are, and no list at all, leave the doctor silent")
    func known() throws {
        #expect(told(try machine("")) == [])
        #expect(
            told(
                try machine(
                    """
                    services = sudo, !lightdm, !swaylock
                    accounts = alice, !root
                    groups = staff, !root
                    """)) == [])
    }

    @Test("that do not exist are reported, with the most similar name")
    func unknown() throws {
        #expect(
            told(try machine("services = !lightmd, screen")) == [
                "service-unknown: login.services: there is no service lightmd in /etc/pam.d. "
                    + "Did you mean lightdm?",
                "service-unknown: login.services: there is no service screen in /etc/pam.d",
            ])
        #expect(
            told(try machine("accounts = !roto")) == [
                "account-unknown: login.accounts: there is no account roto on this machine. "
                    + "Did you mean root?"
            ])
        #expect(
            told(try machine("groups = stuff")) == [
                "group-unknown: login.groups: there is no group stuff on this machine. "
                    + "Did you mean staff?"
            ])
    }

    @Test("of groups whose members are excluded are a fault: every user is excluded then")
    func denied() throws {
        #expect(
            told(try machine("groups = !contractors")) == [
                "denied-group-unknown: login.groups: there is no group contractors on this machine"
            ])
        #expect(findings(try machine("groups = !contractors")).map(\.level) == [.fault])
    }

    @Test(
        "of services that may receive the password are reported too, if the list is the admin's own"
    )
    func keyringServices() throws {
        #expect(
            told(try machine("[keyring]\nservices = lightmd, sudo")) == [
                "keyring-service-unknown: keyring.services: there is no service lightmd in "
                    + "/etc/pam.d. Did you mean lightdm?"
            ])
        #expect(told(try machine("[keyring]\nservices = lightdm")) == [])
        #expect(told(try machine("[keyring]\nservices =")) == [])
    }

    @Test("of units are reported if no unit can have such a name")
    func units() throws {
        #expect(
            told(
                try machine(
                    """
                    console-units = getty@.service, getty@tty1, getty.target
                    display-managers = gdm.service, sddm, @.service, my\\x2ddm.service
                    """)) == [
                    "unit-malformed: login.console-units: getty@tty1 is not the name of a "
                        + "service unit. Did you mean getty@tty1.service?",
                    "unit-malformed: login.console-units: getty.target is not the name of a "
                        + "service unit. Did you mean getty.target.service?",
                    "unit-malformed: login.display-managers: sddm is not the name of a service "
                        + "unit. Did you mean sddm.service?",
                    "unit-malformed: login.display-managers: @.service is not the name of a "
                        + "service unit",
                ])
    }

    @Test("beside a setting that no longer exists leave the rest in force, and it is reported")
    func obsolete() throws {
        let bare = try machine("services = !sduo\n[keyring]\nexcept = sudo")
        let found = told(bare)
        #expect(found.count == 2)
        #expect(
            found.contains {
                $0.hasPrefix("setting-obsolete: ")
                    && $0.contains("/etc/signet/signet.conf:4: 'except' in [keyring] has no effect")
            })
        #expect(found.contains { $0.hasPrefix("service-unknown: ") })
        #expect(!bare.codes().contains("configuration-refused"))
    }

    @Test("are not reported if the name service does not answer, or 'other' serves every service")
    func silent() throws {
        var bare = try machine("services = screen\naccounts = bob, !root\ngroups = !guests")
        bare.machine.nameService.isAccount = { (name) throws(SystemFault) in
            throw SystemFault("getpwnam_r", on: name, code: 5)
        }
        bare.machine.nameService.isGroup = { (name) throws(SystemFault) in
            throw SystemFault("getgrnam_r", on: name, code: 5)
        }
        try bare.write("etc/pam.d/other", Self.touch + "auth required pam_unix.so\n")
        #expect(told(bare) == [])
    }
}
