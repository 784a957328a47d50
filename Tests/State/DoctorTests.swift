// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("the doctor, about the state")
struct DoctorTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test("knows every file that is kept, and reports one that is not the store's")
    func everyFile() throws {
        try keepMachine()
        let receipts = try fixture.account.receipts()
        try keepAccount()
        #expect(try receipts.prepare().counter == 1)
        try keepKeys()
        let names = Set(Layout.entries(of: fixture.file("")))
        #expect(
            names == [
                "account", "counter", "credential", "keyring", "life", "lockout",
                "lost-prints", "mac-tokens", "prints", "receipts", "refusals", "secrets", "servers",
                "signers",
            ])
        #expect(Layout.entries(of: fixture.file("servers")).contains { $0.hasSuffix(".verdict") })
        let all = Set(Layout.entries(of: fixture.scratch.at("private")))
        #expect(
            all == [
                "accounts", "comparisons", "host-secret", "offers", "reader-work", "settings",
                "stored", "template-keys", "tpm-root",
            ])
        let root = try installed()
        #expect(findings(below: root) == [])
        let stranger = "var/lib/signet/private/accounts/\(StateFixture.uid)/notes"
        try root.write(stranger, "x")
        #expect(findings(below: root) == ["file-foreign /\(stranger)"])
    }

    private func keepMachine() throws {
        try fixture.state.keep(EnrolmentOffers())
        try fixture.state.keep(StoredSettings(text: Array("[login]\naccounts = !bob\n".utf8)))
        var work = ReaderWork()
        work.enrolling = [
            ReaderStorage(
                driver: "driver", device: "0", serial: nil,
                prints: [[UInt8](repeating: 1, count: 32)])
        ]
        try fixture.state.keep(work)
        try fixture.state.owners.remember(
            StateFixture.uid, asOwnerOf: [UInt8](repeating: 1, count: 32))
        try fixture.state.rootPin.save([0, 11] + [UInt8](repeating: 7, count: 32))
        let identifier = StoredTemplateKeyID.sample(repeating: 5)
        let secret = try SecretBytes.random(32)
        let context = try #require(SealingContext.templates(identifier))
        try fixture.state.templateKeys.keep(
            SealedTemplateKey(
                identifier: identifier, vault: .file,
                sealed: try fixture.vault.seal(secret, context: context)),
            opened: try TemplateSeal(key: secret))
    }

    private func keepAccount() throws {
        try fixture.add(1)
        try fixture.issue()
        try fixture.keep([1, 2, 3], as: "mail")
        try fixture.keep(try SecretBytes.random(16), try StateFixture.entry())
        try fixture.account.refusals.save(RefusalList())
        var lost = LostPrintList()
        _ = lost.add(.sample(repeating: 1), now: Instant(seconds: 1))
        try fixture.account.lostPrints.save(lost)
    }

    /// A key for a server with a last yes and a MAC token, and the signing key.
    private func keepKeys() throws {
        let server: ServerURL = "https://id.example.org"
        let begun = RelayRegistration(
            registration: .sample(repeating: 2), account: "al",
            application: "shop", audience: "shop",
            challenge: .sample(repeating: 0),
            expires: 0)
        let key = try make(0xc1, at: ServerRegistration(server: server, begun: begun))
        _ = try make(0xc2, at: .signing(StateFixture.alice))
        let verdict = Verdict(
            audience: "shop", account: "al", local: StateFixture.alice,
            device: fixture.state.device, challenge: .sample(repeating: 3),
            module: .sample(repeating: 4), decision: .allow, issued: StateFixture.now,
            expires: Instant(seconds: StateFixture.now.seconds + 60))
        try fixture.account.servers.keep(
            try #require(
                CachedVerdict(
                    text: verdict.encoded(), signature: [1, 2, 3], boot: Bytes("b".utf8),
                    moment: 7)), for: key)
        let token = StoredMACToken(
            Bytes("ci".utf8), for: key, identifier: .sample(repeating: 0xa1),
            created: StateFixture.now, expires: Instant(seconds: StateFixture.now.seconds + 60))
        try fixture.account.macTokens.keep(token, secret: try SecretBytes.random(32))
    }

    private func make(_ credential: UInt8, at place: ServerRegistration) throws -> ServerKey {
        let servers = fixture.account.servers
        let identifier = CredentialID.sample(repeating: credential)
        let context = try servers.context(
            identifier, server: place.server,
            enrolment: try fixture.present)
        return try servers.keep(
            try fixture.vault.create(context), as: identifier, context: context, by: .file,
            at: place, state: .good, now: StateFixture.now)
    }

    /// A root directory below which the state lies where an installed daemon has it.
    private func installed() throws -> Scratch {
        let root = try Scratch()
        try root.write("var/lib/none", "")
        let place = root.at("var/lib/signet")
        try #require(unsafe rename(fixture.scratch.path, place) == 0)
        return root
    }

    /// What the doctor has against the state, by code and subject.
    private func findings(below root: Scratch) -> [String] {
        var machine = Machine()
        machine.files.root = root.path
        machine.uid = 0
        machine.isClockKept = true
        machine.journal = { _ in .failed }
        machine.unitState = { _ in .failed }
        machine.nameService.account = { $0 == StateFixture.uid ? "alice" : nil }
        return machine.examine { DaemonView(.absent) }
            .map { "\($0.code) \(String(decoding: $0.subject, as: UTF8.self))" }
            // Tests write to a file system in memory.
            .filter { $0.contains(" /var/lib/signet") && !$0.hasPrefix("state-volatile") }
    }
}
