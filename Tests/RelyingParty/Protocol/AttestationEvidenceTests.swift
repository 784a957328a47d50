// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQLSupport
import ServerAPI
import TestSupport
import Testing

@testable import RelyingParty

/// The evidence of an attested key, as stock tools check it. The commands are those of
/// docs/admin/SERVER-OPERATE.md.
@Suite("The evidence of an attested key")
struct AttestationEvidenceTests {
    @Test("is accepted by openssl and tpm2-tools, and not if it is altered")
    func tools() async throws {
        let server = try await TestServer.attesting(.sqlite)
        let device = try AttestingDevice()
        #expect(try await server.register(attested: device).status == 200)
        let scratch = try Scratch()
        let place = scratch.at("evidence")
        let id = device.device.registration
        let lines = try await server.administer("registration", "evidence", id, place)
        #expect(lines.contains("\(place)/ek.der") && lines.contains("\(place)/quote.log"))

        let authorities = try AttestingDevice.authority.get().certificatePath
        let verify = ["verify", "-partial_chain", "-CAfile", authorities, "ek.der"]
        #expect(try run(["openssl"] + verify, in: place).succeeded)
        let foreign = try AttestingDevice.stranger.get()
        _ = try SoftwareTPM(certifiedBy: foreign)
        let others = ["verify", "-partial_chain", "-CAfile", foreign.certificatePath, "ek.der"]
        #expect(try !run(["openssl"] + others, in: place).succeeded)

        // What the keys are.
        let attestationKey = try run(["tpm2_print", "-t", "TPM2B_PUBLIC", "ak.pub"], in: place)
        #expect(
            attestationKey.output.contains(
                "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|sign"),
            "\(attestationKey)")
        let key = try run(["tpm2_print", "-t", "TPM2B_PUBLIC", "key.pub"], in: place)
        #expect(key.output.contains("fixedtpm|fixedparent|sensitivedataorigin|noda|sign"))

        // Who has signed what.
        let digest = [
            "openssl", "dgst", "-sha256", "-verify", "ak.pem", "-signature", "certification.sig",
        ]
        #expect(try run(digest + ["certification.attest"], in: place).succeeded)
        #expect(try !run(digest + ["quote.attest"], in: place).succeeded)
        let statement = try first(run(["sha256sum", "statement.txt"], in: place))
        let attest = try run(
            ["tpm2_print", "-t", "TPMS_ATTEST", "certification.attest"], in: place)
        #expect(attest.output.contains("extraData: \(statement)"), "\(attest)")
        let name = try first(
            run(["sh", "-c", "tail -c +3 key.pub | sha256sum"], in: place))
        let certified = try run(
            [
                "sh", "-c",
                "tail -c 70 certification.attest | head -c 34 | od -An -v -tx1 | tr -d ' \\n'",
            ], in: place)
        #expect(certified.output == "000b\(name)", "\(certified)")

        // Secure boot.
        func checkQuote(_ qualifier: String) throws -> Bool {
            try run(
                [
                    "tpm2_checkquote", "-u", "ak.pem", "-m", "quote.attest", "-s", "quote.tss",
                    "-q", qualifier,
                ], in: place
            ).succeeded
        }
        #expect(try checkQuote(statement))
        #expect(try !checkQuote(name))
        let log = try run(["tpm2_eventlog", "quote.log"], in: place)
        #expect(log.succeeded && log.output.contains("UnicodeName: SecureBoot"), "\(log)")
        let value = hexadecimal(device.firmware.value(of: 7))
        #expect(log.output.contains("0x\(value)"), "\(log)")
        let quote = try run(["tpm2_print", "-t", "TPMS_ATTEST", "quote.attest"], in: place)
        #expect(
            quote.output.contains(
                hexadecimal(try SHA256.digest(device.firmware.value(of: 7)))), "\(quote)")
    }

    @Test("is written to a new directory, of an attested registration")
    func refused() async throws {
        let server = try await TestServer.attesting(.sqlite)
        let plain = try TestDevice(id: 0xd2)
        try await server.register(plain)
        let scratch = try Scratch()
        await #expect(throws: AdminFault.missing("the key of this registration is not attested")) {
            try await server.administer(
                "registration", "evidence", plain.registration, scratch.at("new"))
        }
        let unknown = String(repeating: "0", count: 32)
        await #expect(throws: AdminFault.self) {
            try await server.administer("registration", "evidence", unknown, scratch.at("new"))
        }
        let device = try AttestingDevice()
        #expect(try await server.register(attested: device, quoted: false).status == 200)
        await #expect(throws: AdminFault.self) {
            try await server.administer(
                "registration", "evidence", device.device.registration, scratch.path)
        }
        let lines = try await server.administer(
            "registration", "evidence", device.device.registration, scratch.at("new"))
        #expect(lines.contains { $0.hasSuffix("certification.attest") })
        #expect(!lines.contains { $0.contains("quote") })
    }

    @Test("cannot be required by a server that trusts no maker of TPMs")
    func policy() async throws {
        let server = try await TestServer.make(.sqlite)
        for option in [["--keys", "attested"], ["--secure-boot", "attested"]] {
            await #expect(throws: AdminFault.self) {
                try await server.administer(["application", "set", "shop"] + option)
            }
            await #expect(throws: AdminFault.self) {
                try await server.administer(["application", "add", "other"] + option)
            }
        }
        let attesting = try await TestServer.attesting(.sqlite)
        _ = try await attesting.administer(
            "application", "set", "shop", "--keys", "attested", "--secure-boot", "attested")
        let list = try await attesting.administer("application", "list", "--json")
        #expect(list.first?.contains(#""keys":"attested""#) == true, "\(list)")
    }

    private func run(_ words: [String], in directory: String) throws -> Outcome {
        var command = Command(words)
        command.directory = directory
        return try Program(command).expectEnd()
    }

    private func first(_ outcome: Outcome) throws -> String {
        try #require(outcome.output.split(separator: " ").first.map(String.init))
    }
}
