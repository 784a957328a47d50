// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("how a login ends without a proof")
struct EndingTests {
    /// PAM's code for a denial, after no mismatch and after one.
    static func codes(_ reason: DenialReason) -> (Int, Int) {
        switch reason {
        case .noMatch: (11, 11)
        case .lockedForNow, .lockedUntilPassword: (9, 11)
        case .answerTooLate, .changedMeanwhile, .serverRefused, .serverKeyReplaced,
            .serverKeyRemoved, .serverKeyBlocked:
            (7, 7)
        default: (9, 7)
        }
    }

    @Test(
        "every reason of a denial has its code, and says so unless it is the ordinary state",
        arguments: ModuleEdition.allCases)
    func denials(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let reasons = DenialReason.allCases.filter { Denial($0).toLogin != nil }
        let silent: Set<DenialReason> = [
            .notEnrolled, .notEnabled, .noReader, .cancelled, .remoteSession, .notPermitted,
            .unknownAccount, .notServed, .inBackground, .lidClosed, .otherSeat,
        ]
        let probe = try fixture.start([String](repeating: "auth", count: reasons.count * 2))
        for reason in reasons {
            for mismatches in [0, 1] as [UInt8] {
                let visit = try fixture.visit()
                _ = try visit.authenticate()
                try visit.send(.denial(Denial(reason, mismatches: mismatches)))
            }
        }
        let lines = try probe.lines()
        var wanted: [Int] = []
        for reason in reasons { wanted += [Self.codes(reason).0, Self.codes(reason).1] }
        #expect(lines.filter { $0.hasPrefix("auth ") }.map { Int($0.dropFirst(5)) } == wanted)
        let shown = lines.filter { $0.hasPrefix("error ") }.count
        #expect(shown == 2 * (reasons.count - silent.count))
        let alarms = fixture.host.journal.entries.filter {
            $0.message.contains("the proof is no longer valid")
        }
        #expect(alarms.count == 2 * 2)
    }

    @Test(
        "a reason that no login has is a malformed answer, and gives no access",
        arguments: ModuleEdition.allCases)
    func foreign(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let reasons = DenialReason.allCases.filter { Denial($0).toLogin == nil }
        #expect(reasons.count == 51)
        let probe = try fixture.start([String](repeating: "auth", count: reasons.count))
        for reason in reasons {
            let visit = try fixture.visit()
            _ = try visit.authenticate()
            try visit.send(.denial(Denial(reason)))
        }
        let codes = try probe.lines().filter { $0.hasPrefix("auth ") }
        #expect(codes == [String](repeating: "auth 7", count: reasons.count))
    }

