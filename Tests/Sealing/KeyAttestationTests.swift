// SPDX-License-Identifier: Apache-2.0
import Crypto
import Sealing
import TPMStructures
import TestSupport
import Testing

@Suite("keys of the TPM vault that their TPM proves")
struct KeyAttestationTests {
    private let authority: TPMAuthority
    private let secret = [UInt8](repeating: 9, count: 32)
    private let qualifier = [UInt8](repeating: 7, count: 32)

    init() throws { authority = try TPMAuthority() }

    @Test("are proven with what they are bound to, and leave nothing in the TPM")
    func proven() throws {
        for pcrs in [[], [0, 7]] {
            let fixture = try TPMFixture(pcrs: pcrs, certifiedBy: authority)
            try fixture.tpm.boot(with: .secure)
            let made = try fixture.vault.create(try sealing())
            let offer = try #require(try fixture.vault.attestationOffer())
            let answer = try fixture.vault.attest(
                key: made.sealed, context: try sealing(), offer: offer, order: order(offer))
            #expect(answer.secret == secret)
            #expect(RegisterSelection(bitmap: answer.registers)?.numbers == pcrs)
            let statement = try #require(AttestationStatement(answer.certification.statement))
            let area = PublicArea(bytes: answer.area)
            #expect(statement.subject == .object(name: try area.name()))
            #expect(statement.qualifier == qualifier)
            let quote = try #require(answer.quote)
            #expect(SecureBootLog(quote.log) == SecureBootLog(firmware: FirmwareLog.secure.bytes))
            fixture.vault.rest()
            #expect(try fixture.leftovers().isEmpty)
        }
    }

    @Test("are proven for the context that they are sealed to, and for no other")
    func otherContext() throws {
        let fixture = try TPMFixture(certifiedBy: authority)
        let made = try fixture.vault.create(try sealing())
        let offer = try #require(try fixture.vault.attestationOffer())
        let order = try order(offer)
        for context in try otherContexts() {
            #expect(throws: VaultError.doesNotOpen) {
                try fixture.vault.attest(
                    key: made.sealed, context: context, offer: offer, order: order)
            }
        }
        // Without a log, or with one of another start, the key alone is proven.
        for log in [nil, FirmwareLog.secure.bytes, [1, 2, 3]] {
            let answer = try fixture.vault.attest(
                key: made.sealed, context: try sealing(), offer: offer,
                order: try self.order(offer, log: log))
            #expect(answer.quote == nil)
        }
    }

    @Test("are not proven by an offer of another TPM, nor with a secret for another")
    func otherTPM() throws {
        let fixture = try TPMFixture(certifiedBy: authority)
        let made = try fixture.vault.create(try sealing())
        let other = try TPMFixture(certifiedBy: authority)
        _ = try other.vault.create(try sealing())
        let offer = try #require(try fixture.vault.attestationOffer())
        let foreign = try #require(try other.vault.attestationOffer())
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.vault.attest(
                key: made.sealed, context: try sealing(), offer: foreign,
                order: try order(foreign))
        }
        #expect(throws: VaultError.self) {
            try fixture.vault.attest(
                key: made.sealed, context: try sealing(), offer: offer, order: try order(foreign))
        }
        // A TPM that nobody has certified offers nothing.
        let plain = try TPMFixture()
        let none = try plain.vault.attestationOffer()
        plain.vault.rest()
        #expect(try none == nil && plain.leftovers().isEmpty)
    }

    /// What a server would send for an offer.
    private func order(
        _ offer: AttestationOffer, log: [UInt8]? = FirmwareLog.secure.bytes
    ) throws -> AttestationOrder {
        let credential = try ProtectedCredential.protect(
            secret, name: try PublicArea(bytes: offer.attestationKey).name(),
            endorsement: try Certificate(der: offer.certificate))
        return AttestationOrder(
            credential: credential.blob, seed: credential.seed, qualifier: qualifier,
            firmwareLog: log)
    }
}
