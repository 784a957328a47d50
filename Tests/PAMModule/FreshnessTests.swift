// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import SignedFormats
import TestSupport
import Testing

/// The fake daemon confirms whatever it is asked: what is refused here, the module refuses itself.
@Suite("how long the module accepts a proof")
struct FreshnessTests {
    /// A login whose proof is good, up to the module's last question.
    private func asked(
        _ fixture: ModuleFixture, _ change: (inout Statement) -> Void = { _ in }
    ) throws -> (probe: Program, visit: Visit) {
        let probe = try fixture.start()
        let visit = try fixture.visit()
        var statement = fixture.statement(for: try visit.authenticate())
        change(&statement)
        try visit.send(.assertion(fixture.assertion(statement.encoded())))
        try #require(try visit.isAsked())
        return (probe, visit)
    }

    private func expectRefused(_ probe: Program, _ fixture: ModuleFixture, saying text: String)
        throws
    {
        let lines = try probe.lines()
        #expect(lines.contains("auth \(ModuleFixture.Code.authError)"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("error ") && $0.contains(text) }, "\(lines)")
        try fixture.host.journal.expect("an alert") { $0.priority == 1 }
    }

    @Test("a denied confirmation is reported, and gives no access, whatever its reason")
    func denied() throws {
        for (reason, text) in [
            (DenialReason.answerTooLate, "was not confirmed in time"),
            (.changedMeanwhile, "session changed meanwhile"), (.suspending, "going to sleep"),
            (.notEnabled, "is off for alice"), (.badRequest, "not understood"),
        ] {
            let fixture = try ModuleFixture()
            let (probe, visit) = try asked(fixture)
            try visit.send(.denial(Denial(reason)))
            try expectRefused(probe, fixture, saying: text)
        }
    }

    @Test("a daemon that stays silent or hangs up confirms nothing", arguments: [true, false])
    func silent(hangsUp: Bool) throws {
        let fixture = try ModuleFixture()
        var (probe, visit) = try asked(fixture) as (Program, Visit?)
        let begin = ContinuousClock.now
        if hangsUp { visit = nil }
        try expectRefused(probe, fixture, saying: "was not confirmed in time")
        #expect(hangsUp || ContinuousClock.now - begin >= .milliseconds(900))
        _ = consume visit
    }

    @Test("anything else than the confirmation is refused")
    func others() throws {
        let answers: [(ModuleFixture) throws -> [UInt8]] = [
            { _ in try Answer.notice(Notice(.touch)).encoded() },
            { _ in try Answer.done(DoneAnswer()).encoded() },
            { fixture in
                try Answer.assertion(fixture.assertion([UInt8]("signet-statement: 2\n".utf8)))
                    .encoded()
            },
            { _ in [1, LoginAnswerKind.confirmed.rawValue, 0] },
            { _ in try Answer.confirmed(password: nil).encoded() + [0] },
            { _ in [2, LoginAnswerKind.confirmed.rawValue] }, { _ in [1] },
            { _ in [UInt8](repeating: 1, count: Frame.maximumLength + 1) },
        ]
        for answer in answers {
            let fixture = try ModuleFixture()
            let (probe, visit) = try asked(fixture)
            try visit.send(try answer(fixture))
            try expectRefused(probe, fixture, saying: "was rejected as invalid")
        }
    }

    @Test("a confirmation that came before the question is refused, and a second one is not read")
    func early() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let proof = try fixture.proof(for: visit.authenticate())
        try visit.send(.notice(Notice(.touch)))
        probe.suspend()
        try visit.send(.assertion(proof))
        try visit.send(.confirmed(password: nil))
        probe.signal(SIGCONT)
        try expectRefused(probe, fixture, saying: "was rejected as invalid")

