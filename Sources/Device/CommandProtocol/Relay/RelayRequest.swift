// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// The requests of signetd to its relay; the raw value is the kind of the frame.
///
/// The raw values differ from those of `Verb`, so that a frame sent to the wrong socket is
/// rejected.
package enum RelayVerb: UInt8, CaseIterable, Sendable {
    /// Starts a registration with an activation code.
    case register = 64
    /// Proves the possession of a new key.
    case prove = 65
    /// Requests a challenge.
    case challenge = 66
    /// Answers a challenge with a signed statement.
    case login = 67
    /// Removes a registration, with a signed statement.
    case remove = 68
    /// Requests a MAC token, with a signed challenge.
    case macToken = 69
    /// Lists the operations that await the account on this device.
    case operations = 70
    /// Fetches one operation.
    case operation = 71
    /// Decides an operation, with a signed statement.
    case decide = 72
    /// Revokes a MAC token, with a header that the token itself authenticates.
    case endMACToken = 73
    /// Asks what a registration with an activation code requires; the code stays valid.
    case requirements = 74
    /// Names the TPM of a device that has begun a registration.
    case attest = 75
    /// Replaces the registration's key for the password, with a signed statement.
    case passwordKey = 80
    /// Lists the sessions of the account.
    case sessions = 82
    /// Ends one session of the account.
    case endSession = 83
    /// Ends all sessions of the account.
    case endSessions = 84
}

/// A new key for the password, with its signature over the statement that registers it.
package struct RelayPasswordKey: FrameContent {
    /// The new public key.
    package var publicKey: PublicKeyPoint  // .passwordKey
    /// The signature of the statement's text, as an SSHSIG blob.
    package var signature: Bytes  // .passwordSignature
}

/// The proof that this device possesses a new key.
package struct RelayProof: FrameContent {
    /// The server's URL.
    package var server: ServerURL
    /// The registration's id.
    package var registration: RegistrationID
    /// The new public key.
    package var publicKey: PublicKeyPoint
    /// The statement's canonical text.
    package var statement: Bytes
    /// The signature of the text, as an SSHSIG blob.
    package var signature: Bytes
    /// What the TPM states about the key; nil for a key that is not attested.
    package var attestation: RelayKeyAttestation? = nil  // .tpmParts
    /// The key for the password, which has signed the same text; nil for none.
    package var passwordKey: RelayPasswordKey? = nil
}

/// The request for a challenge.
package struct RelayChallengeRequest: FrameContent {
    /// The server's URL.
    package var server: ServerURL
    /// The account's name at the server.
    package var account: ServerAccountName
    /// This device's id.
    package var device: DeviceID
    /// The application that the challenge is for.
    package var application: ApplicationName
    /// The purpose of the challenge, see `LoginAction`.
    package var action: Bytes
    /// How long the server may take, in milliseconds; nil for the usual time.
    package var milliseconds: UInt32? = nil  // .timeoutMilliseconds
}

/// The values that a server's verdict for a PAM module must name.
package struct RelayModule: FrameContent {
    /// The module's own challenge.
    package var challenge: Challenge  // .moduleChallenge
    /// The account's name on this device.
    package var account: AccountName  // .localAccount
}

/// A statement that answers a server's challenge.
package struct RelayLogin: FrameContent {
    /// The server's URL.
    package var server: ServerURL
    /// The statement's canonical text.
    package var statement: Bytes
    /// The signature of the text, as an SSHSIG blob.
    package var signature: Bytes
    /// The values that the verdict must name; nil if none is requested.
    package var module: RelayModule? = nil
}

/// One frame from signetd to its relay; `RelayVerb` describes each kind.
package enum RelayRequest: Equatable, Sendable {
    /// `code` is the code as typed; `device` is this device's id, and `name` what it calls itself.
    case register(server: ServerURL, code: Bytes, device: DeviceID, name: DeviceName? = nil)
    case prove(RelayProof)
    case challenge(RelayChallengeRequest)
    case login(RelayLogin)
    case remove(server: ServerURL, registration: RegistrationID, statement: Bytes, signature: Bytes)
    case macToken(server: ServerURL, statement: Bytes, signature: Bytes)
    /// `authorization` is the header that signetd computed for exactly this HTTP request.
    case operations(server: ServerURL, authorization: Bytes)
    case operation(server: ServerURL, authorization: Bytes, operation: OperationID)
    case decide(RelayDecision)
    case endMACToken(server: ServerURL, authorization: Bytes, token: MACTokenID)
    /// `code` and `device` are those of a `register` that may follow.
    case requirements(server: ServerURL, code: Bytes, device: DeviceID)
    case attest(RelayAttestation)
    case passwordKey(
        server: ServerURL, registration: RegistrationID, statement: Bytes, signature: Bytes,
        key: RelayPasswordKey)
    case sessions(server: ServerURL, authorization: Bytes)
    case endSession(server: ServerURL, authorization: Bytes, session: SessionID)
    case endSessions(server: ServerURL, authorization: Bytes)

    /// The body that `endMACToken`, `endSession` and `endSessions` post; its header authenticates the digest of this body.
    package static var emptyBody: Bytes { Bytes("{}".utf8) }

    /// The kind of this request's frame.
    package var verb: RelayVerb {
        switch self {
        case .register: .register
        case .prove: .prove
        case .challenge: .challenge
        case .login: .login
        case .remove: .remove
        case .macToken: .macToken
        case .operations: .operations
        case .operation: .operation
        case .decide: .decide
        case .endMACToken: .endMACToken
        case .requirements: .requirements
        case .attest: .attest
        case .passwordKey: .passwordKey
        case .sessions: .sessions
        case .endSession: .endSession
        case .endSessions: .endSessions
        }
    }

    /// The URL of the server that receives the request.
    package var server: ServerURL {
        switch self {
        case .register(let server, _, _, _), .remove(let server, _, _, _),
            .requirements(let server, _, _):
            server
        case .attest(let attestation): attestation.server
        case .prove(let proof): proof.server
        case .challenge(let challenge): challenge.server
        case .login(let login): login.server
        case .macToken(let server, _, _), .operations(let server, _),
            .operation(let server, _, _), .endMACToken(let server, _, _),
            .passwordKey(let server, _, _, _, _), .sessions(let server, _),
            .endSession(let server, _, _), .endSessions(let server, _):
            server
        case .decide(let decision): decision.server
        }
    }
}

