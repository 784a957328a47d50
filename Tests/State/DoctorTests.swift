// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Doctor
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
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test("knows every file that is kept, and tells of one that is not of the store's making")
    func everyFile() throws {
        try keepMachine()
        let receipts = try bench.account.receipts()
        try keepAccount()
        #expect(try receipts.prepare().counter == 1)
        try keepKeys()
        let names = Set(Layout.entries(of: bench.file("")))
        #expect(
            names == [
                "account", "counter", "credential", "keyring", "lockout", "mac-tokens", "prints",
                "receipts", "refusals", "secrets", "servers", "signers",
            ])
        #expect(Layout.entries(of: bench.file("servers")).contains { $0.hasSuffix(".verdict") })
        let all = Set(Layout.entries(of: bench.scratch.at("private")))
        #expect(
            all == [
                "accounts", "comparisons", "host-secret", "offers", "reader-work", "stored",
                "template-keys",
                "tpm-root",
            ])
        let root = try installed()
        #expect(findings(below: root) == [])
        let stranger = "var/lib/signet/private/accounts/\(Bench.uid)/notes"
        try root.write(stranger, "x")
        #expect(findings(below: root) == ["file-foreign /\(stranger)"])
    }

    private func keepMachine() throws {
        try bench.state.keep(EnrolmentOffers())
        var work = ReaderWork()
        work.enrolling = [
            ReaderStorage(
                driver: "driver", device: "0", serial: nil,
                prints: [[UInt8](repeating: 1, count: 32)])
        ]
        try bench.state.keep(work)
        try bench.state.owners.remember(
            Bench.uid, asOwnerOf: [UInt8](repeating: 1, count: 32))
        try bench.state.rootPin.save([0, 11] + [UInt8](repeating: 7, count: 32))
        let identifier = [UInt8](repeating: 5, count: 16)
        let secret = try SecretBytes.random(32)
        let context = try #require(SealingContext.templates(identifier))
        try bench.state.templateKeys.keep(
            SealedTemplateKey(
                identifier: identifier, vault: .file,
                sealed: try bench.vault.seal(secret, context: context)),
            opened: try TemplateSeal(key: secret))
    }

    private func keepAccount() throws {
        try bench.add(1)
        try bench.issue()
        try bench.keep([1, 2, 3], as: "mail")
        try bench.keep(try SecretBytes.random(16), try Bench.entry())
        try bench.account.refusals.save(RefusalList())
    }

    /// A key for a server with a last yes and a MAC token, and the signing key.
    private func keepKeys() throws {
        let server = Bytes("https://id.example.org".utf8)
        let begun = RelayRegistration(
            registration: Bytes(repeating: 2, count: 16), account: Bytes("al".utf8),
            application: Bytes("shop".utf8), audience: Bytes("shop".utf8), challenge: [],
            expires: 0)
        let key = try make(0xc1, at: ServerRegistration(server: server, begun: begun))
        _ = try make(0xc2, at: .signing(Bench.alice))
        let verdict = Verdict(
            audience: Bytes("shop".utf8), account: Bytes("al".utf8), local: Bench.alice,
            device: bench.state.device, challenge: Bytes(repeating: 3, count: 32),
            module: Bytes(repeating: 4, count: 32), decision: .allow, issued: Bench.now,
            expires: Instant(seconds: Bench.now.seconds + 60))
        try bench.account.servers.keep(
            try #require(
                CachedVerdict(
                    text: verdict.encoded(), signature: [1, 2, 3], boot: Bytes("b".utf8),
                    moment: 7)), for: key)
        let token = MACToken(
            Bytes("ci".utf8), for: key, identifier: Bytes(repeating: 0xa1, count: 16),
            created: Bench.now, expires: Instant(seconds: Bench.now.seconds + 60))
        try bench.account.macTokens.keep(token, secret: try SecretBytes.random(32))
    }

    private func make(_ credential: UInt8, at place: ServerRegistration) throws -> ServerKey {
        let servers = bench.account.servers
        let context = try servers.context(
            Bytes(repeating: credential, count: 16), server: place.server,
            enrolment: try bench.present)
        return try servers.keep(
            try bench.vault.create(context), context: context, by: .file, at: place, state: .good,
            now: Bench.now)
    }

    /// A root directory below which the state lies where an installed daemon has it.
    private func installed() throws -> Scratch {
        let root = try Scratch()
        try root.write("var/lib/none", "")
        let place = root.at("var/lib/signet")
        try #require(unsafe rename(bench.scratch.path, place) == 0)
        return root
    }

    /// What the doctor has against the state, by code and subject.
    private func findings(below root: Scratch) -> [String] {
        var machine = Machine()
        machine.files.root = root.path
        machine.uid = 0
        machine.isClockKept = true
        machine.journal = { _ in .failed }
        machine.nameService.account = { $0 == Bench.uid ? "alice" : nil }
        return machine.examine { DaemonView(.absent) }
            .map { "\($0.code) \(String(decoding: $0.subject, as: UTF8.self))" }
            // Tests write to a file system in memory.
            .filter { $0.contains(" /var/lib/signet") && !$0.hasPrefix("state-volatile") }
    }
}