        let other = try ModuleFixture()
        let (again, twice) = try asked(other)
        again.suspend()
        try twice.send(.confirmed(password: nil))
        try twice.send(.confirmed(password: Bytes("second".utf8)))
        again.signal(SIGCONT)
        #expect(try again.codes() == [ModuleFixture.Code.success])
    }

    @Test("a process that is stopped before it reads the confirmation uses it no more")
    func stoppedBeforeConfirmation() throws {
        let fixture = try ModuleFixture()
        let (probe, visit) = try asked(fixture)
        probe.suspend()
        try visit.send(.confirmed(password: nil))
        try wait(.milliseconds(2_100))
        probe.signal(SIGCONT)
        try expectRefused(probe, fixture, saying: "was not confirmed in time")
    }

    @Test("a daemon that takes seconds to confirm is waited for, and one that never does is not")
    func slowConfirmation() throws {
        // The user had less time than the daemon takes.
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=2")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.touch)))
        try visit.send(.assertion(fixture.proof(for: request)))
        try #require(try visit.isAsked())
        try wait(.milliseconds(4_500))
        try visit.send(.confirmed(password: nil))
        #expect(try probe.codes() == [ModuleFixture.Code.success])
        let other = try ModuleFixture()
        let (again, silent) = try asked(other)
        try expectRefused(again, other, saying: "was not confirmed in time")
        withExtendedLifetime(silent) {}
    }

    @Test("a process that is stopped before it reads the proof cannot use it after its deadline")
    func stoppedBeforeProof() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=1")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let proof = try fixture.proof(for: visit.authenticate())
        probe.suspend()
        try visit.send(.assertion(proof))
        try wait(.milliseconds(1_100))
        probe.signal(SIGCONT)
        if try visit.isAsked() { try visit.send(.confirmed(password: nil)) }
        try expectRefused(probe, fixture, saying: "was not confirmed in time")
    }

    @Test("a process that is stopped while the touch is asked for gets no new time by that")
    func stoppedBeforeTouch() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=1")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let proof = try fixture.proof(for: visit.authenticate())
        probe.suspend()
        try visit.send(.notice(Notice(.preparing)))
        try visit.send(.notice(Notice(.touch)))
        try visit.send(.assertion(proof))
        try wait(.milliseconds(1_100))
        probe.signal(SIGCONT)
        if try visit.isAsked() { try visit.send(.confirmed(password: nil)) }
        try expectRefused(probe, fixture, saying: "was not confirmed in time")
    }

    @Test("has its whole time from the moment it is asked for a touch, however slow the way there")
    func wholeTime() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=2")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.preparing)))
        for kind in [.preparing, .tpm, .waiting, .touch] as [NoticeKind] {
            try wait(.milliseconds(2_100))
            try visit.send(.notice(Notice(kind)))
        }
        // The finger has matched, and now the chip signs.
        try wait(.milliseconds(1_000))
        try visit.send(.notice(Notice(.tpm)))
        try wait(.milliseconds(2_100))
        try visit.send(.assertion(try fixture.proof(for: request)))
        try #require(try visit.isAsked())
        try visit.send(.confirmed(password: nil))
        #expect(try probe.codes() == [ModuleFixture.Code.success])
    }

    @Test("a process that is stopped only for a moment may use its touch")
    func stoppedForAMoment() throws {
        let fixture = try ModuleFixture()
        let (probe, visit) = try asked(fixture)
        probe.suspend()
        try visit.send(.confirmed(password: nil))
        probe.signal(SIGCONT)
        #expect(try probe.codes() == [ModuleFixture.Code.success])
    }

    @Test("a key that is exchanged, removed or switched off meanwhile gives no access")
    func keyChanged() throws {
        let changes: [(ModuleFixture) throws -> Void] = [
            {
                try $0.host.write(
                    ModuleFixture.keyPath, $0.line(key: try P256PrivateKey.generate()))
            },
            { try $0.host.write(ModuleFixture.keyPath, $0.line(account: "bob")) },
            { try $0.host.write(ModuleFixture.keyPath, [UInt8]($0.line().dropLast(2))) },
            { fixture in
                fixture.credential.flipBit(ofByte: 0)
                try fixture.host.write(ModuleFixture.keyPath, fixture.line())
            },
            { try $0.removeKey() },
            {
                try $0.removeKey()
                try $0.host.write(ModuleFixture.offPath, "")
            },
        ]
        for change in changes {
            let fixture = try ModuleFixture(stack: "auth required pam_signet.so keyring")
            let (probe, visit) = try asked(fixture)
            try change(fixture)
            try visit.send(.confirmed(password: Bytes("secret".utf8)))
            try expectRefused(probe, fixture, saying: "session changed meanwhile")
        }
    }

    @Test("a statement from another time is refused, though its signature is good")
    func issued() throws {
        for (seconds, isGood) in [
            (0, true), (-3, true), (3, true), (-30, true), (-60, false), (60, false),
            (-1_000_000_000, false),
        ] {
            let fixture = try ModuleFixture()
            let (probe, visit) = try asked(fixture) { statement in
                let now = Int64(statement.issued.seconds)
                statement.issued = Instant(seconds: UInt64(now + Int64(seconds)))
            }
            try visit.send(.confirmed(password: nil))
            if isGood {
                #expect(try probe.codes() == [ModuleFixture.Code.success], "\(seconds)")
            } else {
                try expectRefused(probe, fixture, saying: "was rejected as invalid")
            }
        }
    }

    @Test("no password and no token is passed on if the last look finds something changed")
    func nothingHandedOn() throws {
        let fixture = try ModuleFixture(
            stack: """
                auth required pam_signet.so keyring
                auth optional pam_exec.so expose_authtok stdout /usr/bin/tr -d '\\000'
                """)
        let (probe, visit) = try asked(fixture)
        try fixture.removeKey()
        try visit.send(.confirmed(password: Bytes("kestrel".utf8)))
        let lines = try probe.lines()
        #expect(lines.contains { $0.contains("session changed meanwhile") }, "\(lines)")
        #expect(!lines.contains { $0.contains("kestrel") })
    }

    private func wait(_ time: Duration) throws {
        let timer = try BootTimer(after: time)
        #expect(waitUntilReadable(timer.descriptor.number))
    }
}

extension ModuleFixture {
    fileprivate func removeKey() throws {
        try #require(unsafe unlink(host.path(ModuleFixture.keyPath)) == 0)
    }
}
