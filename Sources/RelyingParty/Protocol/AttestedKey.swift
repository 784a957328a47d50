// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import ServerAPI
import TPMStructures

/// Why an attestation is not accepted.
enum AttestationFault: Error, Equatable {
    /// No attestation was begun for the registration, it has expired, or it was used.
    case notBegun
    /// The TPM has not read the secret that was made for it.
    case wrongSecret
    /// A part does not have the form that TPM 2.0 prescribes; the text names it.
    case malformed(String)
    /// The key is not one that a device's vault makes: its attributes, algorithm or policy differ.
    case otherKind
    /// The public area is not that of the key that is registered.
    case otherKey
    /// The TPM has certified another key; the text names the statement.
    case otherSubject(String)
    /// The statement was made for another registration; the text names it.
    case otherRegistration(String)
    /// The attestation key has not signed the statement; the text names it.
    case notSigned(String)
    /// The quote was made in another boot than the certification, or long after it.
    case otherBoot
    /// The log does not lead to the value that was quoted.
    case otherLog
    /// Cryptography failed on the server.
    case crypto(CryptoFault)
}

extension AttestationFault: CustomStringConvertible {
    /// A message of one line without a full stop.
    var description: String {
        switch self {
        case .notBegun: "it was not begun, or has expired"
        case .wrongSecret: "the TPM has not read the secret that was made for it"
        case .malformed(let part): "'\(part)' does not have the form of a TPM's"
        case .otherKind: "the key is not one that only this TPM can have"
        case .otherKey: "the area is not that of the registered key"
        case .otherSubject(let part): "'\(part)' is about something else"
        case .otherRegistration(let part): "'\(part)' was made for another registration"
        case .notSigned(let part): "'\(part)' is not signed by the attestation key"
        case .otherBoot: "the quote is not of the boot in which the key was certified"
        case .otherLog: "the log does not lead to the quoted value"
        case .crypto(let fault): fault.description
        }
    }
}

/// A key that a genuine TPM has proven to be its own, with what else it has proven.
///
/// Only `verify` creates one, after every check of docs/developer/SERVER-INTEGRATE.md.
struct AttestedKey: Sendable {
    /// What is proven; always the key.
    let properties: [AttestedProperty]
    /// What proves it, so that others can check it.
    let evidence: AttestationEvidence

    private init(properties: [AttestedProperty], evidence: AttestationEvidence) {
        self.properties = properties
        self.evidence = evidence
    }

    /// How long after the certification the quote may have been made, in milliseconds.
    private static let quoteLimit: UInt64 = 60_000

    /// Checks what a TPM has stated about a key.
    ///
    /// The caller has verified the key's signature over the statement, and the certificate when the
    /// attestation was begun.
    ///
    /// - Parameters:
    ///   - attestation: what the device sent.
    ///   - begun: the TPM that it has named before.
    ///   - proof: the registered key, and the statement that it has signed.
    static func verify(
        _ attestation: KeyAttestation, begun: AttestationRecord, proof: RegistrationProof,
        at now: Int64
    ) throws(AttestationFault) -> AttestedKey {
        let secretHash = try crypto { () throws(CryptoFault) in
            try SHA256.digest(attestation.secret.bytes)
        }
        guard constantTimeEqual(secretHash, begun.secretHash) else { throw .wrongSecret }
        let qualifier = try crypto { () throws(CryptoFault) in
            try SHA256.digest(proof.statement.bytes)
        }
        let signer = try StatementSigner(area: begun.keyArea, qualifier: qualifier)
        let certified = try signer.verify(attestation.certification, part: "certification")
        let area = try signerArea(attestation, of: proof.publicKey.bytes)
        let name = try crypto { () throws(CryptoFault) in try area.name() }
        guard certified.subject == .object(name: name) else {
            throw .otherSubject("certification")
        }
        var properties = [AttestedProperty.key]
        if try isSecureBoot(attestation, signer: signer, certified: certified.clock) {
            properties.append(.secureBoot)
        }
        return AttestedKey(
            properties: properties,
            evidence: AttestationEvidence(attestation, begun: begun, proof: proof, at: now))
    }

    /// The public area of the key: exactly one that a device's vault makes, and of the point that
    /// is registered.
    private static func signerArea(
        _ attestation: KeyAttestation, of point: [UInt8]
    ) throws(AttestationFault) -> PublicArea {
        guard attestation.area.bytes.count <= PublicArea.limit else { throw .malformed("area") }
        guard let registers = RegisterSelection(bitmap: attestation.registers.bytes),
            let policy = ObjectPolicy(
                registers: registers, registerDigest: attestation.registerDigest.bytes)
        else { throw .malformed("registers") }
        let area = PublicArea(bytes: attestation.area.bytes)
        let digest = try crypto { () throws(CryptoFault) in try policy.digest() }
        guard let found = area.signerPoint(policy: digest) else { throw .otherKind }
        guard found == point else { throw .otherKey }
        return area
    }

    /// Whether a quote proves Secure Boot; false if there is none, or if the log says otherwise.
    ///
    /// A quote that does not hold is refused, whatever it would prove.
    private static func isSecureBoot(
        _ attestation: KeyAttestation, signer: StatementSigner,
        certified: AttestationStatement.Clock
    ) throws(AttestationFault) -> Bool {
        guard let quote = attestation.quote, let bytes = attestation.log?.bytes else {
            guard attestation.quote == nil, attestation.log == nil else {
                throw .malformed(attestation.quote == nil ? "quote" : "log")
            }
            return false
        }
        let quoted = try signer.verify(quote, part: "quote")
        guard let log = SecureBootLog(bytes) else { throw .malformed("log") }
        guard certified.precedes(quoted.clock, within: quoteLimit) else { throw .otherBoot }
        guard case .registers(let selection, let digest) = quoted.subject,
            selection.numbers == [SecureBootLog.register]
        else { throw .otherSubject("quote") }
        let (replayed, isOn) = try crypto { () throws(CryptoFault) in
            (try SHA256.digest(try log.replayed()), try log.saysSecureBoot())
        }
        guard replayed == digest else { throw .otherLog }
        return isOn
    }
}

/// The attestation key of a TPM, which signs statements about one registration.
private struct StatementSigner {
    let key: P256PublicKey
    /// What each statement must have as its qualifying data.
    let qualifier: [UInt8]

    init(area: [UInt8], qualifier: [UInt8]) throws(AttestationFault) {
        guard let point = PublicArea(bytes: area).attestationPoint else {
            throw .malformed("key")
        }
        key = try crypto { () throws(CryptoFault) in try P256PublicKey(point: point) }
        self.qualifier = qualifier
    }

    /// Reads a statement of the TPM, after the signature over all of its bytes.
    func verify(
        _ signed: TPMStatement, part: String
    ) throws(AttestationFault) -> AttestationStatement {
        guard signed.statement.bytes.count <= AttestationStatement.limit,
            let signature = P256Signature(tpm: signed.signature.bytes)
        else { throw .malformed(part) }
        let isSigned = try crypto { () throws(CryptoFault) in
            try key.verifies(signature, message: signed.statement.bytes)
        }
        guard isSigned else { throw .notSigned(part) }
        guard let statement = AttestationStatement(signed.statement.bytes) else {
            throw .malformed(part)
        }
        guard constantTimeEqual(statement.qualifier, qualifier) else {
            throw .otherRegistration(part)
        }
        return statement
    }
}

private func crypto<Result>(
    _ body: () throws(CryptoFault) -> Result
) throws(AttestationFault) -> Result {
    do throws(CryptoFault) {
        return try body()
    } catch { throw .crypto(error) }
}
