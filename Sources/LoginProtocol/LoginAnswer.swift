// SPDX-License-Identifier: Apache-2.0
/// What may answer `authenticate` and `confirm`; `Answer` has these answers and all others.
package enum LoginAnswer: Equatable, Sendable {
    case notice(Notice)
    case assertion(Assertion)
    case denial(LoginDenial)
    /// The touch is still valid; with the login password, where it was wanted and is released.
    case confirmed(password: Bytes?)

    /// Reads a daemon's frame; throws on anything but exactly one well-formed answer of these.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let answer = try LoginAnswer(from: &frame) else { throw .unknownKind }
        self = answer
        try frame.end()
    }

    /// Reads the fields of one of these kinds; nil, with nothing read, for any other.
    package init?(from frame: inout FrameReader) throws(WireFault) {
        switch AnswerKind(rawValue: frame.kind) {
        case .notice: self = .notice(try Notice(from: &frame))
        case .assertion: self = .assertion(try Assertion(toLogin: &frame))
        case .denial: self = .denial(try LoginDenial(from: &frame))
        case .confirmed: self = .confirmed(password: try frame.bytesIfPresent(.password))
        default: return nil
        }
    }
}

extension Assertion {
    /// Reads a signed statement.
    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(statement: try frame.bytes(.statement), signature: try frame.bytes(.signature))
    }

    /// Reads a signed statement that answers a login: it alone may have more with it.
    fileprivate init(toLogin frame: inout FrameReader) throws(WireFault) {
        try self.init(from: &frame)
        server = try ServerProof.read(from: &frame)
    }
}

extension ServerProof {
    /// Reads what a server said; nil where nothing of it is there.
    fileprivate static func read(
        from frame: inout FrameReader
    ) throws(WireFault) -> ServerProof? {
        let token = try frame.bytesIfPresent(.accessToken)
        guard let verdict = try frame.bytesIfPresent(.verdict) else {
            // What comes with a verdict does not come without one.
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
        let requester = try frame.bytesIfPresent(.requester)
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
    /// Reads a no; throws on a reason that is none of this kind.
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
    /// Whether a field is there that says yes. No is said by leaving it out, and in no other way.
    package mutating func yes(_ field: Field) throws(WireFault) -> Bool {
        guard let number = try numberIfPresent(field, as: UInt8.self) else { return false }
        guard number == 1 else { throw .malformedValue }
        return true
    }

    /// A one-byte field that must be one of an enumeration's values.
    package mutating func choice<Choice: RawRepresentable>(
        _ field: Field, as type: Choice.Type = Choice.self
    ) throws(WireFault) -> Choice where Choice.RawValue == UInt8 {
        guard let choice = try choiceIfPresent(field, as: type) else { throw .unexpectedField }
        return choice
    }

    /// The same, if the field is there.
    package mutating func choiceIfPresent<Choice: RawRepresentable>(
        _ field: Field, as type: Choice.Type = Choice.self
    ) throws(WireFault) -> Choice? where Choice.RawValue == UInt8 {
        guard let raw = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard let choice = Choice(rawValue: raw) else { throw .malformedValue }
        return choice
    }
}
