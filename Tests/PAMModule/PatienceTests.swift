// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// The probe as kscreenlocker calls PAM: one handle, pam_authenticate(3) in a thread of its own, again
/// after a failure, and pam_setcred(3) with PAM_REFRESH_CRED after a success.
@Suite("the wait of a lock screen")
struct PatienceTests {
    private typealias Code = ModuleFixture.Code

    /// The module as a distribution's stack for KDE's locker names it.
    private func locker(
        _ edition: ModuleEdition = .fprintd, isRegistered: Bool = true, options: String = ""
    ) throws -> ModuleFixture {
        let fixture = try ModuleFixture(edition, isRegistered: isRegistered)
        try fixture.host.writeService(
            "kde-fingerprint", "auth required \(edition.file) \(options)\n")
        return fixture
    }

    /// Starts the probe as the worker that KDE's next locker starts, and which ends with it; the
    /// locker is a shell.
    private func start(
        _ fixture: ModuleFixture, _ steps: [String] = ["lock"], account: String = "alice",
        environment: [String: String] = [:]
    ) throws -> Program {
        var all = [
            "PROBE_SERVICE": "kde-fingerprint", "PROBE_USER": account,
            "PROBE_STEPS": (["dies"] + steps).joined(separator: ","),
        ]
        all.merge(environment) { _, new in new }
        return try fixture.host.start(
            ["/bin/sh", "-c", "\(Layout.products)/PAMModuleProbe; exit $?"], environment: all)
    }

    /// Starts the probe as the locker of Plasma 6.7, in which a thread calls PAM.
    private func startThread(_ fixture: ModuleFixture, calls: Int = 1) throws -> Program {
        try fixture.start([String](repeating: "lock", count: calls), service: "kde-fingerprint")
    }

    /// What each call returned, and how many milliseconds it took.
    private func results(_ probe: Program) throws -> [(code: Int, milliseconds: Int)] {
        let lines = try probe.lines(within: .seconds(120))
        let codes = lines.compactMap { $0.hasPrefix("auth ") ? Int($0.dropFirst(5)) : nil }
        let times = lines.compactMap { $0.hasPrefix("took ") ? Int($0.dropFirst(5)) : nil }
        #expect(codes.count == times.count)
        #expect(lines.last == "left mapped=0 threads=1 files=0 signals=0")
        return Array(zip(codes, times)).map { (code: $0.0, milliseconds: $0.1) }
    }

    @Test(
        "outlasts lid, sleep, a busy reader and a time-out, and a touch then unlocks, all in one call",
        arguments: ModuleEdition.allCases)
    func outlasts(_ edition: ModuleEdition) throws {
        let fixture = try locker(edition)
        let probe = try start(fixture, ["lock", "refresh"])
        var challenges: Set<[UInt8]> = []
        for (index, reason) in [DenialReason.timedOut, .lidClosed, .suspending].enumerated() {
            let visit = try fixture.visit()
            let request = try visit.authenticate()
            // The reader is on for its time at first, and in bursts from then on.
            #expect(request.timeoutMilliseconds == (index == 0 ? 30_000 : 10_000))
            challenges.insert(request.challenge.bytes)
            if index == 0 { try visit.send(.notice(Notice(.touch, scan: .press))) }
            try visit.send(.denial(Denial(reason)))
        }
        // The daemon is replaced meanwhile, by an upgrade.
        let lost = try fixture.visit()
        challenges.insert(try lost.authenticate().challenge.bytes)
        lost.hangUp()
        let touched = try fixture.visit()
        let request = try touched.authenticate()
        challenges.insert(request.challenge.bytes)
        try touched.send(.notice(Notice(.touch, scan: .press)))
        try touched.prove(fixture.proof(for: request))
        let lines = try probe.lines(within: .patience)
        #expect(lines.contains("auth 0") && lines.contains("refresh 0"), "\(lines)")
        // Nothing but the prompts was shown: a locker would take each text for an event.
        #expect(lines.filter { $0.hasPrefix("error") || $0.hasPrefix("info") }.count == 2)
        #expect(challenges.count == 5)
    }

    /// Reasons that pass, those that pass if a finger could be asked for before, and those that a
    /// minute's wait ends.
    static let passingReasons: Set<DenialReason> = [
        .lidClosed, .suspending, .readerBusy, .queueFull, .cancelled, .tooManyRequests,
        .notAtMachine, .readerRemoved, .passwordOnly, .serverBusy, .stopping,
    ]
    static let returningReasons: Set<DenialReason> = [
        .noReader, .readerFailed, .readerConfused, .vaultUnavailable, .serverUnreachable,
        .serverLost,
    ]
    static let slowReasons: Set<DenialReason> = [.timedOut, .readerTooHot, .lockedForNow]

