// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

private let done = DoneAnswer()

/// What a daemon answers to the doctor about the caller only.
private func scripts(
    _ status: StatusAnswer = sampleStatus, parts: [Answer] = [],
    readers: [ReaderAnswer] = [sampleReader],
    vaults: [VaultAnswer] = [VaultAnswer(vault: Bytes("file".utf8), isChosen: true)]
) -> [[DaemonStep]] {
    [
        [.receive] + readers.map { .send(.reader($0)) } + [.send(.done(done))],
        [.receive] + vaults.map { .send(.of($0)) } + [.send(.done(done))],
        answering(.done(done)), answering(parts + [.status(status)]), answering(.done(done)),
    ]
}

private func doctor(_ words: [String] = [], _ scripts: [[DaemonStep]]) throws -> Run {
    let scratch = try Scratch()
    try scratch.write("etc/pam.d/signet", "auth required pam_unix.so\n", mode: 0o644)
    return try signet(["doctor"] + words, scripts, in: scratch) { environment in
        environment.machine.files.root = scratch.path
        environment.machine.uid = 1_000
        environment.machine.isClockKept = true
        environment.machine.nameService.account = { _ in "alice" }
        environment.machine.journal = { _ in .failed }
        environment.machine.unitState = { _ in .failed }
    }
}

/// The command that a finding names.
private func mend(_ code: String, in run: Run) throws -> String? {
    let findings = try run.document("doctor")["findings"] as? [[String: Any]] ?? []
    return findings.first { $0["code"] as? String == code }?["mend"] as? String
}

private func codes(_ run: Run) throws -> [String] {
    let findings = try run.document("doctor")["findings"] as? [[String: Any]] ?? []
    // What a machine with nothing on it has.
    let always = ["module-unused", "state-none", "socket-missing", "readers-missing", "needs-root"]
    return findings.compactMap { $0["code"] as? String }.filter { !always.contains($0) }
}

