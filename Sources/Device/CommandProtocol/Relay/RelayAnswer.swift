// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// The kinds of the relay's answers; the raw value is the kind of the frame.
package enum RelayAnswerKind: UInt8, CaseIterable, Sendable {
    /// A registration has begun, with the challenge for the new key.
    case registered = 192
    /// Possession of the key was proven; it is registered, or awaits an administrator's commit.
    case proven = 193
    /// A challenge.
    case challenge = 194
    /// The login was accepted.
    case loggedIn = 195
    /// The registration was removed, or the MAC token revoked.
    case removed = 196
    /// The server refused the request.
    case refused = 197
    /// The server could not be reached or sent no usable answer.
    case unreachable = 198
    /// A MAC token and its secret.
    case macToken = 199
    /// One operation of a list; `listed` ends the list.
    case awaited = 200
    /// The end of the list of operations.
    case listed = 201
    /// One operation, with everything that a decision must name.
    case operation = 202
    /// The state of an operation after a decision.
    case decided = 203
    /// What a registration requires.
    case requirements = 204
    /// A secret that the named TPM must read.
    case attestation = 205
    /// One session of a list; `sessionsListed` ends the list.
    case session = 206
    /// The end of the list of sessions.
    case sessionsListed = 207
    /// Sessions were ended.
    case sessionsEnded = 208
}

/// The state of a new registration; the raw value is on the wire.
package enum RegistrationProgress: UInt8, CaseIterable, Sendable {
    /// The key can be used for logins.
    case active = 1
    /// An administrator must still compare the key's fingerprint.
    case pendingCommit = 2
}

/// A registration that has begun, with the values that the new key's statement must name.
package struct RelayRegistration: FrameContent {
    /// The registration's id.
    package var registration: RegistrationID
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The application that the registration is for.
    package var application: ApplicationName
    /// The audience that statements must name.
    package var audience: Audience
    /// The server's challenge.
    package var challenge: Challenge
    /// When the challenge expires, in seconds since 1970.
    package var expires: UInt64
    /// Whether the server takes a key for the password, too.
    package var acceptsPassword: Bool = false  // .passwordAccepted
}

/// A server's verdict for a PAM module: its canonical text and its signature.
package struct RelayVerdict: FrameContent {
    /// The canonical text.
    package var statement: Bytes  // .verdict
    /// The signature of the text by the server, as an SSHSIG blob.
    package var signature: Bytes  // .verdictSignature
}

/// The tokens that a login at a server yields.
///
/// Both tokens must consist of visible ASCII characters; encoding and decoding throw otherwise.
package struct RelayTokens: FrameContent {
    /// The token that the caller presents to other services.
    package var accessToken: Bytes
    /// The lifetime of the access token in seconds.
    package var seconds: UInt32
    /// The token that renews the access token; empty for none.
    package var refreshToken: Bytes
    /// The verdict, if one was requested.
    package var verdict: RelayVerdict? = nil

    func check() throws(WireFault) {
        guard accessToken.isVisible, refreshToken.isVisible else { throw .malformedValue }
    }
}

/// One frame from the relay to signetd.
///
/// The relay holds no key: it can drop or alter an answer, but a signed text or verdict that it
/// alters does not verify.
package enum RelayAnswer: Equatable, Sendable {
    case registered(RelayRegistration)
    /// `fingerprint` is the key's fingerprint according to the server, as `ssh-keygen -l` shows it.
    case proven(RegistrationProgress, fingerprint: Bytes)
    /// `requires` is what the answer must fulfil, as far as the server says.
    case challenge(
        Challenge, audience: Audience, expires: UInt64, requires: RelayRequirements = [])
    case loggedIn(RelayTokens)
    case removed
    /// `code` is the code of the problem, see docs/developer/SERVER-INTEGRATE.md.
    ///
    /// `attempts` is the number of remaining attempts, if the server reported it.
    case refused(code: Bytes, status: UInt16, attempts: UInt32?)
    /// The server could not be reached, or sent no usable answer.
    ///
    /// `isRepeatable`: the server has done nothing yet, so the request may be repeated. `isAway`:
    /// no connection to the server was established.
    case unreachable(why: Bytes, isRepeatable: Bool, isAway: Bool = false)
    case macToken(RelayMACToken)
    case awaited(RelayAwaited)
    /// `count` is the number of operations that were listed before it.
    case listed(count: UInt32)
    case operation(RelayOperation)
    /// The state is `.pending` after the first of two factors.
    case decided(OperationState)
    case requirements(RelayRequirements)
    case attestation(RelayAttestationChallenge)
    case session(SessionContent)
    /// `count` is the number of sessions that were listed before it, `total` that of all.
    case sessionsListed(count: UInt32, total: UInt32)
    case sessionsEnded(count: UInt32)

    /// The kind of this answer's frame.
    package var kind: RelayAnswerKind {
        switch self {
        case .registered: .registered
        case .proven: .proven
        case .challenge: .challenge
        case .loggedIn: .loggedIn
        case .removed: .removed
        case .refused: .refused
        case .unreachable: .unreachable
        case .macToken: .macToken
        case .awaited: .awaited
        case .listed: .listed
        case .operation: .operation
        case .decided: .decided
        case .requirements: .requirements
        case .attestation: .attestation
        case .session: .session
        case .sessionsListed: .sessionsListed
        case .sessionsEnded: .sessionsEnded
        }
    }
}

