// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// What a server requires of a device that has an activation code, as far as its TPM is concerned.
package struct RelayRequirements: OptionSet, Sendable {
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The server checks what TPMs prove.
    package static let checksAttestations = RelayRequirements(rawValue: 1)
    /// The key's TPM must prove it.
    package static let attestedKey = RelayRequirements(rawValue: 2)
    /// The TPM must prove that the machine was booted with secure boot.
    package static let attestedBoot = RelayRequirements(rawValue: 4)

    /// The key must be in a TPM.
    package static let tpmKey = RelayRequirements(rawValue: 8)
    /// The machine must have been booted with Secure Boot.
    package static let secureBoot = RelayRequirements(rawValue: 16)
    /// No touch is accepted.
    package static let noTouch = RelayRequirements(rawValue: 32)
    /// No password is accepted.
    package static let noPassword = RelayRequirements(rawValue: 64)

    /// All bits that mean something.
    static let known: RelayRequirements = [
        .checksAttestations, .attestedKey, .attestedBoot, .tpmKey, .secureBoot, .noTouch,
        .noPassword,
    ]
}

/// The TPM of a device that has begun a registration.
package struct RelayAttestation: Equatable, Sendable {
    /// The server's URL.
    package var server: ServerURL
    /// The registration's id.
    package var registration: RegistrationID
    /// The certificate of the TPM's endorsement key, in DER.
    package var certificate: Bytes
    /// The public area of its attestation key.
    package var attestationKey: Bytes

    /// Creates a request.
    package init(
        server: ServerURL, registration: RegistrationID, certificate: Bytes, attestationKey: Bytes
    ) {
        self.server = server
        self.registration = registration
        self.certificate = certificate
        self.attestationKey = attestationKey
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.server, name: server)
        try frame.put(.registration, registration)
        try frame.put(.tpmParts, TPMParts.encode([certificate, attestationKey]))
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        server = try frame.name(.server)
        registration = try frame.fixed(.registration)
        let parts = try TPMParts.decode(try frame.bytes(.tpmParts), count: 2...2)
        (certificate, attestationKey) = (parts[0], parts[1])
    }
}

/// A secret that only the named TPM can read.
package struct RelayAttestationChallenge: Equatable, Sendable {
    /// The secret: a TPM2B_ID_OBJECT without its length.
    package var credential: Bytes
    /// Its seed: a TPM2B_ENCRYPTED_SECRET without its length.
    package var seed: Bytes

    /// Creates a secret from both parts.
    package init(credential: Bytes, seed: Bytes) {
        self.credential = credential
        self.seed = seed
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.tpmParts, TPMParts.encode([credential, seed]))
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        let parts = try TPMParts.decode(try frame.bytes(.tpmParts), count: 2...2)
        (credential, seed) = (parts[0], parts[1])
    }
}

/// A statement of the TPM with its signature, in the TPM's own forms.
package struct RelayTPMStatement: Equatable, Sendable {
    /// The TPMS_ATTEST.
    package var statement: Bytes
    /// The TPMT_SIGNATURE.
    package var signature: Bytes

    /// Creates a value from both parts.
    package init(statement: Bytes, signature: Bytes) {
        self.statement = statement
        self.signature = signature
    }
}

/// What the TPM states about a new key, as part of its proof.
package struct RelayKeyAttestation: FieldValue, Equatable, Sendable {
    /// What the TPM states about PCR 7, with the measurements that led to its value.
    package struct Quote: Equatable, Sendable {
        /// The statement.
        package var signed: RelayTPMStatement
        /// The measurements.
        package var log: Bytes

        /// Creates a value from both parts.
        package init(signed: RelayTPMStatement, log: Bytes) {
            self.signed = signed
            self.log = log
        }
    }

    /// The secret that the server has made for the TPM.
    package var secret: Bytes
    /// The public area of the key.
    package var area: Bytes
    /// The PCRs that the key is bound to, three bytes.
    package var registers: Bytes
    /// The SHA-256 of their values; empty if there are none.
    package var registerDigest: Bytes
    /// The certification of the key.
    package var certification: RelayTPMStatement
    /// The quote; nil if the machine has no log that explains the value.
    package var quote: Quote?

    /// Creates a value from its parts.
    package init(
        secret: Bytes, area: Bytes, registers: Bytes, registerDigest: Bytes,
        certification: RelayTPMStatement, quote: Quote?
    ) {
        self.secret = secret
        self.area = area
        self.registers = registers
        self.registerDigest = registerDigest
        self.certification = certification
        self.quote = quote
    }

    /// The parts on the wire; nothing, which no field takes, if one of them is too long.
    package var bytes: Bytes {
        var parts = [
            secret, area, registers, registerDigest, certification.statement,
            certification.signature,
        ]
        if let quote { parts += [quote.signed.statement, quote.signed.signature, quote.log] }
        return (try? TPMParts.encode(parts)) ?? []
    }

    package init?(bytes: Bytes) {
        guard let parts = try? TPMParts.decode(bytes, count: 6...9),
            parts.count == 6 || parts.count == 9
        else { return nil }
        self.init(
            secret: parts[0], area: parts[1], registers: parts[2], registerDigest: parts[3],
            certification: RelayTPMStatement(statement: parts[4], signature: parts[5]),
            quote: parts.count == 6
                ? nil
                : Quote(
                    signed: RelayTPMStatement(statement: parts[6], signature: parts[7]),
                    log: parts[8]))
    }
}

/// Several byte strings in one field, each after its length in two bytes.
private enum TPMParts {
    static func encode(_ parts: [Bytes]) throws(WireFault) -> Bytes {
        var bytes: Bytes = []
        for part in parts {
            guard let count = UInt16(exactly: part.count) else { throw .tooLong }
            bytes += [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + part
        }
        return bytes
    }

    static func decode(_ bytes: Bytes, count: ClosedRange<Int>) throws(WireFault) -> [Bytes] {
        var parts: [Bytes] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard parts.count < count.upperBound, rest.count >= 2 else { throw .malformedValue }
            let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count >= length else { throw .malformedValue }
            parts.append(Bytes(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard count.contains(parts.count) else { throw .malformedValue }
        return parts
    }
}
