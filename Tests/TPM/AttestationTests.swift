// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import TPM
import TPMStructures
import TestSupport
import Testing

@Suite("what a TPM proves about itself")
struct AttestationTests {
    let authority: TPMAuthority
    let tpm: SoftwareTPM
    let connection: TPMConnection
    let root: StorageRoot
    let policy: ObjectPolicy
    let value = Array(UInt8(1)...32)
    let qualifier = [UInt8](repeating: 7, count: 32)

    init() throws {
        authority = try TPMAuthority()
        tpm = try SoftwareTPM(certifiedBy: authority)
        connection = try TPMConnection(try TCTIName.parse(tpm.tcti))
        root = try connection.root(expecting: nil)
        policy = try #require(ObjectPolicy(registers: .none, registerDigest: []))
    }

    @Test("a secret made for the endorsement key and one attestation key opens with both alone")
    func activation() throws {
        let certificate = try endorsement()
        let key = try TPMAttester(connection).createAttestationKey(root: root)
        let secret = [UInt8](repeating: 9, count: 32)
        let credential = try ProtectedCredential.protect(
            secret, name: try key.area.name(), endorsement: certificate)
        #expect(try activate(credential, for: key) == secret)

        // Another attestation key, of the same TPM.
        let other = try TPMAttester(connection).createAttestationKey(root: root)
        #expect(throws: TPMFault.self) { try activate(credential, for: other) }
        // Altered at either part.
        for part in 0...1 {
            var blob = credential.blob
            var seed = credential.seed
            if part == 0 { blob[40] ^= 1 } else { seed[40] ^= 1 }
            #expect(throws: TPMFault.self) {
                try activate(ProtectedCredential(blob: blob, seed: seed), for: key)
            }
        }
        // Another TPM of the same maker.
        let neighbour = try SoftwareTPM(certifiedBy: authority)
        let line = try TPMConnection(try TCTIName.parse(neighbour.tcti))
        let theirs = try #require(try TPMAttester(line).endorsementCertificate())
        let foreign = try ProtectedCredential.protect(
            secret, name: try key.area.name(), endorsement: Certificate(der: theirs.der))
        #expect(throws: TPMFault.self) { try activate(foreign, for: key) }
    }

    @Test("an endorsement key on P-256 serves where only that one is certified")
    func elliptic() throws {
        let other = try SoftwareTPM()
        try authority.certifyP256(other)
        let line = try TPMConnection(try TCTIName.parse(other.tcti))
        let base = try line.root(expecting: nil)
        let found = try #require(try TPMAttester(line).endorsementCertificate())
        #expect(found.template == .p256)
        let certificate = try Certificate(der: found.der)
        let key = try TPMAttester(line).createAttestationKey(root: base)
        let secret = [UInt8](repeating: 9, count: 32)
        var credential = try ProtectedCredential.protect(
            secret, name: try key.area.name(), endorsement: certificate)
        func opened() throws -> [UInt8] {
            try TPMAttester(line).activate(credential, for: key, endorsement: .p256, root: base)
        }
        #expect(try opened() == secret)
        // Made again from the seed, where it is not persistent.
        let handle = EndorsementTemplate.p256.persistentHandle
        try other.run(
            TPMCommand(
                .evictControl, [TPMHandle.owner, handle], passwords: [[]],
                parameters: [UInt8](bigEndian: handle)))
        #expect(try opened() == secret)
        credential = ProtectedCredential(
            blob: credential.blob, seed: Array(credential.seed.dropLast()) + [0])
        #expect(throws: TPMFault.self) { try opened() }
    }

    @Test("a key that is not persistent is made again from the TPM's seed")
    func withoutPersistentKey() throws {
        try tpm.run(
            TPMCommand(
                .evictControl, [TPMHandle.owner, EndorsementTemplate.rsa2048.persistentHandle],
                passwords: [[]],
                parameters: [UInt8](bigEndian: EndorsementTemplate.rsa2048.persistentHandle)))
        let key = try TPMAttester(connection).createAttestationKey(root: root)
        let credential = try ProtectedCredential.protect(
            [1, 2, 3], name: try key.area.name(), endorsement: try endorsement())
        #expect(try activate(credential, for: key) == [1, 2, 3])
        #expect(try tpm.transientHandles.isEmpty)
    }

    @Test("a TPM that nobody has certified has no certificate")
    func uncertified() throws {
        let plain = try SoftwareTPM()
        let line = try TPMConnection(try TCTIName.parse(plain.tcti))
        #expect(try TPMAttester(line).endorsementCertificate() == nil)
    }

    @Test("the TPM certifies a key by its Name, for whoever knows its authorisation value")
    func certification() throws {
        let key = try TPMAttester(connection).createAttestationKey(root: root)
        let login = try connection.createSigner(
            policy: policy, authorisation: try secret(value), root: root)
        let signed = try TPMAttester(connection).certify(
            login, authorisation: try secret(value), by: key, qualifier: qualifier, root: root)
        let statement = try #require(AttestationStatement(signed.statement))
        #expect(statement.subject == .object(name: try login.area.name()))
        #expect(statement.qualifier == qualifier)
        #expect(try isSigned(signed, by: key))
        #expect(throws: TPMFault.self) {
            try TPMAttester(connection).certify(
                login, authorisation: try secret([3]), by: key, qualifier: qualifier, root: root)
        }
        #expect(try tpm.transientHandles.isEmpty)
    }

    @Test("a quote has the values of the registers, and the boot of a certification before it")
    func quote() throws {
        let key = try TPMAttester(connection).createAttestationKey(root: root)
        let login = try connection.createSigner(
            policy: policy, authorisation: try secret(value), root: root)
        let certified = try TPMAttester(connection).certify(
            login, authorisation: try secret(value), by: key, qualifier: qualifier, root: root)
        let registers = try #require(RegisterSelection([SecureBootLog.register]))
        let first = try TPMAttester(connection).quote(
            registers, by: key, qualifier: qualifier, root: root)
        let before = try #require(AttestationStatement(certified.statement))
        let quoted = try #require(AttestationStatement(first.statement))
        #expect(
            quoted.subject
                == .registers(registers, digest: try SHA256.digest(try tpm.read(pcr: 7))))
        #expect(try isSigned(first, by: key))
        #expect(before.clock.precedes(quoted.clock, within: 60_000))
        #expect(!quoted.clock.precedes(before.clock, within: 60_000))

        try tpm.restart()
        let line = try TPMConnection(try TCTIName.parse(tpm.tcti))
        let again = try line.root(expecting: nil)
        let later = try TPMAttester(line).quote(
            registers, by: key, qualifier: qualifier, root: again)
        let afterwards = try #require(AttestationStatement(later.statement))
        #expect(!before.clock.precedes(afterwards.clock, within: .max))
    }

    @Test("what is not whole is not read")
    func truncated() throws {
        let key = try TPMAttester(connection).createAttestationKey(root: root)
        let registers = try #require(RegisterSelection([7]))
        let signed = try TPMAttester(connection).quote(
            registers, by: key, qualifier: qualifier, root: root)
        for count in 0..<signed.statement.count {
            #expect(AttestationStatement(Array(signed.statement.prefix(count))) == nil)
        }
        for count in 0..<signed.signature.count {
            #expect(P256Signature(tpm: Array(signed.signature.prefix(count))) == nil)
        }
        #expect(AttestationStatement(signed.statement + [0]) == nil)
        #expect(P256Signature(tpm: signed.signature + [0]) == nil)
        #expect(PublicArea(bytes: key.area.bytes + [0]).attestationPoint == nil)
        for count in 0..<key.area.bytes.count {
            let part = PublicArea(bytes: Array(key.area.bytes.prefix(count)))
            #expect(part.attestationPoint == nil)
        }
    }

    private func endorsement() throws -> Certificate {
        let found = try #require(try TPMAttester(connection).endorsementCertificate())
        #expect(found.template == .rsa2048)
        let certificate = try Certificate(der: found.der)
        let authorities = try CertificateAuthorities(pem: try authority.certificate())
        #expect(
            try authorities.objection(
                to: certificate, at: Clock.system.wallSeconds(), use: "2.23.133.8.1") == nil)
        return certificate
    }

    private func activate(
        _ credential: ProtectedCredential, for key: ObjectParts
    ) throws -> [UInt8] {
        try TPMAttester(connection).activate(
            credential, for: key, endorsement: .rsa2048, root: root)
    }

    private func isSigned(_ signed: SignedStatement, by key: ObjectParts) throws -> Bool {
        let point = try #require(key.area.attestationPoint)
        let signature = try #require(P256Signature(tpm: signed.signature))
        return try P256PublicKey(point: point).verifies(signature, message: signed.statement)
    }

    private func secret(_ bytes: [UInt8]) throws -> SecretBytes {
        try unsafe SecretBytes(copying: bytes.span.bytes)
    }
}
