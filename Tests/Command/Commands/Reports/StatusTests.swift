// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let words = ["status", "--account", "alice"]

private func run(
    _ status: StatusAnswer, parts: [Answer] = [.reader(sampleReader)], service: String? = "sudo",
    json: Bool = false, damaged: PrintAnswer = damagedPrint,
    change: (Scratch) throws -> Void = { _ in }
) throws -> Run {
    let scratch = try Scratch()
    try scratch.write("etc/pam.d/other", "auth required pam_deny.so\n", mode: 0o644)
    try scratch.writeModule()
    if service == nil { try scratch.remove("etc/pam.d/sudo") }
    try change(scratch)
    let listing: [Answer] = status.damaged > 0 ? [.print(damaged)] : []
    return try signet(
        words + (json ? ["--json"] : []), [answering(listing + parts + [.status(status)])],
        in: scratch)
}

private let damagedPrint = PrintAnswer(
    finger: .leftThumb, printID: .sample(0..<16), readerID: [], since: nil, intact: false)

@Suite("signet status")
struct StatusTests {
    @Test("reports that all is well, line by line, and ends with 0")
    func works() throws {
        let run = try run(sampleStatus)
        #expect(run.code == .done)
        #expect(
            run.output == """
                account  alice
                login    on since 20 Nov 2026
                fingers  2 enrolled
                keyring  not opened by a touch
                readers  Quick\\x1b[2J (usb-1)
                lockout  none
                used by  sudo
                service  signetd 0.2.0
                vault    file
                device   000102030405060708090a0b0c0d0e0f

                fingerprint login works for alice

                """)
        #expect(run.requests == [.status(account: "alice")])
    }

    @Test("reports what does not work and what to do, and ends with 1")
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
        // Of the stored fingers nothing is told.
        var replaced = invalidated
        (replaced.cause, replaced.prints) = (.accountReplaced, 0)
        var reset = replaced
        reset.cause = .passwordReplaced
        var keptOut = sampleStatus
        keptOut.keptOut = Bytes("login.accounts".utf8)
        var damaged = invalidated
        damaged.cause = .printDamaged
        damaged.damaged = 1
        var lid = sampleStatus
        lid.refusal = Denial(.lidClosed)
        var vault = sampleStatus
        vault.refusal = Denial(.vaultUnavailable, subject: Bytes("there is no usable TPM".utf8))
        var remote = sampleStatus
        remote.refusal = Denial(.remoteSession)
        var away = sampleStatus
        away.refusal = Denial(.noReader, subject: Bytes("usb-2".utf8))
        var unopened = sampleStatus
        unopened.refusal = Denial(.invalidated, cause: .hostSecretChanged)
        var busy = sampleStatus
        busy.refusal = Denial(.suspending)
        let cases: [(StatusAnswer, String, [String], String?)] = [
            (
                off, "off: it was never turned on\n", ["off"], "signet enable"
            ),
            (
                disabled, "off since 20 Nov 2026: it was turned off\n", ["off"], "signet enable"
            ),
            (
                invalidated,
                "off since 20 Nov 2026: a finger was added\n", ["invalidated"], "signet enable"
            ),
            (
                empty, "off: no finger is enrolled\n", ["no-finger", "off"], "signet enroll"
            ),
            (
                paused, "for another 17 s: too many failed scans. Wait", ["locked"],
                "signet unlock"
            ),
            (
                locked, "until the password is entered: too many failed scans", ["locked"],
                "signet unlock"
            ),
            (
                closed, "2 enrolled, but they cannot be opened now: there is no usable TPM\\x0a\n",
                ["closed"], "signet vault"
            ),
            (
                exchanged,
                "the TPM was cleared or replaced\n", ["invalidated"], "signet delete --all"
            ),
            (
                replaced,
                "Run 'signet enable' if the fingers are yours, else 'signet delete --all'\n",
                ["invalidated"], nil
            ),
            (
                reset, "the password was set without the old one. Log in with the password once\n",
                ["invalidated"], "signet enable"
            ),
            (
                keptOut,
                "fingerprint login is turned off for alice by login.accounts in signet.conf\n",
                ["kept-out"], "signet config"
            ),
            (
                damaged,
                "left-thumb is damaged: enrol it again, or delete it with 'signet delete left",
                ["damaged"], "signet enroll left-thumb"
            ),
            (
                lid, "the lid is closed. Open it to scan a finger, or use the password\n",
                ["lid-closed"], nil
            ),
            (
                vault, "the key cannot be used: there is no usable TPM. Use the password; see",
                ["vault"], "signet vault"
            ),
            (busy, "the machine is going to sleep", ["refused"], nil),
            (
                remote, "fingerprint login does not work in remote sessions", ["not-here"], nil
            ),
            (
                away, "the fingerprint reader usb-2 is not connected: connect it", ["reader-away"],
                nil
            ),
            (unopened, "fingerprint login is off for alice: ", ["invalidated"], "signet enable"),
        ]
        for (status, text, obstacles, next) in cases {
            let plain = try run(status)
            #expect(plain.code == .denied)
            #expect(plain.output.contains(text), "\(plain.output)")
            let end = next.map { "next, run: \($0)\(Self.named(in: $0))\n" } ?? ""
            #expect(
                plain.output.hasSuffix("does not work for alice now. The password works\n" + end),
                "\(plain.output)")
            #expect(plain.errors == "")
            let json = try run(status, json: true)
            #expect(json.code == .denied)
            let document = try json.document("status")
            #expect(document["works"] as? Bool == false)
            #expect(document["obstacles"] as? [String] == obstacles)
            #expect(document["next"] as? String == next.map { $0 + Self.named(in: $0) })
        }
    }

    /// Who has to name the account is shown the command with it.
    private static func named(in command: String) -> String {
        ["signet vault", "signet config"].contains(command) ? "" : " --account alice"
    }

    @Test("does not have a login turned on again for what a damaged print has left")
    func damaged() throws {
        var status = sampleStatus
        status.state = .invalidated
        status.cause = .printDamaged
        (status.prints, status.damaged) = (1, 1)
        let known = try run(status)
        #expect(known.code == .denied && !known.output.contains("signet enable"))
        #expect(known.output.contains("1 enrolled, 1 damaged\n"))
        var nameless = damagedPrint
        nameless.finger = nil
        let unknown = try run(status, damaged: nameless)
        #expect(unknown.output.contains("one is damaged, and it is unknown which finger it is"))
        #expect(unknown.output.hasSuffix("next, run: signet delete --all --account alice\n"))
        // It was told to do without it, and is still off.
        status.damaged = 0
        #expect(try run(status).output.hasSuffix("next, run: signet enable --account alice\n"))
    }

    @Test("names the fingers that cannot be used now, and the reader to connect")
    func unusable() throws {
        var away = samplePrint
        away.state = .readerAway
        let run = try run(sampleStatus, parts: [.print(away), .reader(sampleReader)])
        // Another finger can be used.
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "2 enrolled\n         right-index does not work now: connect the reader usb-1\n"),
            "\(run.output)")
    }

    @Test("has a print that its reader has lost enrolled again, by name")
    func lost() throws {
        var status = sampleStatus
        status.refusal = Denial(.printLost)
        var lost = samplePrint
        lost.state = .lost
        let run = try run(status, parts: [.print(lost), .reader(sampleReader)])
        #expect(run.code == .denied)
        #expect(run.output.contains("the reader usb-1 no longer has its print"), "\(run.output)")
        #expect(run.output.contains("next, run: signet enroll right-index --account alice\n"))
    }

    @Test("tells root, whose place does not count, what a touch from there would meet")
    func elsewhere() throws {
        var status = sampleStatus
        status.elsewhere = Denial(.remoteSession)
        let plain = try run(status)
        #expect(plain.code == .done)
        #expect(
            plain.output.contains(
                """
                here     fingerprint login does not work in remote sessions: use the password
                         the rest of this report is about a login at the machine, because root asks

                """), "\(plain.output)")
        #expect(
            try run(status, json: true).document("status")["elsewhere"] as? String
                == "remote-session")
    }

    @Test("reports that a service's module is missing, and how to restore it")
    func missing() throws {
        let run = try run(sampleStatus) { scratch in
            try scratch.remove(Scratch.module)
            try scratch.write("usr/bin/apt-get", "")
        }
        #expect(run.code == .denied)
        #expect(
            run.output.contains("used by  sudo\n         sudo: no touch is accepted, because the"))
        #expect(
            run.output.hasSuffix(
                "next, run as root: apt-get install --reinstall libpam-signet\n"))
        // Another service's is there.
        let other = try self.other()
        #expect(other.code == .done && other.output.contains("su: no touch is accepted, because"))
    }

    private func other() throws -> Run {
        try run(sampleStatus) { scratch in
            try scratch.write("etc/pam.d/su", "auth sufficient /opt/pam_signet.so\n", mode: 0o644)
        }
    }

    @Test("reports that there is no reader, or no service that uses the module")
    func environment() throws {
        let readers = try run(sampleStatus, parts: [])
        #expect(readers.code == .denied)
        #expect(readers.output.contains("readers  none found. Is one plugged in"))
        let services = try run(sampleStatus, service: nil)
        #expect(services.code == .denied)
        #expect(services.output.contains("used by  no service in /etc/pam.d uses pam_signet, so"))
        #expect(services.output.hasSuffix("The password works\n"), "no tool is known here")
        for (tool, command) in [
            ("usr/sbin/pam-auth-update", "pam-auth-update --enable signet"),
            ("usr/bin/authselect", "authselect select signet with-signet"),
        ] {
            let run = try run(sampleStatus, service: nil) { try $0.write(tool, "") }
            #expect(run.output.hasSuffix("next, run as root: \(command)\n"))
        }
    }

    @Test("reports all but readers if the reader process does not answer")
    func readersSilent() throws {
        let ended = Denial(.readerFailed, subject: Detail.readerProcessEnded.bytes)
        var status = sampleStatus
        status.refusal = ended
        status.readersUnknown = true
        let plain = try run(status, parts: [])
        #expect(plain.code == .denied)
        #expect(plain.output.contains("its process ended: see 'journalctl -u signet-reader'"))
        #expect(plain.output.contains("readers  unknown"))
        #expect(plain.output.contains("fingers  2"))
        let document = try run(status, parts: [], json: true).document("status")
        #expect(document["readers"] is NSNull)
        #expect((document["obstacles"] as? [String])?.first == "refused")
    }

    @Test("shows nothing if the answer is not all that was asked for")
    func unexpected() throws {
        let secret = SecretAnswer(
            name: Bytes("vpn".utf8), size: 0, since: 0, vault: [], state: .fits)
        for answers: [Answer] in [
            [.done(DoneAnswer())], [.secret(secret), .status(sampleStatus)],
        ] {
            let run = try signet(words, [answering(answers)])
            #expect(run.code == .fault && run.output.isEmpty, "\(answers)")
        }
    }

    @Test("shows the servers at which the account is registered, one a line, and the signing key")
    func keys() throws {
        var removing = sampleServer
        removing.state = .removing
        var invalidated = sampleServer
        invalidated.state = .invalidated
        let keys: [Answer] = [
            .server(sampleServer), .server(invalidated), .server(removing),
            .signingKey(sampleSigningKey), .reader(sampleReader),
        ]
        let plain = try run(sampleStatus, parts: keys)
        #expect(plain.code == .done)
        let place = "https://id.example, as al:ice\\x1b for shop, since 20 Nov 2026"
        #expect(
            plain.output.contains(
                """
                servers  \(place)
                         \(place): the fingers have changed. Run 'signet enable --server' with a new code
                         \(place): off, but the server has not been informed yet
                signing  on since 20 Nov 2026: a touch signs files and challenges

                """), "\(plain.output)")
        let document = try run(sampleStatus, parts: keys, json: true).document("status")
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

    @Test("shows the rest if the keys for servers and signing cannot be read")
    func closedKeys() throws {
        var closed = sampleStatus
        closed.serversUnknown = true
        let plain = try run(closed)
        #expect(plain.code == .done && !plain.output.contains("servers"))
        let document = try run(closed, json: true).document("status")
        #expect(document["servers"] is NSNull && document["signing"] is NSNull)
        var changed = sampleSigningKey
        changed.state = .invalidated
        let text = try run(
            sampleStatus, parts: [.signingKey(changed), .reader(sampleReader)]
        ).output
        #expect(text.contains("signing  the fingers have changed. Run 'signet enable --signing'"))
    }

    @Test("reports a refused configuration and damaged prints, though login works")
    func warnings() throws {
        var status = sampleStatus
        status.configurationFault = Bytes("/etc/signet/signet.conf:3: unknown key\n".utf8)
        status.damaged = 1
        let run = try run(status)
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "settings  not understood; the settings that were understood last are in force: "
                    + "/etc/signet/signet.conf:3: unknown key\\x0a\n          correct it, "))
        #expect(run.output.contains("2 enrolled, 1 damaged\n          left-thumb is damaged: "))
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
            "etc/pam.d/common-auth", "auth [success=2 default=ignore] pam_signet.so\n")
        try scratch.write("etc/pam.d/sudo", "@include common-auth\n")
        try scratch.write("etc/pam.d/login", "auth substack common-auth\n")
        try scratch.write("etc/pam.d/su", "auth include login\n")
        try scratch.write("etc/pam.d/cron", "# pam_signet.so\nauth required pam_unix.so\n")
        try scratch.write(Scratch.module, "")
        let run = try signet(
            words, [answering(.reader(sampleReader), .status(sampleStatus))], in: scratch)
        #expect(run.output.contains("used by  login, su, sudo\n"), "\(run.output)")
    }
}
