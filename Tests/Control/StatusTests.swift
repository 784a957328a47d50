import Control
import Doctor
import Foundation
import TestSupport
import Testing
import Texts
import Wire

private let words = ["status", "--account", "alice"]

private func run(
    _ status: StatusAnswer, readers: [ReaderAnswer] = [sampleReader], service: String? = "sudo",
    keys: [[Step]] = noKeys, json: Bool = false
) throws -> Run {
    let scratch = try Scratch()
    try scratch.write("pam.d/other", "auth required pam_deny.so\n")
    if let service {
        try scratch.write("pam.d/\(service)", "auth\tsufficient  pam_signet.so timeout=10s\n")
    }
    let scripts: [[Step]] = [
        answering(.status(status)),
        [.receive] + readers.map { .send(.reader($0)) } + [.send(.done(DoneAnswer()))],
    ]
    return try signet(words + (json ? ["--json"] : []), scripts + keys, in: scratch) {
        $0.machine.root = scratch.path
    }
}

@Suite("signet status")
struct StatusTests {
    @Test("tells that all is well, line by line, and ends with 0")
    func works() throws {
        let run = try run(sampleStatus)
        #expect(run.code == .done)
        #expect(
            run.output == """
                account  alice
                login    on since 20 Nov 2026
                fingers  2 enrolled
                keyring  does not open by touch
                readers  Quick\\x1b[2J (usb-1)
                lockout  none
                used by  sudo
                service  signetd 0.2.0
                vault    file
                device   000102030405060708090a0b0c0d0e0f

                fingerprint login works for alice

                """)
        let alice = Bytes("alice".utf8)
        #expect(
            run.requests
                == [
                    .status(account: alice), .readers, .serverList(account: alice),
                    .signingKey(account: alice),
                ])
    }

    @Test("tells what does not work, what to do, and ends with 1")
    func obstacles() throws {
        var off = sampleStatus
        off.state = .none
        off.since = nil
        var disabled = sampleStatus
        disabled.state = .disabled
        var invalidated = sampleStatus
        invalidated.state = .invalidated
        invalidated.cause = .fingerAdded
        var empty = off
        empty.prints = 0
        var paused = sampleStatus
        paused.lock = .forNow
        paused.seconds = 17
        var locked = sampleStatus
        locked.lock = .untilPassword
        var closed = sampleStatus
        closed.closed = Bytes("there is no usable TPM\n".utf8)
        var exchanged = invalidated
        exchanged.cause = .tpmExchanged
        var keptOut = sampleStatus
        keptOut.keptOut = Bytes("login.accounts".utf8)
        let cases: [(StatusAnswer, String, [String])] = [
            (
                off, "off: it was never turned on\n         run 'signet enable' to turn it on\n",
                ["off"]
            ),
            (
                disabled, "off since 20 Nov 2026: it was turned off\n         run 'signet enable'",
                ["off"]
            ),
            (
                invalidated,
                "off since 20 Nov 2026: a finger was added\n         run 'signet enable'",
                ["invalidated"]
            ),
            (
                empty, "off: no finger is enrolled\n         run 'signet enroll'",
                ["no-finger", "off"]
            ),
            (paused, "for 17 s more: too many fingers did not match. Wait", ["locked"]),
            (locked, "until the password is given: too many fingers did not", ["locked"]),
            (
                closed, "2 enrolled, which cannot be opened now: there is no usable TPM\\x0a\n",
                ["closed"]
            ),
            (
                exchanged,
                "the TPM was cleared or replaced\n         run 'signet delete --all', then 'signet",
                ["invalidated"]
            ),
            (
                keptOut,
                "fingerprint login is not for alice: login.accounts in signet.conf\n",
                ["kept-out"]
            ),
        ]
        for (status, text, obstacles) in cases {
            let plain = try run(status)
            #expect(plain.code == .denied)
            #expect(plain.output.contains(text), "\(plain.output)")
            #expect(plain.output.hasSuffix("does not work for alice now: the password does\n"))
            #expect(plain.errors == "")
            let json = try run(status, json: true)
            #expect(json.code == .denied)
            let document = try json.document("status")
            #expect(document["works"] as? Bool == false)
            #expect(document["obstacles"] as? [String] == obstacles)
        }
    }

    @Test("tells that there is no reader, or no service that uses the module")
    func surroundings() throws {
        let readers = try run(sampleStatus, readers: [])
        #expect(readers.code == .denied)
        #expect(readers.output.contains("readers  none found. Is one plugged in"))
        let services = try run(sampleStatus, service: nil)
        #expect(services.code == .denied)
        #expect(services.output.contains("used by  no service in /etc/pam.d uses pam_signet yet"))
        let denied = try signet(
            words,
            [answering(.status(sampleStatus)), answering(.denial(Denial(.noReader)))] + noKeys)
        #expect(denied.code == .denied)
        #expect(denied.output.contains("readers  none found"))
    }

    @Test("tells the servers that the account is registered at, a line each, and the signing key")
    func keys() throws {
        var removing = sampleServer
        removing.state = .removing
        var invalidated = sampleServer
        invalidated.state = .invalidated
        let keys = [
            answering(
                .server(sampleServer), .server(invalidated), .server(removing),
                .done(DoneAnswer())), answering(.signingKey(sampleSigningKey)),
        ]
        let plain = try run(sampleStatus, keys: keys)
        #expect(plain.code == .done)
        let place = "https://id.example, as al:ice\\x1b for shop, since 20 Nov 2026"
        #expect(
            plain.output.contains(
                """
                servers  \(place)
                         \(place): the fingers have changed. Run 'signet enable --server' with a new code
                         \(place): off, and the server has yet to be told
                signing  a touch signs files and challenges, since 20 Nov 2026

                """), "\(plain.output)")
        let document = try run(sampleStatus, keys: keys, json: true).document("status")
        let servers = document["servers"] as? [[String: Any]]
        #expect(
            servers?.map { $0["state"] as? String } == ["good", "invalidated", "removing"])
        #expect(servers?[0]["server"] as? String == "https://id.example")
        #expect(servers?[0]["since"] as? String == "2026-11-20T17:24:00Z")
        let signing = document["signing"] as? [String: Any]
        #expect(signing?["state"] as? String == "good")
        let none = try run(sampleStatus, json: true).document("status")
        #expect((none["servers"] as? [Any])?.isEmpty == true && none["signing"] is NSNull)
    }

    @Test("tells the rest where the keys for others cannot be told")
    func closedKeys() throws {
        let closed = answering(.denial(Denial(.fingersClosed)))
        let plain = try run(sampleStatus, keys: [closed, closed])
        #expect(plain.code == .done && !plain.output.contains("servers"))
        let document = try run(sampleStatus, keys: [closed, closed], json: true)
            .document("status")
        #expect(document["servers"] is NSNull && document["signing"] is NSNull)
        var changed = sampleSigningKey
        changed.state = .invalidated
        let text = try run(
            sampleStatus, keys: [noKeys[0], answering(.signingKey(changed))]
        ).output
        #expect(text.contains("signing  the fingers have changed. Run 'signet enable --signing'"))
    }

    @Test("tells of a refused configuration and of damaged prints, though login works")
    func warnings() throws {
        var status = sampleStatus
        status.configurationFault = Bytes("/etc/signet/signet.conf:3: unknown key\n".utf8)
        status.damaged = 1
        let run = try run(status)
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "settings  refused, the defaults are in force: /etc/signet/signet.conf:3: "
                    + "unknown key\\x0a\n          run 'signet config --check'"))
        #expect(run.output.contains("2 enrolled, 1 damaged: delete and enroll them again"))
    }

    @Test("says everything in JSON")
    func json() throws {
        var status = sampleStatus
        status.state = .invalidated
        status.cause = .hostSecretChanged
        status.lock = .forNow
        status.seconds = 3
        let document = try run(status, json: true).document("status")
        let login = document["login"] as? [String: Any]
        #expect(login?["state"] as? String == "invalidated")
        #expect(login?["cause"] as? String == "host-secret-changed")
        #expect(login?["since"] as? String == "2026-11-20T17:24:00Z")
        let lock = document["lock"] as? [String: Any]
        #expect(lock?["state"] as? String == "for-now")
        #expect(lock?["seconds"] as? Int == 3)
        #expect((document["fingers"] as? [String: Any])?["generation"] as? Int == 7)
        #expect(document["services"] as? [String] == ["sudo"])
        #expect(document["configurationFault"] is NSNull)
        #expect(document["device"] as? String == "000102030405060708090a0b0c0d0e0f")
    }

    @Test("finds the services that include a stack which names the module")
    func included() throws {
        let scratch = try Scratch()
        try scratch.write(
            "pam.d/common-auth", "auth [success=2 default=ignore] pam_signet.so\n")
        try scratch.write("pam.d/sudo", "@include common-auth\n")
        try scratch.write("pam.d/login", "auth substack common-auth\n")
        try scratch.write("pam.d/su", "auth include login\n")
        try scratch.write("pam.d/cron", "# pam_signet.so\nauth required pam_unix.so\n")
        let scripts = [
            answering(.status(sampleStatus)),
            answering(.reader(sampleReader), .done(DoneAnswer())),
        ]
        let run = try signet(words, scripts + noKeys, in: scratch)
        #expect(run.output.contains("used by  login, su, sudo\n"), "\(run.output)")
    }
}

