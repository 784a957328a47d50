// SPDX-License-Identifier: Apache-2.0
import Domain

/// The daemon's answers to `authenticate` and `confirm`; `Answer` has these and all others.
package enum LoginAnswer: Equatable, Sendable {
    case notice(Notice)
    case assertion(Assertion)
    case denial(LoginDenial)
    /// The touch is still valid. With the login password, if it was requested and released.
    case confirmed(password: Bytes?)

    /// Decodes a frame; throws unless it is exactly one well-formed answer of these kinds.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let answer = try LoginAnswer(from: &frame) else { throw .unknownKind }
        self = answer
        try frame.end()
    }

    /// Reads the fields of an answer of these kinds; nil for any other kind, with nothing consumed.
    package init?(from frame: inout FrameReader) throws(WireFault) {
        switch LoginAnswerKind(rawValue: frame.kind) {
        case .notice: self = .notice(try Notice(from: &frame))
        case .assertion: self = .assertion(try Assertion(toLogin: &frame))
        case .denial: self = .denial(try LoginDenial(from: &frame))
        case .confirmed: self = .confirmed(password: try frame.bytesIfPresent(.password))
        case nil: return nil
        }
    }
}

extension Assertion {
    /// Reads a signed statement.
    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(statement: try frame.bytes(.statement), signature: try frame.bytes(.signature))
    }

    /// Reads a signed statement that answers a login; only this one may carry a server's proof.
    fileprivate init(toLogin frame: inout FrameReader) throws(WireFault) {
        try self.init(from: &frame)
        server = try ServerProof.read(from: &frame)
    }
}

extension ServerProof {
    /// Reads the server's verdict and token; nil if there are none.
    fileprivate static func read(
        from frame: inout FrameReader
    ) throws(WireFault) -> ServerProof? {
        let token = try frame.bytesIfPresent(.accessToken)
        guard let verdict = try frame.bytesIfPresent(.verdict) else {
            // A token without a verdict is rejected.
            guard token == nil else { throw .unexpectedField }
            return nil
        }
        let signature = try frame.bytes(.verdictSignature)
        return ServerProof(
            verdict: verdict, signature: signature, accessToken: token,
            hasTokenFile: try frame.yes(.tokenFile))
    }
}

extension Notice {
    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        let requester: AccountName? = try frame.nameIfPresent(.requester)
        let subject = try frame.bytesIfPresent(.subject)
        self.init(try frame.choice(.notice))
        self.requester = requester
        self.subject = subject
        scan = try frame.choiceIfPresent(.scan)
        done = try frame.numberIfPresent(.done)
        total = try frame.numberIfPresent(.total)
        retry = try frame.choiceIfPresent(.retry)
        triesLeft = try frame.numberIfPresent(.triesLeft)
        wantsAcknowledgement = try frame.yes(.acknowledge)
    }
}

extension DenialOf where Reason: RawRepresentable<UInt8> {
    /// Reads a denial; throws for an unknown reason.
    package init(from frame: inout FrameReader) throws(WireFault) {
        let finger: Finger? = try frame.choiceIfPresent(.finger)
        self.init(try frame.choice(.reason))
        self.finger = finger
        cause = try frame.choiceIfPresent(.cause)
        seconds = try frame.numberIfPresent(.seconds)
        since = try frame.numberIfPresent(.since)
        subject = try frame.bytesIfPresent(.subject)
        mismatches = try frame.number(.done)
    }
}

extension FrameReader {
    /// Whether a flag is set. A set flag is the value 1; an unset flag is an absent field.
    package mutating func yes(_ field: Field) throws(WireFault) -> Bool {
        guard let number = try numberIfPresent(field, as: UInt8.self) else { return false }
        guard number == 1 else { throw .malformedValue }
        return true
    }

    /// Reads a one-byte field whose value must be one of an enumeration's.
    package mutating func choice<Choice: RawRepresentable>(
        _ field: Field, as type: Choice.Type = Choice.self
    ) throws(WireFault) -> Choice where Choice.RawValue == UInt8 {
        guard let choice = try choiceIfPresent(field, as: type) else { throw .unexpectedField }
        return choice
    }

    /// Reads such a field if it is present; nil otherwise.
    package mutating func choiceIfPresent<Choice: RawRepresentable>(
        _ field: Field, as type: Choice.Type = Choice.self
    ) throws(WireFault) -> Choice? where Choice.RawValue == UInt8 {
        guard let raw = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard let choice = Choice(rawValue: raw) else { throw .malformedValue }
        return choice
    }
}
