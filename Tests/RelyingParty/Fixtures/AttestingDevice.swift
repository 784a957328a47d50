// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import SQLSupport
import ServerAPI
import SignedFormats
import TPMStructures
import TestSupport

@testable import RelyingParty
@testable import TPM

/// A device whose key is in a real TPM, which an authority has certified.
///
/// Each step can be changed by a test, and repeated.
final class AttestingDevice {
    /// The authority of all tests' TPMs, and one that they do not trust.
    static let authority = Result { try TPMAuthority() }
    static let stranger = Result { try TPMAuthority() }

    let device: TestDevice
    let tpm: SoftwareTPM
    /// What firmware has measured before the device was started.
    let firmware: FirmwareLog
    private(set) var connection: TPMConnection
    private(set) var root: StorageRoot
    var attestationKey: ObjectParts
    var loginKey: ObjectParts
    private let value: SecretBytes
    let policy: ObjectPolicy

    init(
        of authority: Result<TPMAuthority, any Error> = AttestingDevice.authority,
        id: UInt8 = 0xd1, firmware: FirmwareLog = .secure
    ) throws {
        device = try TestDevice(id: id)
        tpm = try SoftwareTPM(certifiedBy: try authority.get())
        self.firmware = firmware
        try tpm.boot(with: firmware)
        connection = try TPMConnection(try TCTIName.parse(tpm.tcti))
        root = try connection.root(expecting: nil)
        guard let policy = ObjectPolicy(registers: .none, registerDigest: []) else {
            throw Unexpected("no policy")
        }
        self.policy = policy
        value = try SecretBytes.random(32)
        loginKey = try connection.createSigner(policy: policy, authorisation: value, root: root)
        attestationKey = try TPMAttester(connection).createAttestationKey(root: root)
    }

    /// The certificate of its endorsement key, in DER.
    var certificate: [UInt8] {
        get throws {
            guard let found = try TPMAttester(connection).endorsementCertificate() else {
                throw Unexpected("the TPM has no certificate")
            }
            return found.der
        }
    }

    /// The public point of its login key.
    var point: [UInt8] {
        get throws {
            guard let point = loginKey.area.signerPoint(policy: try policy.digest()) else {
                throw Unexpected("no login key")
            }
            return point
        }
    }

    /// A new login key, as for another server.
    func renewKey() throws {
        loginKey = try connection.createSigner(policy: policy, authorisation: value, root: root)
    }

    /// A login key that is like a vault's, but that the TPM would hand over to another one.
    func makeDuplicable() throws {
        var template = PublicArea.signer(policy: try policy.digest()).bytes
        // Without fixedTPM and fixedParent.
        template[7] &= ~0x12
        loginKey = try connection.create(
            PublicArea(bytes: template), data: nil, authorisation: value, root: root)
    }

    /// A power cycle, after which firmware measures the same again.
    func reboot() throws {
        try tpm.restart()
        try tpm.boot(with: firmware)
        connection = try TPMConnection(try TCTIName.parse(tpm.tcti))
        root = try connection.root(expecting: nil)
    }

    /// The body that names its TPM.
    func request() throws -> [String: Any] {
        [
            "certificate": base64(try certificate), "key": base64(attestationKey.area.bytes),
        ]
    }

    /// The secret of an answer, as only this TPM can read it.
    func secret(of reply: Reply) throws -> [UInt8] {
        try TPMAttester(connection).activate(
            ProtectedCredential(
                blob: try reply.binary("credential"), seed: try reply.binary("seed")),
            for: attestationKey, endorsement: .rsa2048, root: root)
    }

    /// The statement of the new key.
    func statement(for challenge: Challenge, at now: Int64) -> [UInt8] {
        registration(for: challenge, at: now).encoded()
    }

    /// The same, before it is encoded; it names the key for the password, if there is one.
    func registration(for challenge: Challenge, at now: Int64) -> LoginStatement {
        var statement = device.answer(challenge, "register", at: now)
        statement.purpose = device.passwordKeyPurpose
        return statement
    }

    /// Its signature by the key in the TPM.
    func signature(
        of text: [UInt8], in namespace: SignatureNamespace = .registration
    ) throws -> [UInt8] {
        let data = SSHSignature.signedData(
            namespace: namespace.bytes, messageDigest: try SHA256.digest(text))
        let ready = try connection.ready(loginKey, policy: policy, root: root)
        let pair = try connection.sign(
            try SHA256.digest(data), with: ready, authorisation: value)
        guard let key = SSHPublicKey(point: try point) else { throw Unexpected("no key") }
        return SSHSignature(publicKey: key, namespace: namespace, r: pair.r, s: pair.s).blob
    }