@Suite("signet config")
struct ConfigTests {
    private let setting = SettingAnswer(
        name: Bytes("touch.timeout".utf8), value: Bytes("60s".utf8),
        origin: Bytes("default".utf8))

    @Test("shows what is in force and where it comes from")
    func show() throws {
        let script = answering(.setting(setting), .done(DoneAnswer()))
        let run = try signet(["config"], [script])
        #expect(run.code == .done)
        #expect(run.output == "touch.timeout  = 60s  (default)\n")
        let document = try signet(["config", "--json"], [script]).document("config")
        let settings = document["settings"] as? [[String: Any]]
        #expect(settings?.first?["value"] as? String == "60s")
    }

    @Test("--check finds no mistake, and tells what the service uses instead")
    func differs() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 20s\n")
        try scratch.write("signet.conf.d/10.conf", "[touch]\ntimeout = 30s\n")
        let script = answering(.setting(setting), .done(DoneAnswer()))
        let run = try signet(["config", "--check"], [script], in: scratch)
        #expect(run.code == .done)
        #expect(run.output.contains("no mistakes in "))
        #expect(
            run.output.contains(
                "touch.timeout: the running service uses 60s (default), the files say 30s\n"))
        #expect(run.output.contains("run 'systemctl try-restart signetd'"))
    }

    @Test("--check tells that the service uses what the files say, or is not there")
    func same() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[touch]\ntimeout = 60s\n")
        let absent = try signet(["config", "--check"], in: scratch)
        #expect(absent.code == .done)
        #expect(absent.output.contains("is not known"))
        #expect(absent.errors == "")
        // The default is 1min: a value counts, not how it is written.
        let minute = SettingAnswer(
            name: setting.name, value: Bytes("1min".utf8), origin: setting.origin)
        let script = answering(.setting(minute), .done(DoneAnswer()))
        let run = try signet(["config", "--check"], [script], in: scratch)
        #expect(run.output.contains("the running service uses these settings\n"))
    }

    @Test("--check tells file and line of a mistake, and ends with 1")
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

    @Test("--check tells of names in the lists that nobody has, and ends with 0")
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

    @Test("--check tells of services without a stack, with the nearest that there is")
    func unknownServices() throws {
        let scratch = try Scratch()
        try scratch.write("etc/pam.d/lightdm", "auth required pam_unix.so\n")
        try scratch.write("signet.conf", "[login]\nservices = !lightmd, lightdm\n")
        func check(_ words: [String]) throws -> Run {
            try signet(["config", "--check"] + words, in: scratch) {
                $0.machine.root = scratch.path
            }
        }
        let run = try check([])
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "login.services: there is no service lightmd in /etc/pam.d. Is lightdm meant?\n"))
        let unknown = try check(["--json"]).document("config-check")["unknown"] as? [[String: Any]]
        #expect(unknown?.map { $0["nearest"] as? String } == ["lightdm"])
        try scratch.write("signet.conf", "[login]\nservices = !lightdm\n")
        #expect(!(try check([]).output.contains("there is no service")))
    }

    @Test("--check tells of a setting that there is no more, and ends with 0")
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
        #expect(bad.output.contains("/bad:2: '0' is not good for 'max-tries'"))
        let missing = try signet(["config", "--check", scratch.at("none")])
        #expect(missing.code == .denied)
        #expect(missing.output.contains("No such file"))
    }
}
