// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Sealing
import TestSupport
import Testing

@Suite("what the TPM vault keeps on disk")
struct TPMSealedTests {
    /// Magic, version, kind; then the root key's Name and the PCRs.
    private static let root = 8..<42
    private static let registers = 42..<45

    let fixture: TPMFixture

    init() throws { fixture = try TPMFixture() }

    @Test("cut or extended bytes are refused at every length, before the TPM sees them")
    func truncated() throws {
        let sealed = try fixture.vault.create(try sealing()).sealed
        let data = try fixture.vault.seal(try secret([1]), context: try sealing())
        let before = fixture.vault.commands
        for count in 0..<sealed.count { refused(Array(sealed[..<count]), .malformed) }
        for count in 0..<data.count {
            #expect(throws: VaultError.malformed) {
                try fixture.vault.open(Array(data[..<count]), try sealing())
            }
        }
        refused(sealed + [0], .malformed)
        refused(sealed + [UInt8](repeating: 0, count: VaultLimit.sealed), .malformed)
        #expect(fixture.vault.commands == before)
    }

    @Test("one altered bit is refused wherever it is")
    func altered() throws {
        let sealed = try fixture.vault.create(try sealing()).sealed
        let publicPart = 47..<(45 + 2 + 120)
        for index in sealed.indices {
            // The private part goes to the TPM: some of its bytes stand for all.
            if index > publicPart.upperBound + 2, index % 9 != 0 { continue }
            for bit in [0, 7] {
                var copy = sealed
                copy[index] ^= 1 << bit
                let error = #expect(throws: VaultError.self) {
                    try fixture.vault.sign(copy, try sealing())
                }
                #expect([.malformed, .doesNotOpen].contains(error), "byte \(index)")
                if index < 8 { #expect(error == .malformed) }
                if Self.root.contains(index) { #expect(error == .doesNotOpen) }
                if Self.registers.contains(index) { #expect(error == .malformed) }
                if publicPart.contains(index) { #expect(error == .doesNotOpen, "byte \(index)") }
            }
        }
        #expect(try fixture.leftovers().isEmpty)
        _ = try fixture.vault.sign(sealed, try sealing())
    }

    @Test("a weaker public area reaches no TPM")
    func weaker() throws {
        let sealed = try fixture.vault.create(try sealing()).sealed
        let before = fixture.vault.commands
        // Attributes: userWithAuth set, noDA and fixedTPM cleared, decrypt set; hash, scheme, curve.
        for (index, bit) in [
            (54, 6), (53, 2), (54, 1), (52, 1), (50, 2), (93, 0), (95, 2), (97, 1),
        ] {
            var copy = sealed
            copy[index] ^= 1 << bit
            refused(copy, .doesNotOpen)
        }
        #expect(fixture.vault.commands == before)
    }

    @Test("another key's public or private part does not fit")
    func swapped() throws {
        let one = try fixture.vault.create(try sealing()).sealed
        let two = try fixture.vault.create(try sealing()).sealed
        let middle = 45 + 2 + 120
        #expect(one.count == two.count)
        refused(Array(one[..<middle] + two[middle...]), .doesNotOpen)
        refused(Array(two[..<middle] + one[middle...]), .doesNotOpen)
    }

    @Test("data do not open as a key, nor a key as data, nor what another vault made")
    func kinds() throws {
        let key = try fixture.vault.create(try sealing()).sealed
        let data = try fixture.vault.seal(try secret([1]), context: try sealing())
        let file = FileVault(host: fixture.host)
        let filed = try file.create(try sealing()).sealed
        refused(data, .malformed)
        refused(filed, .malformed)
        #expect(throws: VaultError.malformed) { try fixture.vault.open(key, try sealing()) }
        #expect(throws: VaultError.malformed) { try file.ready(key: key, context: try sealing()) }
        #expect(throws: VaultError.malformed) { try file.ready(data: data, context: try sealing()) }
        for kind in [UInt8](0...8) where kind != 2 {
            refused(Array(key[..<7]) + [kind] + key[8...], .malformed)
        }
        // As if data had been renamed to a key, and the other way round.
        refused(Array(data[..<7]) + [2] + data[8...], .doesNotOpen)
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.vault.open(Array(key[..<7]) + [4] + key[8...], try sealing())
        }
    }

    @Test("another TPM's key does not open, also not with this one's Name written over its own")
    func otherMachine() throws {
        let other = try TPMFixture()
        let foreign = try other.vault.create(try sealing()).sealed
        let own = try fixture.vault.create(try sealing()).sealed
        let vault = try TPMVault(host: other.host, tcti: fixture.tpm.tcti, pin: fixture.pin)
        #expect(throws: VaultError.doesNotOpen) { try vault.sign(foreign, try sealing()) }
        let renamed = Array(foreign[..<8] + own[Self.root] + foreign[42...])
        #expect(throws: VaultError.doesNotOpen) { try vault.sign(renamed, try sealing()) }
    }

    @Test("random bytes behind a good header never trap")
    func random() throws {
        for count in [0, 1, 36, 100, 300, 1016] {
            for content in [TPMSealed.Content.key, .data] {
                for _ in 0..<50 {
                    let bytes =
                        Array("signet".utf8) + [1, content.rawValue] + (try randomBytes(count))
                    #expect(throws: VaultError.self) { try TPMSealed(bytes, as: content) }
                }
            }
        }
    }

    private func refused(_ sealed: [UInt8], _ expected: VaultError) {
        #expect(throws: expected) { try fixture.vault.sign(sealed, try sealing()) }
    }
}
