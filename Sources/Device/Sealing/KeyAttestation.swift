// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPM
import TPMStructures

/// What a TPM offers to a server that wants proof of it.
package struct AttestationOffer: Sendable {
    /// The certificate of its endorsement key, in DER.
    package let certificate: [UInt8]
    /// The public area of an attestation key, which was made for this offer.
    package var attestationKey: [UInt8] { key.area.bytes }

    let template: EndorsementTemplate
    let key: ObjectParts
    /// The Name of the root key that the attestation key was made under.
    let root: [UInt8]
}

/// What a TPM has proven of a key, for the server that has asked.
package struct AttestationAnswer: Sendable {
    /// A statement of the TPM, with its signature.
    package struct Signed: Sendable {
        /// The TPMS_ATTEST.
        package let statement: [UInt8]
        /// The TPMT_SIGNATURE.
        package let signature: [UInt8]

        init(_ signed: SignedStatement) {
            statement = signed.statement
            signature = signed.signature
        }
    }

    /// The secret that the server has made for this TPM.
    package let secret: [UInt8]
    /// The public area of the key.
    package let area: [UInt8]
    /// The PCRs that the key is bound to, three bytes.
    package let registers: [UInt8]
    /// The SHA-256 of their values; empty if there are none.
    package let registerDigest: [UInt8]
    /// The certification of the key.
    package let certification: Signed
    /// The quote of PCR 7 with the log that explains it; nil if there is no such log.
    package let quote: (signed: Signed, log: [UInt8])?
}

/// What a server requires a TPM to prove, and the secret that it issued for the proof.
package struct AttestationOrder: Sendable {
    /// The server's secret: a TPM2B_ID_OBJECT without its length.
    package let credential: [UInt8]
    /// Its seed: a TPM2B_ENCRYPTED_SECRET without its length.
    package let seed: [UInt8]
    /// What the statements must be bound to, 32 bytes.
    package let qualifier: [UInt8]
    /// The firmware's event log; nil if the machine has none.
    package let firmwareLog: [UInt8]?

    /// Creates an order from its parts.
    package init(
        credential: [UInt8], seed: [UInt8], qualifier: [UInt8], firmwareLog: [UInt8]?
    ) {
        self.credential = credential
        self.seed = seed
        self.qualifier = qualifier
        self.firmwareLog = firmwareLog
    }
}

extension TPMVault {
    package func attestationOffer() throws(VaultError) -> AttestationOffer? {
        try attempt(.pinned) { (connection, root) throws(TPMFault) in
            guard let found = try TPMAttester(connection).endorsementCertificate() else {
                return nil
            }
            return AttestationOffer(
                certificate: found.der, template: found.template,
                key: try TPMAttester(connection).createAttestationKey(root: root), root: root.name)
        }
    }

    package func attest(
        key sealed: [UInt8], context: SealingContext, offer: AttestationOffer,
        order: AttestationOrder
    ) throws(VaultError) -> AttestationAnswer {
        let login = try TPMSealed(sealed, as: .key)
        let authorisation = try authorisation(context)
        let log = order.firmwareLog.flatMap(SecureBootLog.init(firmware:))
        guard login.root == offer.root else { throw .doesNotOpen }
        return try attempt(.named(offer.root)) { (connection, root) throws(TPMFault) in
            let secret = try TPMAttester(connection).activate(
                ProtectedCredential(blob: order.credential, seed: order.seed), for: offer.key,
                endorsement: offer.template, root: root)
            let certified = try TPMAttester(connection).certify(
                login.parts, authorisation: authorisation, by: offer.key,
                qualifier: order.qualifier, root: root)
            let quote = try log.flatMap { log throws(TPMFault) in
                try explainedQuote(
                    log, by: offer, qualifier: order.qualifier, over: connection, root: root)
            }
            return AttestationAnswer(
                secret: secret, area: login.parts.area.bytes,
                registers: login.policy.registers.bitmap,
                registerDigest: login.policy.registerDigest,
                certification: AttestationAnswer.Signed(certified), quote: quote)
        }
    }
}

/// A quote of PCR 7; nil if the log does not lead to its value, which would explain nothing.
private func explainedQuote(
    _ log: SecureBootLog, by offer: AttestationOffer, qualifier: [UInt8],
    over connection: TPMConnection, root: StorageRoot
) throws(TPMFault) -> (signed: AttestationAnswer.Signed, log: [UInt8])? {
    guard let registers = RegisterSelection([SecureBootLog.register]) else { return nil }
    let signed = try TPMAttester(connection).quote(
        registers, by: offer.key, qualifier: qualifier, root: root)
    let expected: [UInt8]
    do throws(CryptoFault) {
        expected = try SHA256.digest(try log.replayed())
    } catch { throw .crypto(error) }
    guard
        AttestationStatement(signed.statement)?.subject
            == .registers(registers, digest: expected)
    else { return nil }
    return (AttestationAnswer.Signed(signed), log.encoded)
}