    /// What the TPM says of its login key.
    func certification(of text: [UInt8]) throws -> [String: Any] {
        try body(
            TPMAttester(connection).certify(
                loginKey, authorisation: value, by: attestationKey,
                qualifier: try SHA256.digest(text), root: root))
    }

    /// What the TPM says of PCR 7.
    func quote(of text: [UInt8], registers: [Int] = [7]) throws -> [String: Any] {
        guard let selection = RegisterSelection(registers) else { throw Unexpected("no PCR") }
        return try body(
            TPMAttester(connection).quote(
                selection, by: attestationKey, qualifier: try SHA256.digest(text), root: root))
    }

    /// The member `attestation` of a proof.
    func attestation(secret: [UInt8], of text: [UInt8], quoted: Bool = true) throws
        -> [String: Any]
    {
        var body: [String: Any] = [
            "secret": base64(secret), "area": base64(loginKey.area.bytes),
            "registers": base64(policy.registers.bitmap),
            "registerDigest": base64(policy.registerDigest),
            "certification": try certification(of: text),
        ]
        if quoted {
            guard let log = SecureBootLog(firmware: firmware.bytes) else {
                throw Unexpected("no log")
            }
            body["quote"] = try quote(of: text)
            body["log"] = base64(log.encoded)
        }
        return body
    }

    /// The body of a proof.
    func proof(of text: [UInt8], attestation: [String: Any]?) throws -> [String: Any] {
        var body: [String: Any] = [
            "publicKey": base64(try point), "statement": base64(text),
            "signature": base64(try signature(of: text)),
        ]
        body["attestation"] = attestation
        return body
    }

    private func body(_ signed: SignedStatement) -> [String: Any] {
        ["statement": base64(signed.statement), "signature": base64(signed.signature)]
    }
}

extension CalledServer {
    /// Begins a registration and its attestation; returns the challenge and the TPM's secret.
    func begin(_ device: AttestingDevice) async throws -> (challenge: Challenge, secret: [UInt8]) {
        let begun = try await begin(device.device)
        let named = try await nameTPM(of: device)
        return (try begun.binary("challenge"), try device.secret(of: named))
    }

    /// Names the device's TPM.
    func nameTPM(of device: AttestingDevice) async throws -> Reply {
        try await send(
            "POST", "/v1/registrations/\(device.device.registration)/attestation",
            try device.request())
    }

    /// Sends a proof.
    func prove(_ device: AttestingDevice, _ body: [String: Any]) async throws -> Reply {
        try await send(
            "POST", "/v1/registrations/\(device.device.registration)/proof", body)
    }

    /// Registers a device with all that its TPM can prove.
    func register(attested device: AttestingDevice, quoted: Bool = true) async throws -> Reply {
        let (challenge, secret) = try await begin(device)
        let statement = device.registration(for: challenge, at: time.now)
        let text = statement.encoded()
        let attestation = try device.attestation(secret: secret, of: text, quoted: quoted)
        var body = try device.proof(of: text, attestation: attestation)
        body["passwordKey"] = try device.device.proofOfPasswordKey(in: statement)
        return try await prove(device, body)
    }

    /// Logs in with the key in the TPM, or with the key for the password.
    func logIn(_ device: AttestingDevice) async throws -> Reply {
        guard device.device.factor == KeyFactor.fingerprint.rawValue else {
            return try await logIn(device.device)
        }
        let challenge: Challenge = try await challenge(device.device)
        let text = device.device.answer(challenge, "login", at: time.now).encoded()
        let signature = base64(try device.signature(of: text, in: .login))
        return try await send(
            "POST", "/v1/login", ["statement": base64(text), "signature": signature])
    }
}

extension TestServer {
    /// With the application `shop`, and the authority of the tests' TPMs.
    static func attesting(
        _ backend: Backend, policy: ApplicationPolicy = ApplicationPolicy()
    ) async throws -> TestServer {
        // Its certificate is made with the first TPM that it certifies.
        _ = try AttestingDevice.firstTPM.get()
        let authority = try AttestingDevice.authority.get()
        return try await make(
            backend, policy: policy,
            authorities: CertificateAuthorities(pem: try authority.certificate()))
    }
}

extension AttestingDevice {
    fileprivate static let firstTPM = Result {
        try SoftwareTPM(certifiedBy: try authority.get()).kill()
    }
}

extension Reply {
    /// The title of a problem document; nil for any other answer.
    var title: String? { members["title"] as? String }

    /// Whether an attestation was refused for this reason.
    func refuses(_ fault: AttestationFault) -> Bool {
        status == 403 && title == Problem.attestationRefused("\(fault)").title
    }
}
