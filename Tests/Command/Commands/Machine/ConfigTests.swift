// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Doctor
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@Suite("signet config")
struct ConfigTests {
    private let setting = SettingAnswer(
        name: Bytes("touch.timeout".utf8), value: Bytes("60s".utf8),
        origin: Bytes("default".utf8))

    @Test("shows what is in force and where it comes from")
    func show() throws {
        let script = answering(.of(setting), .done(DoneAnswer()))
        let run = try signet(["config"], [script])
        #expect(run.code == .done)
        #expect(run.output.hasPrefix("touch.timeout  = 60s (default)\n\n"))
        let document = try signet(["config", "--json"], [script]).document("config")
        let settings = document["settings"] as? [[String: Any]]
        #expect(settings?.first?["value"] as? String == "60s")
    }

    @Test("shows the options that PAM stacks give the module, and their places")
    func modules() throws {
        let scratch = try Scratch()
        let script = answering(.of(setting), .done(DoneAnswer()))
        let none = try signet(["config"], [script], in: scratch)
        #expect(
            none.output.hasSuffix(
                "\n\nno service in /etc/pam.d uses pam_signet, so none asks for a touch\n"))
        let other = try Scratch()
        try other.write("etc/pam.d/common-auth", "auth sufficient pam_signet.so keyring\n")
        try other.write("etc/pam.d/login", "@include common-auth\n")
        try other.write("etc/pam.d/sudo", "#\nauth required pam_signet.so timeout=9 debug\n")
        try other.write("etc/pam.d/passwd", "password optional pam_signet.so\n")
        try other.write("etc/pam.d/su", "auth required pam_unix.so\n")
        let run = try signet(["config"], [script], in: other)
        #expect(
            run.output.hasSuffix(
                """
                services  stack     options          line
                login     auth      keyring          /etc/pam.d/common-auth:1
                passwd    password  -                /etc/pam.d/passwd:1
                sudo      auth      timeout=9 debug  /etc/pam.d/sudo:2

                """), "\(run.output)")
        let third = try Scratch()
        try third.write("etc/pam.d/sudo", "auth required pam_signet.so timeout=9 debug\n")
        let document = try signet(["config", "--json"], [script], in: third).document("config")
        let modules = try #require(document["modules"] as? [[String: Any]])
        #expect(modules.map { $0["services"] as? [String] } == [["sudo"]])
        #expect(modules.map { $0["options"] as? [String] } == [["timeout=9", "debug"]])
    }

    @Test("--check says nothing of what signet-relay reads by itself")
    func relay() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[relay]\npin = none\nconnect-timeout = 7s\n")
        let connect = SettingAnswer(
            name: Bytes("relay.connect-timeout".utf8), value: Bytes("5s".utf8),
            origin: Bytes("default".utf8))
        let script = answering(.of(connect), .done(DoneAnswer()))
        let run = try signet(["config", "--check"], [script], in: scratch)
        #expect(run.output.hasSuffix("the running service uses these settings\n"), "\(run.output)")
        let other = try Scratch()
        try other.write("signet.conf", "[relay]\ntimeout = 7s\n")
        let total = SettingAnswer(
            name: Bytes("relay.timeout".utf8), value: Bytes("15s".utf8),
            origin: Bytes("default".utf8))
        let differs = try signet(
            ["config", "--check"], [answering(.of(total), .done(DoneAnswer()))], in: other)
        #expect(differs.output.contains("run 'systemctl try-restart signetd'"))
    }

    @Test("--check finds no mistake, and shows what the service uses instead")
    func differs() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 20s\n")
        try scratch.write("signet.conf.d/10.conf", "[touch]\ntimeout = 30s\n")
        let script = answering(.of(setting), .done(DoneAnswer()))
        let run = try signet(["config", "--check"], [script], in: scratch)
        #expect(run.code == .done)
        #expect(run.output.contains("no mistakes in "))
        #expect(
            run.output.contains(
                "touch.timeout: the running service uses 60s (default), but the files say 30s\n"))
        #expect(run.output.contains("run 'systemctl try-restart signetd'"))
    }

    @Test("--check shows that the service uses what the files say, or is not running")
    func same() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 60s\n")
        let absent = try signet(["config", "--check"], in: scratch)
        #expect(absent.code == .done)
        #expect(absent.output.contains("its settings are unknown"))
        #expect(absent.errors == "")
        // The default is 1min: a value counts, not how it is written.
        let minute = SettingAnswer(
            name: setting.name, value: Bytes("1min".utf8), origin: setting.origin)
        let script = answering(.of(minute), .done(DoneAnswer()))
        let run = try signet(["config", "--check"], [script], in: scratch)
        #expect(run.output.contains("the running service uses these settings\n"))
    }

    @Test("--check reports file and line of a mistake, and ends with 1")
    func mistake() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 20s\n")
        try scratch.write("signet.conf.d/10.conf", "[touch]\n\ntimeuot = 1s\n")
        let run = try signet(["config", "--check"], in: scratch)
        #expect(run.code == .denied)
        #expect(
            run.output.hasSuffix("/signet.conf.d/10.conf:3: unknown key 'timeuot' in [touch]\n"))
        let document = try signet(["config", "--check", "--json"], in: scratch)
            .document("config-check")
        #expect(document["good"] as? Bool == false)
        #expect((document["fault"] as? [String: Any])?["line"] as? Int == 3)
    }

    @Test("--check reports names in the lists that do not exist, and ends with 0")
    func unknownNames() throws {
        let scratch = try Scratch()
        try scratch.write(
            "signet.conf", "[login]\naccounts = !root, no-such\ngroups = root, !nobody-here\n")
        let run = try signet(["config", "--check"], in: scratch)
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "login.accounts: there is no account no-such on this machine\n"))
        #expect(
            run.output.contains(
                "login.groups: there is no group nobody-here on this machine\n"))
        #expect(!run.output.contains("account root") && !run.output.contains("group root"))
        let document = try signet(["config", "--check", "--json"], in: scratch)
            .document("config-check")
        let unknown = try #require(document["unknown"] as? [[String: Any]])
        #expect(unknown.map { $0["name"] as? String } == ["no-such", "nobody-here"])
    }

    @Test("--check reports services without a stack, with the most similar name, and ends with 0")
    func unknownServices() throws {
        let scratch = try Scratch()
        try scratch.write("etc/pam.d/lightdm", "auth required pam_unix.so\n")
        try scratch.write("signet.conf", "[login]\nservices = !lightmd, lightdm\n")
        func check(_ words: [String]) throws -> Run {
            try signet(["config", "--check"] + words, in: scratch) {
                $0.machine.files.root = scratch.path
            }
        }
        let run = try check([])
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "login.services: there is no service lightmd in /etc/pam.d. "
                    + "Did you mean lightdm?\n"))
        let unknown = try check(["--json"]).document("config-check")["unknown"] as? [[String: Any]]
        #expect(unknown?.map { $0["nearest"] as? String } == ["lightdm"])
        try scratch.write("signet.conf", "[login]\nservices = !lightdm\n")
        #expect(!(try check([]).output.contains("there is no service")))
    }

    @Test("--check reports a setting that no longer exists, and ends with 0")
    func obsolete() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 20s\n[keyring]\nexcept = sudo\n")
        let run = try signet(["config", "--check"], in: scratch)
        #expect(run.code == .done)
        #expect(run.output.contains("/signet.conf:4: 'except' in [keyring] has no effect: "))
        let document = try signet(["config", "--check", "--json"], in: scratch)
            .document("config-check")
        #expect(document["good"] as? Bool == true)
        let lines = try #require(document["obsolete"] as? [[String: Any]])
        #expect(lines.map { $0["line"] as? Int } == [4])
    }

    @Test("--check reads the files that are named")
    func named() throws {
        let scratch = try Scratch()
        try scratch.write("draft", "[touch]\nmax-tries = 2\n")
        try scratch.write("bad", "[touch]\nmax-tries = 0\n")
        #expect(try signet(["config", "--check", scratch.at("draft")]).code == .done)
        let bad = try signet(["config", "--check", scratch.at("draft"), scratch.at("bad")])
        #expect(bad.code == .denied)
        #expect(bad.output.contains("/bad:2: '0' is not a valid value for 'max-tries'"))
        let missing = try signet(["config", "--check", scratch.at("none")])
        #expect(missing.code == .denied)
        #expect(missing.output.contains("No such file"))
    }
}
