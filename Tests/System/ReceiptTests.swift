// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("receipts of logins", .timeLimit(.minutes(5)))
struct ReceiptTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    /// The log's entries: receipts, each with the line that says that it was granted.
    private let entries: [String]
    /// The receipts themselves.
    private var receipts: [String] { entries.map { $0.split(at: Self.end) } }
    private static let end = "-----END SSH SIGNATURE-----\n"
    private static let armour = "-----BEGIN SSH SIGNATURE-----\n"

    /// After three logins: two of alice's by sudo, one by login, and one of bob's.
    init() throws {
        signet = try SignetFixture.inhabited(allowsOthers: true)
        for (command, account, finger) in [
            (["sudo", "id", "-un"], HostFixture.alice, Touch.alice),
            (["sudo", "true", "second"], HostFixture.alice, Touch.alice),
            (["su", "alice", "-c", "id -un"], HostFixture.bob, Touch.alice),
            (["su", "bob", "-c", "id -un"], HostFixture.alice, Touch.bob),
        ] {
            let terminal = try signet.host.terminal(
                command, as: account, in: .session(of: HostFixture.alice))
            try terminal.expectInvitation()
            try signet.touch(finger)
            #expect(try terminal.expectEnd() == .exited(0))
        }
        let log = try signet.host.read("\(SignetFixture.state(of: HostFixture.alice))/receipts")
        entries = Self.split(String(decoding: log, as: UTF8.self))
        try signet.shell(
            "cat /var/lib/signet/private/accounts/*/signers >/root/allowed_signers")
    }

    private static func split(_ log: String) -> [String] {
        let start = "signet-statement: "
        return log.split(separator: start).map { start + $0 }
    }

    /// Asks stock ssh-keygen about a receipt as it was cut from the log.
    private func keygen(
        _ receipt: String, namespace: String = "login@signet", signer: String? = "alice"
    ) throws -> Outcome {
        let start = try #require(receipt.firstRange(of: Self.armour)).lowerBound
        try host.write("/root/signature", String(receipt[start...]))
        let arguments =
            signer.map { ["verify", "-f", "/root/allowed_signers", "-I", $0] }
            ?? ["check-novalidate"]
        return try host.run(
            ["ssh-keygen", "-Y"] + arguments + ["-n", namespace, "-s", "/root/signature"],
            input: String(receipt[..<start]))
    }

    @Test("stock ssh-keygen accepts each one, and it says what was confirmed")
    func accepted() throws {
        #expect(receipts.count == 3)
        for receipt in entries {
            let verified = try keygen(receipt)
            #expect(verified.succeeded, "\(verified.errors)")
            #expect(verified.output.contains("Good \"login@signet\" signature for alice"))
            #expect(try keygen(receipt, signer: nil).succeeded)
        }
        #expect(receipts.first?.contains("\npurpose: sudo id -un\n") == true)
        #expect(receipts.first?.contains("\nservice: sudo\n") == true)
        #expect(receipts.last?.contains("\nservice: su\n") == true)
    }

    @Test("it refuses every one whose statement has one byte changed")
    func alteredStatement() throws {
        let receipt = try #require(receipts.first)
        let count = try #require(receipt.firstRange(of: Self.armour)).lowerBound
            .utf16Offset(in: receipt)
        for place in stride(from: 0, to: count, by: max(1, count / 24)) {
            var bytes = Array(receipt.utf8)
            bytes[place] ^= 1
            let altered = String(decoding: bytes, as: UTF8.self)
            #expect(!(try keygen(altered).succeeded), "byte \(place)")
            #expect(!(try keygen(altered, signer: nil).succeeded), "byte \(place)")
        }
    }

    @Test("it refuses a signature with one character changed, and another receipt's")
    func alteredSignature() throws {
        let receipt = try #require(receipts.first)
        let start = try #require(receipt.firstRange(of: Self.armour)).upperBound
        let begin = start.utf16Offset(in: receipt)
        // The base64 text's end holds r and s.
        for place in [begin + 30, begin + 120, begin + 250, begin + 330] {
            var bytes = Array(receipt.utf8)
            try #require(bytes.indices.contains(place))
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(!(try keygen(String(decoding: bytes, as: UTF8.self)).succeeded), "\(place)")
        }
        let other = try #require(receipts.last)
        let tail = try #require(other.firstRange(of: Self.armour)).lowerBound
        let head = try #require(receipt.firstRange(of: Self.armour)).lowerBound
        #expect(!(try keygen(String(receipt[..<head]) + String(other[tail...])).succeeded))
    }

    @Test("it refuses another namespace and another signer")
    func otherUse() throws {
        let receipt = try #require(receipts.first)
        #expect(!(try keygen(receipt, namespace: "file@signet").succeeded))
        #expect(!(try keygen(receipt, namespace: "file@signet", signer: nil).succeeded))
        #expect(!(try keygen(receipt, signer: "bob").succeeded))
        #expect(!(try keygen(receipt, signer: "mallory").succeeded))
    }

    @Test("signet log --verify accepts the chain, and refuses it with a receipt altered or removed")
    func chain() throws {
        let command = [try Built.program("signet"), "log", "--verify"]
        let sound = try host.run(command, as: HostFixture.alice)
        #expect(sound.succeeded, "\(sound.output) \(sound.errors)")
        let path = "\(SignetFixture.state(of: HostFixture.alice))/receipts"
        let altered = [
            entries.joined().replacing("id -un", with: "id -uN"),
            entries.dropFirst().joined(),
            entries.dropLast().joined(),
            entries[0] + entries[2],
            // Whether a proof was used belongs to the chain.
            receipts.joined(),
            entries[0] + entries[1] + receipts[2],
            entries.joined().replacing("granted: 2\n", with: ""),
            entries.joined().replacing("granted: 2\n", with: "granted: 3\n"),
        ]
        for text in altered {
            try host.write(path, text, mode: 0o600)
            #expect(!(try host.run(command, as: HostFixture.alice).succeeded))
        }
        try host.write(path, entries.joined(), mode: 0o600)
        #expect(try host.run(command, as: HostFixture.alice).succeeded)
    }
}

extension String {
    /// What there is up to the end of a part.
    fileprivate func split(at part: String) -> String {
        firstRange(of: part).map { String(self[..<$0.upperBound]) } ?? self
    }
}
