// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A program that calls PAM as KDE's locker does, as the user and with a stack as distributions ship
/// it, on a laptop with the whole of Signet.
@Suite("KDE's lock screen", .timeLimit(.minutes(5)))
struct LockScreenTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let bus: PrivateBus
    private let logind: TestSupport.Program

    init() throws {
        signet = try SignetFixture.inhabited()
        (bus, logind) = try signet.startBus()
        try signet.host.installModule(Built.fprintdModule(), as: "pam_fprintd.so")
        try signet.host.writeService("kde-fingerprint", "auth required pam_fprintd.so\n")
    }

    private func locker() throws -> TestSupport.Program {
        try host.start(
            ["\(Layout.products)/PAMModuleProbe"], as: HostFixture.alice,
            environment: [
                "PROBE_SERVICE": "kde-fingerprint", "PROBE_USER": "alice",
                "PROBE_STEPS": "lock,refresh",
            ])
    }

    @Test("keeps the finger through sleep and a closed lid, and a touch then unlocks")
    func laptop() throws {
        let locker = try locker()
        try locker.expect(SignetFixture.invitation)
        try bus.awaitInhibitors(1)
        try bus.setLid(closed: true)
        #expect(try bus.sleep(lookingAt: "/run/readers/storage").isInTime)
        try signet.expectDenial("suspending")
        try bus.wake()
        try signet.expectDenial("lidClosed")
        #expect(locker.ended == nil)
        try bus.setLid(closed: false)
        try locker.expect(SignetFixture.invitation, times: 2)
        try signet.touch(Touch.alice)
        try locker.expect("auth 0\n")
        try locker.expect("refresh 0\n")
        #expect(try locker.expectEnd().succeeded)
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("stays locked for others' fingers, and says so after three")
    func strangers() throws {
        let locker = try locker()
        for attempt in 1...3 {
            try locker.expect(SignetFixture.invitation, times: attempt)
            try signet.touch(attempt == 2 ? Touch.bob : Touch.nobody)
            if attempt < 3 { try locker.expect("did not match", times: attempt) }
        }
        try locker.expect("auth 11\n")
        #expect(!locker.output.contains("auth 0"))
        #expect(try signet.failures(of: HostFixture.alice) == 3)
    }
}
