// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import JSONFormat
import LoginProtocol
import ServerAPI
import SignedFormats

// How signetd's requests become bodies of the server's API, and answers become frames. An answer
// must have all members that the API defines; others are ignored.

extension ChallengeRequest {
    /// Returns nil if a name is not one that the API accepts, or the action is unknown.
    init?(_ request: RelayChallengeRequest) {
        guard let application = Name(request.application.bytes),
            let account = Name(request.account.bytes),
            let action = ChallengeAction(
                rawValue: String(decoding: request.action, as: UTF8.self))
        else { return nil }
        self.init(
            application: application, account: account, device: request.device, action: action)
    }
}

extension SignedChallengeRequest {
    /// Returns nil if the account's name is not one that the API accepts.
    init?(_ login: RelayLogin) {
        var module: ModuleRequest?
        if let asked = login.module {
            guard let account = Name(asked.account.bytes) else { return nil }
            module = ModuleRequest(challenge: asked.challenge, account: account)
        }
        self.init(
            statement: Binary(login.statement), signature: Binary(login.signature),
            module: module)
    }
}

extension KeyAttestation {
    init(_ attestation: RelayKeyAttestation) {
        self.init(
            secret: Binary(attestation.secret), area: Binary(attestation.area),
            registers: Binary(attestation.registers),
            registerDigest: Binary(attestation.registerDigest),
            certification: TPMStatement(attestation.certification),
            quote: attestation.quote.map { TPMStatement($0.signed) },
            log: attestation.quote.map { Binary($0.log) })
    }
}

extension TPMStatement {
    fileprivate init(_ signed: RelayTPMStatement) {
        self.init(statement: Binary(signed.statement), signature: Binary(signed.signature))
    }
}

extension NewPasswordKey {
    init(_ key: RelayPasswordKey) {
        self.init(publicKey: Binary(key.publicKey.bytes), signature: Binary(key.signature))
    }
}

extension Name {
    /// Returns nil unless the bytes are UTF-8 and a name that the API accepts.
    fileprivate init?(_ bytes: Bytes) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(text)
    }
}

extension ProblemDocument {
    /// The code; for a policy with what of it is not fulfilled, as `ServerProblem` has it.
    var preciseCode: String {
        guard code == ServerProblem.policy.rawValue, let requirement,
            let known = PolicyRequirement(rawValue: requirement)
        else { return code }
        return "\(code)-\(known.rawValue)"
    }

    /// Whether the code has the form that the API defines, since it is displayed.
    var isWellFormed: Bool {
        (1...Limit.code).contains(code.utf8.count)
            && code.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension RelayAnswer {
    static func registered(from body: Bytes) -> RelayAnswer? {
        guard let begun = value(BegunRegistration.self, of: body),
            let expires = UInt64(exactly: begun.expires)
        else { return nil }
        return .registered(
            RelayRegistration(
                registration: begun.registration, account: ServerAccountName(begun.account),
                application: ApplicationName(begun.application),
                audience: Audience(begun.audience), challenge: begun.challenge,
                expires: expires, acceptsPassword: begun.factors?.contains(.password) == true))
    }

    static func proven(from body: Bytes) -> RelayAnswer? {
        guard let state = value(RegistrationState.self, of: body) else { return nil }
        let fingerprint = Bytes((state.fingerprint ?? "").utf8)
        return switch state.status {
        case .active: .proven(.active, fingerprint: fingerprint)
        case .pendingCommit: .proven(.pendingCommit, fingerprint: fingerprint)
        case .created, .blocked, .removed: nil
        }
    }

    static func requirements(from body: Bytes) -> RelayAnswer? {
        guard let required = value(RegistrationRequirements.self, of: body) else { return nil }
        var requirements: RelayRequirements = []
        if required.attestation { requirements.insert(.checksAttestations) }
        requirements.formUnion(
            RelayRequirements(
                keys: required.keys, secureBoot: required.secureBoot, factors: required.factors))
        return .requirements(requirements)
    }

    static func attestation(from body: Bytes) -> RelayAnswer? {
        guard let made = value(AttestationChallenge.self, of: body) else { return nil }
        return .attestation(
            RelayAttestationChallenge(
                credential: made.credential.bytes, seed: made.seed.bytes))
    }

    static func challenge(from body: Bytes) -> RelayAnswer? {
        guard let given = value(ChallengeAnswer.self, of: body),
            let expires = UInt64(exactly: given.expires)
        else { return nil }
        let required = given.policy.map {
            RelayRequirements(keys: $0.keys, secureBoot: $0.secureBoot, factors: $0.factors)
        }
        return .challenge(
            given.challenge, audience: Audience(given.audience), expires: expires,
            requires: required ?? [])
    }

    static func loggedIn(from body: Bytes) -> RelayAnswer? {
        // A refusal counts even if the rest of the answer is malformed: it ends what rests on an
        // earlier acceptance.
        if value(LoginVerdict.self, of: body)?.valid == false {
            return .refused(code: Bytes("refused".utf8), status: 200, attempts: nil)
        }
        guard let login = value(AcceptedLogin.self, of: body), login.valid,
            let seconds = UInt32(exactly: login.tokens.expiresIn)
        else { return nil }
        var tokens = RelayTokens(
            accessToken: Bytes(login.tokens.accessToken.utf8), seconds: seconds,
            refreshToken: Bytes(login.tokens.refreshToken.utf8))
        tokens.verdict = login.verdict.map {
            RelayVerdict(statement: $0.statement.bytes, signature: $0.signature.bytes)
        }
        return .loggedIn(tokens)
    }
}

extension RelayRequirements {
    fileprivate init(keys: KeyRequirement, secureBoot: BootRequirement, factors: [KeyFactor]?) {
        self = []
        switch keys {
        case .any: break
        case .tpm: insert(.tpmKey)
        case .attested: formUnion([.tpmKey, .attestedKey])
        }
        switch secureBoot {
        case .any: break
        case .on: insert(.secureBoot)
        case .attested: formUnion([.secureBoot, .attestedBoot])
        }
        guard let factors else { return }
        if !factors.contains(.fingerprint) { insert(.noTouch) }
        if !factors.contains(.password) { insert(.noPassword) }
    }
}

func json(_ value: some Encodable) -> Bytes? {
    try? JSON(encoding: value).encoded()
}

/// Decodes JSON; nil if it is not a value of this type.
func value<Value: Decodable>(_ type: Value.Type, of json: Bytes) -> Value? {
    try? JSON(parsing: json).decoded(as: type)
}
