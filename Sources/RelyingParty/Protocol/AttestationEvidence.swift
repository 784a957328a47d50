// SPDX-License-Identifier: Apache-2.0
import Crypto
import JSONFormat
import ServerAPI
import TPMStructures

/// What proves an attested key, as it is stored and given out: all that the server has checked,
/// except for the secret, which proves itself only to its maker.
///
/// docs/admin/SERVER-OPERATE.md says how to check it with openssl and tpm2-tools.
struct AttestationEvidence: Codable, Sendable {
    /// When the server checked it, in seconds since 1970.
    let checked: Int64
    /// The certificate of the TPM's endorsement key, in DER.
    let certificate: Binary
    /// The public area of the attestation key: a TPMT_PUBLIC.
    let attestationKey: Binary
    /// The statement that the registered key has signed; its SHA-256 is the qualifying data.
    let statement: Binary
    /// Its signature, an SSHSIG blob.
    let signature: Binary
    /// What the TPM has stated about the key.
    let attestation: Part

    /// The parts of a `KeyAttestation` that can be checked by others.
    struct Part: Codable, Sendable {
        let area: Binary
        let registers: Binary
        let registerDigest: Binary
        let certification: TPMStatement
        let quote: TPMStatement?
        let log: Binary?
    }

    init(
        _ attestation: KeyAttestation, begun: AttestationRecord, proof: RegistrationProof,
        at now: Int64
    ) {
        checked = now
        certificate = Binary(begun.certificate)
        attestationKey = Binary(begun.keyArea)
        statement = proof.statement
        signature = proof.signature
        self.attestation = Part(
            area: attestation.area, registers: attestation.registers,
            registerDigest: attestation.registerDigest, certification: attestation.certification,
            quote: attestation.quote, log: attestation.log)
    }

    /// Reads evidence as it was stored; throws `.malformed` if it has another form.
    init(stored text: String) throws(Problem) {
        self = try JSON.decode(AttestationEvidence.self, from: [UInt8](text.utf8))
    }

    /// The evidence as JSON.
    var text: String { String(decoding: JSON.encode(self), as: UTF8.self) }

    /// The files that stock tools read, by name.
    ///
    /// - Throws: `.badCertificate` or `.length` if the evidence does not have the form in which the
    ///   server has stored it.
    func files() throws(CryptoFault) -> [(name: String, bytes: [UInt8])] {
        var files: [(name: String, bytes: [UInt8])] = [
            ("ek.der", certificate.bytes),
            ("ak.pem", try pem(PublicArea(bytes: attestationKey.bytes).attestationPoint)),
            ("ak.pub", try tpm2b(attestationKey.bytes)),
            ("key.pub", try tpm2b(attestation.area.bytes)),
            ("statement.txt", statement.bytes),
            ("statement.sig", signature.bytes),
        ]
        files += try self.files(of: attestation.certification, named: "certification")
        if let quote = attestation.quote, let log = attestation.log {
            files += try self.files(of: quote, named: "quote")
            files.append(("quote.log", log.bytes))
        }
        return files
    }

    /// The statement, its signature as the TPM has made it, and as openssl(1) reads it.
    private func files(
        of signed: TPMStatement, named name: String
    ) throws(CryptoFault) -> [(name: String, bytes: [UInt8])] {
        guard let signature = P256Signature(tpm: signed.signature.bytes) else { throw .length }
        return [
            ("\(name).attest", signed.statement.bytes), ("\(name).tss", signed.signature.bytes),
            ("\(name).sig", signature.der),
        ]
    }

    private func tpm2b(_ bytes: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard let whole = sized(bytes) else { throw .length }
        return whole
    }

    private func pem(_ point: [UInt8]?) throws(CryptoFault) -> [UInt8] {
        guard let point else { throw .badPublicKey }
        return try P256PublicKey(point: point).pem
    }
}
