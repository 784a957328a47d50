// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Sealing
import StateSupport
import TestSupport
import Testing

@Suite("the TPM vault")
struct TPMVaultTests {
    let fixture: TPMFixture

    init() throws { fixture = try TPMFixture() }

    @Test("a key opens for what it was made for, and signs under its public half")
    func opens() throws {
        let made = try fixture.vault.create(try sealing())
        let signature = try fixture.vault.sign(made.sealed, try sealing())
        let verifier = try P256PublicKey(point: made.publicPoint)
        #expect(try verifier.verifies(signature, message: [1, 2, 3]))
        #expect(try !verifier.verifies(signature, message: [1, 2]))
        #expect(made.sealed.count <= VaultLimit.sealed)
        #expect(try fixture.vault.create(try sealing()).publicPoint != made.publicPoint)
    }

    @Test("a key opens for another process that has host secret and pin, also after a power cycle")
    func stays() throws {
        let made = try fixture.vault.create(try sealing())
        fixture.vault.rest()
        try fixture.tpm.restart()
        let signature = try fixture.another().sign(made.sealed, try sealing())
        #expect(
            try P256PublicKey(point: made.publicPoint).verifies(signature, message: [1, 2, 3]))
    }

    @Test("stock openssl verifies the signature")
    func openssl() throws {
        let made = try fixture.vault.create(try sealing())
        let signature = try fixture.vault.sign(made.sealed, try sealing())
        let scratch = try Scratch()
        // SubjectPublicKeyInfo of a P-256 key: RFC 5480.
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
            0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        try scratch.write("key", prefix + made.publicPoint)
        try scratch.write("signature", der(signature))
        try scratch.write("message", [1, 2, 3])
        try scratch.write("altered", [1, 2, 4])
        func verify(_ message: String) throws -> Bool {
            try Program(
                Command([
                    "openssl", "dgst", "-sha256", "-verify", scratch.at("key"), "-keyform", "DER",
                    "-signature", scratch.at("signature"), scratch.at(message),
                ])
            ).expectEnd().succeeded
        }
        #expect(try verify("message"))
        #expect(try !verify("altered"))
    }

    @Test("a key opens for no other account, uid, credential, use, party, generation or fingers")
    func otherContext() throws {
        let made = try fixture.vault.create(try sealing())
        for other in try otherContexts() {
            #expect(throws: VaultError.doesNotOpen) {
                try fixture.vault.sign(made.sealed, other)
            }
        }
        // What counts is the context after the match, not the one that it was got ready with.
        let key = try fixture.vault.ready(key: made.sealed, context: try sealing(uid: 0))
        _ = try key.sign([1], try sealing())
        let late = try fixture.vault.ready(key: made.sealed, context: try sealing())
        #expect(throws: VaultError.doesNotOpen) { try late.sign([1], try sealing(generation: 8)) }
        _ = try late.sign([1], try sealing())
    }

    @Test("data open for what they were sealed to, byte for byte, and for nothing else")
    func data() throws {
        for plain in [[0], [UInt8](repeating: 0, count: 128), Array(1...100)] {
            let sealed = try fixture.vault.seal(
                try secret(plain), context: try sealing(use: .secret(name: [7])))
            #expect(try fixture.vault.open(sealed, try sealing(use: .secret(name: [7]))) == plain)
            #expect(sealed.count <= VaultLimit.sealed)
        }
        let sealed = try fixture.vault.seal(try secret([1, 2]), context: try sealing())
        for other in try otherContexts() {
            #expect(throws: VaultError.doesNotOpen) { try fixture.vault.open(sealed, other) }
        }
        for count in [0, 129] {
            #expect(throws: VaultError.malformed) {
                try fixture.vault.seal(
                    try SecretBytes(count: count) { _ in }, context: try sealing())
            }
        }
    }

    @Test("with another host secret nothing opens")
    func otherHost() throws {
        let made = try fixture.vault.create(try sealing())
        let data = try fixture.vault.seal(try secret([1]), context: try sealing())
        let other = try TPMVault(host: machine(), tcti: fixture.tpm.tcti, pin: fixture.pin)
        #expect(throws: VaultError.doesNotOpen) { try other.sign(made.sealed, try sealing()) }
        #expect(throws: VaultError.doesNotOpen) { try other.open(data, try sealing()) }
    }

    @Test("a key sealed to other fingers stays the key, opens for them and not by the old bytes")
    func resealed() throws {
        let before = try sealing(relyingParty: "ssh:")
        let made = try fixture.vault.create(before)
        let later = try sealing(relyingParty: "ssh:", generation: 8, prints: [print(1)])
        let change = try PlayedChange.of(1000)
        let again = try fixture.vault.reseal(key: made.sealed, from: before, to: later, for: change)
        let signature = try fixture.vault.sign(again, later)
        #expect(
            try P256PublicKey(point: made.publicPoint).verifies(signature, message: [1, 2, 3]))
        #expect(throws: VaultError.doesNotOpen) { try fixture.vault.sign(again, before) }
        #expect(throws: VaultError.doesNotOpen) { try fixture.vault.sign(made.sealed, later) }
        let last = try sealing(relyingParty: "ssh:", generation: 9)
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.vault.reseal(key: made.sealed, from: later, to: last, for: change)
        }
        #expect(throws: VaultError.malformed) {
            try fixture.vault.reseal(key: [1], from: later, to: last, for: change)
        }
        #expect(try fixture.leftovers().isEmpty)
    }

    @Test("it reports the TPM's maker, what opens a key, and which root key it has")
    func describes() throws {
        let before = try fixture.vault.describe()
        #expect(before.kind == .tpm)
        #expect(before.maker.hasPrefix("IBM SW"))
        #expect(before.registers == [] && before.root == [])
        _ = try fixture.vault.create(try sealing())
        let after = try fixture.vault.describe()
        #expect(after.root == (try fixture.pin.load()))
        #expect(after.root == (try fixture.tpm.readPublic(0x8100_0001).name))
        let bound = try fixture.another(pcrs: [7, 4]).describe()
        #expect(bound.registers == [4, 7])
        #expect(bound.policy.hasPrefix("PCR 4, PCR 7, "))
    }

    @Test("a transport that is not allowed, or PCRs that cannot be, make no vault")
    func settings() throws {
        for name in ["cmd:tpm2_send", "/tmp/evil.so", "", "none"] {
            #expect(throws: TPMSettingFault.self) {
                try TPMVault(host: fixture.host, tcti: name, pin: fixture.pin)
            }
        }
        for pcrs in [[24], [-1], [7, 7]] {
            #expect(throws: TPMSettingFault.self) {
                try TPMVault(host: fixture.host, pcrs: pcrs, pin: fixture.pin)
            }
        }
    }
}