extension RelayAnswer {
    /// Encodes the answer; throws if a value does not fit its field.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: kind.rawValue)
        switch self {
        case .registered(let begun): try begun.put(into: &frame)
        case .proven(let progress, let fingerprint):
            try frame.put(.fingerprint, fingerprint)
            try frame.put(.registrationState, number: progress.rawValue)
        case .challenge(let challenge, let audience, let expires, let requires):
            try frame.put(.challenge, challenge)
            try frame.put(.audience, name: audience)
            try frame.put(.expires, number: expires)
            if !requires.isEmpty { try frame.put(.requirements, number: requires.rawValue) }
        case .loggedIn(let tokens): try tokens.put(into: &frame)
        case .removed: break
        case .refused(let code, let status, let attempts):
            try frame.put(.code, code)
            try frame.put(.httpStatus, number: status)
            try frame.put(.attempts, numberIfPresent: attempts)
        case .unreachable(let why, let isRepeatable, let isAway):
            try frame.put(.isRepeatable, number: UInt8(isRepeatable ? 1 : 0))
            try frame.put(.why, why)
            // A flag that is not set is always an absent field.
            if isAway { try frame.put(.isAway, number: UInt8(1)) }
        case .macToken(let token): try token.put(into: &frame)
        case .awaited(let awaited): try awaited.put(into: &frame)
        case .listed(let count): try frame.put(.count, number: count)
        case .operation(let operation): try operation.put(into: &frame)
        case .decided(let state): try frame.put(.operationState, number: state.rawValue)
        case .requirements(let requirements):
            try frame.put(.requirements, number: requirements.rawValue)
        case .attestation(let challenge): try challenge.put(into: &frame)
        case .session(let session): try session.put(into: &frame)
        case .sessionsListed(let count, let total):
            try frame.put(.count, number: count)
            try frame.put(.sessionTotal, number: total)
        case .sessionsEnded(let count): try frame.put(.count, number: count)
        }
        return frame.bytes
    }

    /// Decodes a frame of the relay; throws unless it is exactly one well-formed answer.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let kind = RelayAnswerKind(rawValue: frame.kind) else { throw .unknownKind }
        switch kind {
        case .registered: self = .registered(try RelayRegistration(from: &frame))
        case .proven:
            let fingerprint = try frame.bytes(.fingerprint)
            self = .proven(try frame.choice(.registrationState), fingerprint: fingerprint)
        case .challenge:
            let challenge: Challenge = try frame.fixed(.challenge)
            let audience: Audience = try frame.name(.audience)
            let expires: UInt64 = try frame.number(.expires)
            let bits: UInt8? = try frame.numberIfPresent(.requirements)
            let requires = RelayRequirements(rawValue: bits ?? 0)
            guard bits != 0, requires.isSubset(of: .known) else { throw .malformedValue }
            self = .challenge(challenge, audience: audience, expires: expires, requires: requires)
        case .loggedIn: self = .loggedIn(try RelayTokens(from: &frame))
        case .removed: self = .removed
        case .refused:
            let code = try frame.bytes(.code)
            let status: UInt16 = try frame.number(.httpStatus)
            self = .refused(
                code: code, status: status, attempts: try frame.numberIfPresent(.attempts))
        case .unreachable:
            guard let isRepeatable = try frame.flagIfPresent(.isRepeatable) else {
                throw .unexpectedField
            }
            let why = try frame.bytes(.why)
            let isAway: UInt8? = try frame.numberIfPresent(.isAway)
            guard isAway == nil || isAway == 1 else { throw .malformedValue }
            self = .unreachable(why: why, isRepeatable: isRepeatable, isAway: isAway == 1)
        case .macToken: self = .macToken(try RelayMACToken(from: &frame))
        case .awaited: self = .awaited(try RelayAwaited(from: &frame))
        case .listed: self = .listed(count: try frame.number(.count))
        case .operation: self = .operation(try RelayOperation(from: &frame))
        case .decided: self = .decided(try frame.choice(.operationState))
        case .requirements:
            let requirements = RelayRequirements(rawValue: try frame.number(.requirements))
            guard requirements.isSubset(of: .known) else { throw .malformedValue }
            self = .requirements(requirements)
        case .attestation: self = .attestation(try RelayAttestationChallenge(from: &frame))
        case .session: self = .session(try SessionContent(from: &frame))
        case .sessionsListed:
            let count: UInt32 = try frame.number(.count)
            self = .sessionsListed(count: count, total: try frame.number(.sessionTotal))
        case .sessionsEnded: self = .sessionsEnded(count: try frame.number(.count))
        }
        try frame.end()
    }
}
