// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Fingerprints
import LoginProtocol
import TestSupport
import Testing

@Suite("fingers that fprintd knows", .timeLimit(.minutes(5)))
struct ImportTests {
    /// A fixture with fprintd's store as the real one left it, and readers that have what it put there.
    private func host(_ kind: SignetFixture.ReaderKind, _ driver: FprintdStore.Driver) throws
        -> SignetFixture
    {
        let signet = try SignetFixture(readers: [kind], running: false)
        try store(signet).add("alice", driver, .rightIndex)
        if kind == .storage {
            try signet.host.write("/run/readers/storage.prints", "alice right\n", mode: 0o600)
        }
        try signet.start()
        return signet
    }

    private func store(_ signet: SignetFixture) -> FprintdStore {
        FprintdStore(path: signet.host.path("/var/lib/fprint"))
    }

    /// What alice does and is told.
    private func takeOver(
        _ signet: SignetFixture, password: String = HostFixture.alice.password
    ) throws -> Outcome {
        try signet.host.run(
            [try Built.program("signet"), "import-fprintd", "--password-stdin"],
            as: HostFixture.alice, input: password + "\n")
    }

    private func expectTakenOver(_ outcome: Outcome, from driver: FprintdStore.Driver) {
        #expect(outcome.succeeded, "\(outcome)")
        let lines = outcome.output.split(separator: "\n")
        #expect(
            lines.contains {
                $0.hasPrefix("right-index  \(driver.rawValue)/0/7  ")
                    && $0.hasSuffix("  imported")
            })
        // Before the password was asked for.
        #expect(
            lines.first?.hasPrefix("fprintd has stored these fingers under the name alice") == true)
        #expect(lines.dropFirst().first?.hasPrefix("  right-index, written on ") == true)
        #expect(lines.contains("1 finger was imported for alice: 1 finger in total"))
        #expect(lines.contains("fingerprint login is on for alice"))
    }

    @Test(
        "let alice through sudo after import-fprintd, with no new scan",
        arguments: [
            (SignetFixture.ReaderKind.text, FprintdStore.Driver.text), (.storage, .storage),
        ])
    func sudo(kind: SignetFixture.ReaderKind, driver: FprintdStore.Driver) throws {
        let signet = try host(kind, driver)
        expectTakenOver(try takeOver(signet), from: driver)
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.nobody, on: kind)
        try terminal.expect("the finger did not match")
        try terminal.expectInvitation()
        try signet.touch("alice right", on: kind)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let again = try takeOver(signet)
        #expect(again.succeeded && again.output.contains("already enrolled"))
    }

    @Test("let her through where libfprint compares pictures")
    func image() throws {
        let signet = try host(.image, .image)
        expectTakenOver(try takeOver(signet), from: .image)
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        for (seed, said) in [(UInt64(12), "the finger did not match"), (11, "root\r\n")] {
            try terminal.expectInvitation()
            let picture = SyntheticFinger(seed: seed).impression(9, quality: .careful)
            try signet.imageReader.send([
                .automaticFinger(true),
                .image(width: picture.width, height: picture.height, pixels: picture.pixels),
            ])
            try terminal.expect(said)
        }
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("with a damaged and a foreign file among them: each is reported, the rest works")
    func damaged() throws {
        let signet = try host(.text, .text)
        let place = "alice/virtual_device/0"
        try store(signet).write(Array("FP3 and then nothing".utf8), at: "\(place)/2")
        try store(signet).write([], at: "\(place)/notes")
        let outcome = try takeOver(signet)
        #expect(outcome.ending == .exited(1))
        #expect(outcome.output.contains("1 finger was imported for alice: 1 finger in total"))
        #expect(outcome.output.contains("not imported: it is damaged, or not a print"))
        #expect(
            outcome.output.contains("not imported: fprintd does not use such a name for prints"))
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("stay fprintd's without the right password, and where nothing is there it is said")
    func refused() throws {
        let signet = try host(.text, .text)
        #expect(try takeOver(signet, password: HostFixture.bob.password).ending == .exited(5))
        #expect(try signet.status(HostFixture.alice).prints == 0)
        let nothing = try signet.host.run(
            [try Built.program("signet"), "import-fprintd", "--password-stdin"],
            as: HostFixture.bob, input: HostFixture.bob.password + "\n")
        #expect(nothing.ending == .exited(1))
        #expect(nothing.output.contains("fprintd has stored no fingerprints of bob"))
    }
}