extension RelayRequest {
    /// Encodes the request; throws if a value does not fit its field.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: verb.rawValue)
        switch self {
        case .register(let server, let code, let device, let name):
            try frame.put(.device, device)
            try frame.put(.server, name: server)
            try frame.put(.code, code)
            try frame.put(.deviceName, ifPresent: name?.bytes)
        case .requirements(let server, let code, let device):
            try frame.put(.device, device)
            try frame.put(.server, name: server)
            try frame.put(.code, code)
        case .prove(let proof): try proof.put(into: &frame)
        case .challenge(let challenge): try challenge.put(into: &frame)
        case .login(let login): try login.put(into: &frame)
        case .remove(let server, let registration, let statement, let signature):
            try frame.put(.statement, statement)
            try frame.put(.signature, signature)
            try frame.put(.server, name: server)
            try frame.put(.registration, registration)
        case .macToken(let server, let statement, let signature):
            try frame.put(.statement, statement)
            try frame.put(.signature, signature)
            try frame.put(.server, name: server)
        case .operations(let server, let authorization),
            .sessions(let server, let authorization), .endSessions(let server, let authorization):
            try frame.put(.server, name: server)
            try frame.put(.authorization, authorization)
        case .operation(let server, let authorization, let operation):
            try frame.put(.server, name: server)
            try frame.put(.authorization, authorization)
            try frame.put(.operation, operation)
        case .decide(let decision): try decision.put(into: &frame)
        case .endMACToken(let server, let authorization, let token):
            try frame.put(.server, name: server)
            try frame.put(.token, token)
            try frame.put(.authorization, authorization)
        case .endSession(let server, let authorization, let session):
            try frame.put(.server, name: server)
            try frame.put(.authorization, authorization)
            try frame.put(.session, session)
        case .attest(let attestation): try attestation.put(into: &frame)
        case .passwordKey(let server, let registration, let statement, let signature, let key):
            try frame.put(.statement, statement)
            try frame.put(.signature, signature)
            try frame.put(.server, name: server)
            try frame.put(.registration, registration)
            try key.put(into: &frame)
        }
        return frame.bytes
    }

    /// Decodes a frame of signetd; throws unless it is exactly one well-formed request.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let verb = RelayVerb(rawValue: frame.kind) else { throw .unknownKind }
        switch verb {
        case .register:
            let device: DeviceID = try frame.fixed(.device)
            self = .register(
                server: try frame.name(.server), code: try frame.bytes(.code), device: device,
                name: try frame.valueIfPresent(.deviceName))
        case .prove: self = .prove(try RelayProof(from: &frame))
        case .challenge: self = .challenge(try RelayChallengeRequest(from: &frame))
        case .login: self = .login(try RelayLogin(from: &frame))
        case .remove:
            let statement = try frame.bytes(.statement)
            let signature = try frame.bytes(.signature)
            self = .remove(
                server: try frame.name(.server), registration: try frame.fixed(.registration),
                statement: statement, signature: signature)
        case .macToken:
            let statement = try frame.bytes(.statement)
            let signature = try frame.bytes(.signature)
            self = .macToken(
                server: try frame.name(.server), statement: statement, signature: signature)
        case .operations:
            let server: ServerURL = try frame.name(.server)
            self = .operations(server: server, authorization: try frame.bytes(.authorization))
        case .operation:
            let server: ServerURL = try frame.name(.server)
            let authorization = try frame.bytes(.authorization)
            self = .operation(
                server: server, authorization: authorization,
                operation: try frame.fixed(.operation))
        case .decide: self = .decide(try RelayDecision(from: &frame))
        case .passwordKey:
            let statement = try frame.bytes(.statement)
            let signature = try frame.bytes(.signature)
            self = .passwordKey(
                server: try frame.name(.server), registration: try frame.fixed(.registration),
                statement: statement, signature: signature,
                key: try RelayPasswordKey(from: &frame))
        case .endMACToken:
            let server: ServerURL = try frame.name(.server)
            let token: MACTokenID = try frame.fixed(.token)
            self = .endMACToken(
                server: server, authorization: try frame.bytes(.authorization), token: token)
        case .requirements:
            let device: DeviceID = try frame.fixed(.device)
            self = .requirements(
                server: try frame.name(.server), code: try frame.bytes(.code), device: device)
        case .attest: self = .attest(try RelayAttestation(from: &frame))
        case .sessions:
            let server: ServerURL = try frame.name(.server)
            self = .sessions(server: server, authorization: try frame.bytes(.authorization))
        case .endSession:
            let server: ServerURL = try frame.name(.server)
            let authorization = try frame.bytes(.authorization)
            self = .endSession(
                server: server, authorization: authorization, session: try frame.fixed(.session))
        case .endSessions:
            let server: ServerURL = try frame.name(.server)
            self = .endSessions(server: server, authorization: try frame.bytes(.authorization))
        }
        try frame.end()
    }
}
