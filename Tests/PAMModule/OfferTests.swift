// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("the hint about enrolling after a login with the password")
struct OfferTests {
    private static let stack =
        "auth sufficient pam_signet.so offer\nauth required pam_permit.so"
    private static let text =
        "info no finger is enrolled: run 'signet enroll' to log in with a finger"

    private func fixture(_ stack: String = OfferTests.stack) throws -> ModuleFixture {
        try ModuleFixture(stack: stack, isRegistered: false)
    }

    @Test("is shown where the daemon says so, once, for the account that logged in")
    func shown() throws {
        let fixture = try fixture()
        let probe = try fixture.start(
            ["auth", "user:root", "establish", "establish"])
        let visit = try fixture.visit()
        let request = try visit.request()
        #expect(
            request
                == .offer(
                    OfferRequest(
                        account: "alice", service: "probe",
                        presence: .noTerminal)))
        try visit.send(.notice(Notice(.offer)))
        let lines = try probe.lines()
        #expect(lines.filter { $0 == Self.text }.count == 1)
        #expect(lines.first == "auth 0" && lines.filter { $0 == "establish 0" }.count == 2)
        #expect(!fixture.hasVisit)
    }

    @Test("is not shown where the daemon says anything else, and fails no login")
    func unsaid() throws {
        for answer in [
            Answer.done(DoneAnswer()), .denial(Denial(.noReader)), .notice(Notice(.touch)),
            .denial(Denial(.badRequest)),
        ] {
            let fixture = try fixture()
            let probe = try fixture.start(["auth", "establish"])
            let visit = try fixture.visit()
            _ = try visit.request()
            try visit.send(answer)
            #expect(try probe.lines().prefix(2) == ["auth 0", "establish 0"], "\(answer)")
        }
    }

    @Test("delays no login if the daemon is silent or absent")
    func silent() throws {
        let fixture = try fixture()
        let probe = try fixture.start(["auth", "establish"])
        let visit = try fixture.visit()
        #expect(try probe.lines().prefix(2) == ["auth 0", "establish 0"])
        _ = try visit.request()
        let absent = try ModuleFixture(stack: Self.stack, listens: false, isRegistered: false)
        #expect(
            try absent.start(["auth", "establish"]).lines().prefix(2) == ["auth 0", "establish 0"])
    }

    @Test(
        "no user is asked without the option, root's rights, a login, or a user who sees it",
        arguments: [
            ("", ["auth", "establish"], [:]), (" offer prompt=off", ["auth", "establish"], [:]),
            (" offer", ["auth", "establish"], ["PROBE_RHOST": "host"]),
            (" offer", ["auth", "establish"], ["PROBE_SILENT": "1"]),
            (" offer", ["establish"], [:]), (" offer", ["auth", "delete"], [:]),
            (" offer", ["auth", "euid:4243", "establish"], [:]), (" offer", ["auth"], [:]),
        ] as [(String, [String], [String: String])])
    func unasked(options: String, steps: [String], environment: [String: String]) throws {
        let fixture = try fixture(Self.stack.replacing(" offer", with: options))
        let lines = try fixture.start(steps, environment: environment).lines()
        #expect(!lines.contains(Self.text) && !fixture.hasVisit)
    }

    @Test("an account that has a key, or had one, is not shown it")
    func enrolled() throws {
        let fixture = try ModuleFixture(stack: Self.stack)
        let probe = try fixture.start(["auth", "establish"])
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.lines().contains("establish 0") && !fixture.hasVisit)
        let off = try self.fixture()
        try off.host.write(ModuleFixture.offPath, [])
        let second = try off.start(["auth", "establish"])
        let asked = try off.visit()
        _ = try asked.authenticate()
        try asked.send(.denial(Denial(.notEnabled)))
        let report = try off.visit()
        let accepted = Request.passwordAccepted(
            account: "alice", service: "probe")
        #expect(try report.request() == accepted)
        try report.send(.done(DoneAnswer()))
        #expect(try second.lines().contains("establish 0") && !off.hasVisit)
    }
}