    @Test("the reason for destroying a credential is shown, even if no key is registered any more")
    func invalidated() throws {
        let fixture = try ModuleFixture(isRegistered: false)
        try fixture.host.write(ModuleFixture.offPath, "")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(
            .denial(Denial(.invalidated, cause: .fingerAdded, since: 1_790_000_000)))
        let lines = try probe.lines()
        #expect(lines.contains("auth 9"))
        #expect(
            lines.contains {
                $0.hasPrefix("error fingerprint login is off for alice: a finger was added")
            })
    }

    @Test(
        "an assertion without a registered key is refused", arguments: ModuleEdition.allCases)
    func proofWithoutKey(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition, isRegistered: false)
        try fixture.host.write(ModuleFixture.offPath, "")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.codes() == [7])
    }

    @Test(
        "a user without a registration, unknown or remote, is declined silently",
        arguments: ModuleEdition.allCases)
    func silentlyDeclined(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition, isRegistered: false)
        try fixture.host.write("/var/lib/signet/keys/0.pub", fixture.line(account: "root"))
        let runs: [(String, [String: String])] = [
            ("alice", [:]), ("nobody-of-this-name", [:]), ("root", ["PROBE_RHOST": "example.org"]),
            // fprintd's own module takes this one for local.
            ("root", ["PROBE_RHOST": "localhost"]),
        ]
        for (account, environment) in runs {
            let probe = try fixture.start(account: account, environment: environment)
            #expect(try probe.lines() == ["auth 9", "left mapped=0 threads=1 files=0 signals=0"])
        }
        #expect(!fixture.hasVisit)
        #expect(fixture.host.journal.entries.allSatisfy { !$0.message.contains("fingerprint") })
    }

    @Test(
        "no error and no denial lets the line behind it stand in for the touch",
        arguments: ModuleEdition.allCases)
    func neverPassedOver(_ edition: ModuleEdition) throws {
        // PAM_IGNORE from the first line would leave the second one alone to decide.
        let stack = "auth required pam_signet.so\nauth required pam_permit.so"
        let fixture = try ModuleFixture(edition, stack: stack)
        try fixture.host.write("/var/lib/signet/keys/0.pub", fixture.line(account: "root"))
        let reasons = DenialReason.allCases.filter { Denial($0).toLogin != nil }
        let count = reasons.count + 4
        let probe = try fixture.start([String](repeating: "auth", count: count))
        for reason in reasons {
            let visit = try fixture.visit()
            _ = try visit.authenticate()
            try visit.send(.denial(Denial(reason)))
        }
        for frame in [[0], try Answer.done(DoneAnswer()).encoded()] {
            let visit = try fixture.visit()
            _ = try visit.authenticate()
            try visit.send(frame)
        }
        // Gone with the request.
        _ = try fixture.visit().authenticate()
        let touched = try fixture.visit()
        try touched.prove(fixture.proof(for: touched.authenticate()))
        let codes = try probe.codes()
        #expect(codes.count == count)
        #expect(
            codes.dropLast().allSatisfy { $0 != 0 && $0 != ModuleFixture.Code.ignored }, "\(codes)")
        #expect(codes.last == 0)
        let without = try ModuleFixture(edition, stack: stack, listens: false)
        var quiet = [
            try without.start(), try without.start(account: "bob"),
            try without.start(account: "nobody-of-this-name"),
            try fixture.start(account: "root", environment: ["PROBE_RHOST": "example.org"]),
        ]
        for limit in 3..<8 { quiet.append(try fixture.start(["files:\(limit)", "auth"])) }
        for probe in quiet {
            let codes = try probe.codes()
            #expect(
                codes.count == 1 && codes != [0] && codes != [ModuleFixture.Code.ignored],
                "\(codes)")
        }
    }

    @Test("the account that the application named is never changed")
    func accountStays() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start(["auth", "user?", "auth", "user?", "auth", "user?"])
        let proven = try fixture.visit()
        try proven.prove(fixture.proof(for: proven.authenticate()))
        let renamed = try fixture.visit()
        var statement = fixture.statement(for: try renamed.authenticate())
        statement.account = "bob"
        try renamed.prove(fixture.assertion(statement.encoded()))
        let denied = try fixture.visit()
        _ = try denied.authenticate()
        try denied.send(.passwordWanted(account: "bob"))
        let lines = try probe.lines().filter { $0.hasPrefix("auth") || $0.hasPrefix("user") }
        #expect(
            lines == ["auth 0", "user alice", "auth 7", "user alice", "auth 7", "user alice"])
    }

    @Test("PAM_SILENT is honoured, but not of sudo")
    func silence() throws {
        let fixture = try ModuleFixture()
        try fixture.host.writeService("sudo", "auth required pam_signet.so")
        // What may not be shown is not asked for either.
        let silent = try fixture.start(environment: ["PROBE_SILENT": "1"])
        let lines = try silent.lines()
        #expect(lines.first == "auth \(ModuleFixture.Code.unavailable)" && !fixture.hasVisit)

        let sudo = try fixture.host.terminal(
            ["\(Layout.products)/PAMModuleProbe", "id"], as: HostFixture.root,
            environment: [
                "PROBE_SERVICE": "sudo", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
                "PROBE_SILENT": "1",
            ])
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.touch, scan: .swipe)))
        try sudo.expect("swipe your finger across the reader to confirm: sudo id (alice)")
        try visit.prove(fixture.proof(for: request))
        try sudo.expect("auth 0")
    }

    @Test("what comes from outside cannot change how a message shows")
    func escapedMessages() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.waiting, subject: [UInt8]("x\u{1B}[2J\nroot".utf8))))
        try visit.prove(fixture.proof(for: request))
        #expect(
            try probe.lines().contains("info waiting: x\\x1b[2J\\x0aroot is using the reader"))
    }

    @Test(
        "a bad option is logged, and gives no access",
        arguments: [
            "timeout=0", "timeout=171", "timeout=", "timeout", "max-tries=6", "frobnicate",
            "debug=1", "debug_file=/tmp/x",
            "debug debug", "socket=run/x", "prompt=both", "prompt=", "prompt=off prompt=off",
            "background=maybe", "background=warn background=allow", "delay=5001", "delay=1 delay=1",
            "delay=0x5", "Prompt=auto", "socket=/run/../tmp/x", "Timeout=5", "timeout=+5",
        ])
    func badOptions(_ options: String) throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so \(options)")
        try fixture.host.writeService(
            "lenient", "auth sufficient pam_signet.so \(options)\nauth required pam_permit.so")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.serviceError])
        #expect(try fixture.start(service: "lenient").codes() == [0])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("the option") { $0.message.contains("option '") }
    }

    @Test("options reach the daemon")
    func goodOptions() throws {
        let fixture = try ModuleFixture(
            stack: "auth required pam_signet.so timeout=170 max-tries=5 debug")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        #expect(request.timeoutMilliseconds == 170_000 && request.maximumTries == 5)
        try visit.prove(fixture.proof(for: request))
        #expect(try probe.codes() == [0])
    }

    @Test("lines of other types do no harm, give no access, and are reported")
    func otherTypes() throws {
        let fixture = try ModuleFixture(
            stack: """
                auth required pam_signet.so
                account required pam_signet.so
                session required pam_signet.so
                """)
        let lines = try fixture.start(["acct", "open", "close"]).lines()
        for line in lines.prefix(3) { #expect(!line.hasSuffix(" 0"), "\(line)") }
        for type in ["account", "session"] {
            try fixture.host.journal.expect(type) { $0.message.contains("remove its '\(type)'") }
        }
    }
}