    @Test(
        "no condition that passes ends a call",
        arguments: PatienceTests.passingReasons.sorted { $0.rawValue < $1.rawValue })
    func passing(_ reason: DenialReason) throws {
        let fixture = try locker()
        let probe = try start(fixture)
        _ = try fixture.visit().deny(reason)
        let again = try fixture.visit()
        try again.prove(fixture.proof(for: again.authenticate()))
        #expect(try results(probe).map(\.code) == [Code.success])
    }

    @Test("a daemon that is late with its first answer is waited for, and asked again")
    func late() throws {
        let fixture = try locker(options: "timeout=1")
        // As the worker calls PAM: in the thread that ends with the locker.
        let probe = try start(fixture, ["auth"])
        let busy = try fixture.visit()
        _ = try busy.authenticate()
        let again = try fixture.visit()
        try again.prove(fixture.proof(for: again.authenticate()))
        let lines = try probe.lines(within: .patience)
        #expect(lines.contains("auth 0") && !lines.contains { $0.hasPrefix("error") }, "\(lines)")
        busy.hangUp()
    }

    @Test("a daemon that answers nothing for a whole call is reported, and no finger has failed")
    func neverAnswers() throws {
        let fixture = try locker(options: "timeout=1")
        let probe = try startThread(fixture)
        let silent = try fixture.visit()
        _ = try silent.authenticate()
        let lines = try probe.lines(within: .patience)
        #expect(lines.contains("auth \(Code.unavailable)"), "\(lines)")
        #expect(lines.contains { $0.contains("does not answer") }, "\(lines)")
        silent.hangUp()
    }

    @Test("a daemon that ends while it awaits a finger for the first time is waited for, no other")
    func ended() throws {
        let fixture = try locker()
        let probe = try start(fixture, ["lock", "lock"])
        let silent = try fixture.visit()
        _ = try silent.authenticate()
        silent.hangUp()
        let awaiting = try fixture.visit()
        _ = try awaiting.authenticate()
        try awaiting.send(.notice(Notice(.touch, scan: .press)))
        awaiting.hangUp()
        let again = try fixture.visit()
        try again.prove(fixture.proof(for: again.authenticate()))
        #expect(try results(probe).map(\.code) == [Code.unavailable, Code.success])
    }

    @Test("what is absent is said at once, but waited for where it was there before")
    func returning() throws {
        let fixture = try locker()
        let reasons = Self.returningReasons.sorted { $0.rawValue < $1.rawValue }
        let probe = try start(fixture, [String](repeating: "lock", count: reasons.count))
        for reason in reasons { _ = try fixture.visit().deny(reason) }
        let absent = try results(probe)
        #expect(absent.map(\.code) == reasons.map { _ in Code.unavailable })
        #expect(absent.allSatisfy { $0.milliseconds > 50 }, "\(absent)")
        let locked = try start(fixture)
        for reason in [.readerRemoved, .noReader] as [DenialReason] {
            _ = try fixture.visit().deny(reason)
        }
        let back = try fixture.visit()
        try back.prove(fixture.proof(for: back.authenticate()))
        #expect(try results(locked).map(\.code) == [Code.success])
    }