@Suite("signet doctor, and what the daemon reports")
struct DoctorTests {
    @Test("asks for readers, vaults, settings and the caller's own account")
    func requests() throws {
        let run = try doctor([], scripts())
        #expect(
            run.requests == [
                .readers, .vault, .configuration, .status(account: "alice"),
                .secretList(account: "alice"),
            ])
        #expect(run.code == .faultFound)
        #expect(run.errors == "")
    }

    @Test("shows findings by area, with cause and remedy, and one line that sums up")
    func text() throws {
        let run = try doctor([], scripts())
        #expect(
            run.output.hasPrefix(
                """
                PAM stacks
                  warning  no service in /etc/pam.d uses pam_signet
                           why   no touch is ever asked for. The profile adds the module to common-auth
                           fix   pam-auth-update --enable signet
                           name  module-unused

                files

                """), "\(run.output)")
        #expect(
            run.output.hasSuffix(
                "something does not work: fix the faults (faults: 2, warnings: 1, notes: 2)\n"))
    }

    @Test("shows how many fingers an account has on each reader, and whether that is there")
    func fingers() throws {
        func print(_ reader: Bytes, intact: Bool = true) -> Answer {
            .print(
                PrintAnswer(
                    finger: .leftIndex, printID: .sample(repeating: 1),
                    readerID: reader, since: 1, intact: intact,
                    state: reader == sampleReader.readerID ? .usable : .readerAway))
        }
        let (here, gone) = (sampleReader.readerID, Bytes("gone".utf8))
        let all = scripts(parts: [
            print(here), print(gone), print(here), print(here, intact: false),
        ])
        let name = String(decoding: here, as: UTF8.self)
        let output = try doctor([], all).output
        #expect(
            output.contains(
                """
                enrolled fingers
                  alice: 1 finger, enrolled on gone (missing)
                  alice: 2 fingers, enrolled on \(name) (present)


                """), "\(output)")
        let run = try doctor(["--json"], all)
        let fingers = try run.document("doctor")["fingers"] as? [[String: Any]] ?? []
        #expect(fingers.map { $0["fingers"] as? Int } == [1, 2])
        #expect(fingers.map { $0["present"] as? Bool } == [false, true])
        #expect(try codes(run) == ["prints-elsewhere"])
        #expect(!(try doctor([], scripts()).output.contains("enrolled fingers")))
    }

    @Test("says all in JSON, with the worst level and how many there are of each")
    func json() throws {
        let run = try doctor(["--json"], scripts())
        let document = try run.document("doctor")
        #expect(document["worst"] as? String == "fault")
        #expect(document["sound"] as? Bool == false)
        #expect((document["counts"] as? [String: Int])?["note"] == 2)
        let finding = (document["findings"] as? [[String: Any]])?.first
        #expect(finding?["level"] as? String == "warning")
        #expect(finding?["area"] as? String == "stacks")
        #expect(finding?["mend"] as? String == "pam-auth-update --enable signet")
    }

    @Test("reports accounts, readers, vaults and versions")
    func standing() throws {
        func check(_ change: (inout StatusAnswer) -> Void, _ code: String) throws {
            var status = sampleStatus
            change(&status)
            #expect(try codes(doctor(["--json"], scripts(status))) == [code])
        }
        #expect(try codes(doctor(["--json"], scripts())) == [])
        try check({ $0.program = Bytes("0.0.9".utf8) }, "version-daemon")
        try check({ $0.state = .invalidated }, "credential-invalid")
        try check({ $0.state = .disabled }, "login-disabled")
        try check({ $0.state = .none }, "login-off")
        try check({ $0.damaged = 1 }, "prints-damaged")
        try check({ $0.closed = Bytes("no TPM".utf8) }, "fingers-closed")
        try check({ $0.lock = .untilPassword }, "locked-out")
        try check({ $0.lock = .forNow }, "locked-for-now")
        try check({ $0.keptOut = Bytes("login.accounts".utf8) }, "kept-out")
        try check({ $0.keyring = .passwordChanged }, "keyring-stale")
        try check({ $0.configurationFault = Bytes("x:1: y".utf8) }, "configuration-refused")
        #expect(try codes(doctor(["--json"], scripts(readers: []))) == ["no-reader"])
        let vault = VaultAnswer(
            vault: Bytes("tpm".utf8), isChosen: true, trouble: Bytes("none".utf8))
        #expect(try codes(doctor(["--json"], scripts(vaults: [vault]))) == ["vault-trouble"])
    }

    @Test("names secrets that only former fingers open, and damaged ones")
    func staleSecrets() throws {
        func secret(_ name: String, _ state: SecretState) -> DaemonStep {
            .send(
                .secret(
                    SecretAnswer(
                        name: Bytes(name.utf8), size: 1, since: 1, vault: Bytes("file".utf8),
                        state: state)))
        }
        var all = scripts()
        all[4] = [
            .receive, secret("mail", .stale), secret("vpn", .fits), secret("backup", .damaged),
            .send(.done(done)),
        ]
        let run = try doctor(["--json"], all)
        #expect(try codes(run) == ["secrets-stale"])
        let findings = try run.document("doctor")["findings"] as? [[String: Any]] ?? []
        let what = findings.first { $0["code"] as? String == "secrets-stale" }?["what"] as? String
        #expect(what == "secrets of alice can no longer be opened: mail, backup")
        all[4] = [.receive, secret("vpn", .fits), .send(.done(done))]
        #expect(try codes(doctor(["--json"], all)) == [])
    }

    @Test("reports a login that the daemon would refuse, once, and the vault that keys are in")
    func refusal() throws {
        func asked(
            _ refusal: Denial?, vaults: [VaultAnswer] = [],
            _ change: (inout StatusAnswer) -> Void = { _ in }
        ) throws -> Run {
            var status = sampleStatus
            status.refusal = refusal
            change(&status)
            return try doctor(["--json"], scripts(status, vaults: vaults))
        }
        for reason in [DenialReason.readerFailed, .platformChanged, .storage, .otherSeat] {
            let run = try asked(Denial(reason))
            #expect(try codes(run) == ["login-refused"], "\(reason)")
            #expect(try mend("login-refused", in: run) == "signet status --account alice")
        }
        // Of the place that the doctor is asked from.
        for reason in [DenialReason.remoteSession, .notAtMachine, .otherRequester] {
            #expect(try codes(asked(Denial(reason))) == ["login-not-here"], "\(reason)")
        }
        let away = Denial(.noReader, subject: Bytes("usb-2".utf8))
        #expect(try codes(asked(away)) == ["login-refused"])
        let locked = try asked(Denial(.lockedUntilPassword)) { $0.lock = .untilPassword }
        #expect(try codes(locked) == ["locked-out"])
        let invalid = try asked(Denial(.invalidated)) { $0.state = .invalidated }
        #expect(try codes(invalid) == ["credential-invalid"])
        // Of the machine, not of an account.
        #expect(try codes(asked(Denial(.lidClosed))) == [])
        #expect(try codes(asked(Denial(.noReader))) == [])

        // New keys are made in files while the TPM, where hers is, does not work.
        let cleared = Bytes("the TPM was cleared or is a different one".utf8)
        let vaults = [
            VaultAnswer(vault: Bytes("tpm".utf8), isChosen: false, trouble: cleared),
            VaultAnswer(vault: Bytes("file".utf8), isChosen: true),
        ]
        let lost = try asked(Denial(.vaultUnavailable, subject: cleared), vaults: vaults) {
            $0.vault = Bytes("tpm".utf8)
        }
        #expect(try codes(lost) == ["login-refused", "vault-trouble"])
        #expect(try mend("login-refused", in: lost) == "signet vault trust")
        #expect(try mend("vault-trouble", in: lost) == "signet vault trust")
        // Nobody's key is in it.
        #expect(try codes(asked(nil, vaults: vaults)) == [])
        let disabled = try asked(nil, vaults: vaults) {
            $0.vault = Bytes("tpm".utf8)
            $0.state = .disabled
        }
        #expect(try codes(disabled) == ["login-disabled"])
    }

    @Test("continues if the daemon denies, answers nonsense, or is not running")
    func trouble() throws {
        let none = try doctor(["--json"], [])
        #expect(try codes(none) == [])
        let denied = scripts().prefix(3) + [answering(.denial(Denial(.storage)))]
        #expect(
            try codes(doctor(["--json"], Array(denied) + [answering(.denial(Denial(.storage)))]))
                == ["account-unanswered"])
        let nonsense: [[DaemonStep]] = [[.receive, .sendRaw([1, 2, 3])]]
        #expect(try codes(doctor(["--json"], nonsense)) == ["service-silent"])
    }

    @Test("a key that does not fit the fingers: they are shown before a new one is made")
    func invalid() throws {
        var status = sampleStatus
        status.state = .invalidated
        let run = try doctor(["--json"], scripts(status))
        let findings = try run.document("doctor")["findings"] as? [[String: Any]] ?? []
        let mend = findings.first { $0["code"] as? String == "credential-invalid" }?["mend"]
        #expect(
            mend as? String == "signet list --account alice # signet enable --account alice")
    }

    @Test(
        "names what helps an account that was renamed or replaced, where nothing is listed",
        arguments: [InvalidationCause.accountReplaced, .passwordReplaced])
    func replaced(cause: InvalidationCause) throws {
        var status = sampleStatus
        status.state = .invalidated
        status.cause = cause
        #expect(
            try mend("credential-invalid", in: doctor(["--json"], scripts(status)))
                == "signet status --account alice # signet enable --account alice "
                + "# or: signet delete --all --account alice")
    }

    @Test("names what helps where the TPM was cleared, and not a command that shows nothing wrong")
    func clearedTPM() throws {
        func advice(
            _ code: String, with change: (inout StatusAnswer) -> Void
        ) throws -> String? {
            var status = sampleStatus
            change(&status)
            return try mend(code, in: doctor(["--json"], scripts(status)))
        }
        let anew = "signet delete --all --account alice && signet enroll --account alice"
        let cleared = Bytes("the TPM was cleared or is a different one".utf8)
        #expect(
            try advice("credential-invalid") {
                $0.state = .invalidated
                $0.cause = .tpmExchanged
            } == anew)
        #expect(try advice("fingers-closed") { $0.closed = cleared } == "signet vault trust")
        #expect(
            try advice("fingers-closed") {
                $0.closed = cleared
                $0.cause = .tpmExchanged
            } == anew)
        #expect(
            try advice("fingers-closed") { $0.closed = Bytes("the sealed key does not open".utf8) }
                == anew)
        #expect(
            try advice("fingers-closed") { $0.closed = Bytes("the TPM does not answer".utf8) }
                == "signet vault")
        let vault = VaultAnswer(vault: Bytes("tpm".utf8), isChosen: true, trouble: cleared)
        let run = try doctor(["--json"], scripts(vaults: [vault]))
        #expect(try mend("vault-trouble", in: run) == "signet vault trust")
    }

    @Test("a damaged print: what is left is not sealed before it is known")
    func damagedPrint() throws {
        var status = sampleStatus
        status.state = .invalidated
        status.cause = .printDamaged
        status.damaged = 1
        let run = try doctor(["--json"], scripts(status))
        #expect(!run.output.contains("signet enable"), "\(run.output)")
    }

    @Test("reports a misspelt name of a module, and the correct one")
    func misspelt() throws {
        for (name, isTold) in [
            ("pam_signett.so", true), ("pam_sigent.so", true), ("/lib/security/pam_signe.so", true),
            ("pam_signet.so", false), ("pam_sepermit.so", false), ("pam_site.so", false),
        ] {
            let scratch = try Scratch()
            try scratch.write("etc/pam.d/signet", "auth required pam_unix.so\n", mode: 0o644)
            try scratch.write(
                "etc/pam.d/sudo", "auth required pam_unix.so\nauth optional \(name)\n", mode: 0o644)
            let run = try signet(["doctor", "--json"], in: scratch) { $0.machine.uid = 1_000 }
            #expect(try codes(run).contains("module-misspelt") == isTold, "\(name)")
            guard isTold else { continue }
            #expect(
                run.output.contains(
                    "sudo:2 names the module \(name), which does not exist. Did you mean"))
        }
    }

    @Test("never shows controls that came from outside")
    func escaping() throws {
        var status = sampleStatus
        status.closed = Bytes("\u{1B}[2J\n".utf8)
        #expect(!(try doctor([], scripts(status)).output.contains("\u{1B}")))
    }

    @Test("takes no words and no options but --json and --help")
    func usage() throws {
        #expect(try signet(["doctor", "alice"]).code == .usage)
        #expect(try signet(["doctor", "--account", "alice"]).code == .usage)
    }
}