    @Test("every other reason ends the call with its code, after 50 ms and a failed finger at once")
    func lasting() throws {
        let fixture = try locker()
        let reasons = DenialReason.allCases.filter { reason in
            Denial(reason).toLogin != nil && !Self.passingReasons.contains(reason)
                && !Self.returningReasons.contains(reason) && !Self.slowReasons.contains(reason)
        }
        let probe = try start(fixture, [String](repeating: "lock", count: reasons.count + 1))
        for reason in reasons { _ = try fixture.visit().deny(reason) }
        // A lockout that began with this call is its result; a new one waits for its end.
        _ = try fixture.visit().deny(.lockedForNow, mismatches: 3)
        let results = try results(probe)
        #expect(
            results.map(\.code)
                == reasons.map { EndingTests.codes($0).0 } + [Code.maxTries])
        #expect(results.allSatisfy { $0.milliseconds > 50 }, "\(results)")
    }

    @Test("a lockout of before is waited for, and the finger that then does not match is said")
    func lockout() throws {
        let fixture = try locker()
        let probe = try start(fixture, ["lock", "lock", "refresh"])
        _ = try fixture.visit().deny(.lockedForNow, seconds: 1)
        _ = try fixture.visit().deny(.noMatch, mismatches: 3)
        let second = try fixture.visit()
        let request = try second.authenticate()
        // The next attempt is a new one, with all of its time.
        #expect(request.timeoutMilliseconds == 30_000)
        try second.prove(fixture.proof(for: request))
        let lines = try probe.lines(within: .patience)
        #expect(lines.filter { $0.hasPrefix("auth") } == ["auth 11", "auth 0"])
        #expect(lines.contains("refresh 0"))
    }

    @Test(
        "no answer comes within 50 ms: nothing enrolled, no daemon, unknown or remote user, a proof"
    )
    func notTooSoon() throws {
        let empty = try locker(isRegistered: false)
        let deaf = try ModuleFixture(.fprintd, listens: false)
        try deaf.host.writeService("kde-fingerprint", "auth required pam_fprintd.so\n")
        let probes = [
            try start(empty), try start(deaf), try start(empty, account: "nobody-of-this-name"),
            try start(empty, environment: ["PROBE_RHOST": "example.org"]),
        ]
        for probe in probes {
            let results = try results(probe)
            #expect(results.map(\.code) == [Code.unavailable])
            #expect(results.allSatisfy { $0.milliseconds > 50 }, "\(results)")
        }
        #expect(!empty.hasVisit)
        let fixture = try locker()
        let probe = try start(fixture)
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        let proven = try results(probe)
        #expect(proven.map(\.code) == [Code.success] && proven[0].milliseconds > 50)
    }

    @Test(
        "where a thread of the locker calls, the call is over after its time, and can be made again"
    )
    func thread() throws {
        let fixture = try locker(options: "timeout=3")
        let probe = try startThread(fixture, calls: 3)
        // A finger was asked for, for all of the time.
        _ = try fixture.visit().deny(.timedOut)
        // The lid stays closed for longer.
        for _ in 0..<2 { _ = try fixture.visit().deny(.lidClosed) }
        // The machine sleeps in between, so that the time begins anew.
        for reason in [.lidClosed, .suspending, .lidClosed] as [DenialReason] {
            _ = try fixture.visit().deny(reason)
        }
        let results = try results(probe)
        #expect(results.map(\.code) == [Code.authError, Code.authError, Code.authError])
        #expect(results.allSatisfy { $0.milliseconds < 12_000 }, "\(results)")
        let unlocked = try startThread(fixture)
        _ = try fixture.visit().deny(.lidClosed)
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try self.results(unlocked).map(\.code) == [Code.success])
    }

    @Test("a proof about anything else ends the call, and gives no access")
    func forged() throws {
        let fixture = try locker()
        let probe = try start(fixture, ["lock", "lock"])
        _ = try fixture.visit().deny(.lidClosed)
        let first = try fixture.visit()
        let request = try first.authenticate()
        let old = try fixture.proof(for: request)
        var statement = fixture.statement(for: request)
        statement.account = "bob"
        try first.prove(fixture.assertion(statement.encoded()))
        _ = try fixture.visit().deny(.lidClosed)
        // The proof of an attempt that is over.
        let replayed = try fixture.visit()
        _ = try replayed.authenticate()
        try replayed.prove(old)
        #expect(try results(probe).map(\.code) == [Code.authError, Code.authError])
    }

    @Test("ends when the application that waits has gone, and when it is cancelled or killed")
    func ends() throws {
        let fixture = try locker()
        // The locker is the shell; the probe is the process that calls PAM for it.
        let probe = "\(Layout.products)/PAMModuleProbe"
        let locker = try fixture.host.start(
            ["/bin/sh", "-c", "\(probe); echo over"],
            environment: [
                "PROBE_SERVICE": "kde-fingerprint", "PROBE_USER": "alice", "PROBE_STEPS": "lock",
            ])
        _ = try fixture.visit().deny(.lidClosed)
        locker.signal(SIGKILL)
        try locker.expect("auth \(Code.conversationError)\n")
        // It waits for the reader to rest, or asks; a touch is for nobody any more.
        let cancelled = try start(fixture, environment: ["PROBE_REFUSES": "1"])
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(.notice(Notice(.touch, scan: .press)))
        #expect(try results(cancelled).map(\.code) == [Code.conversationError])
        #expect(try visit.hasEnded())
        let killed = try start(fixture)
        let last = try fixture.visit()
        _ = try last.authenticate()
        killed.signal(SIGTERM)
        #expect(try killed.expectEnd().ending == .killed(SIGTERM))
        #expect(try last.hasEnded())
    }

    @Test("is for lock screens only: other services answer as soon as they know")
    func otherServices() throws {
        let fixture = try ModuleFixture(.fprintd)
        let probe = try fixture.start()
        _ = try fixture.visit().deny(.lidClosed)
        #expect(try probe.codes() == [Code.unavailable])
        let waiting = try ModuleFixture(stack: "auth required pam_signet.so wait")
        let told = try waiting.start()
        _ = try waiting.visit().deny(.lidClosed)
        let visit = try waiting.visit()
        try visit.prove(waiting.proof(for: visit.authenticate()))
        #expect(try told.codes() == [Code.success])
    }
}

extension Visit {
    /// Takes the request for a touch, and denies it.
    fileprivate func deny(
        _ reason: DenialReason, seconds: UInt32? = nil, mismatches: UInt8 = 0
    ) throws {
        _ = try authenticate()
        try send(.denial(Denial(reason, seconds: seconds, mismatches: mismatches)))
    }
}
