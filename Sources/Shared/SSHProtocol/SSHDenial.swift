// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Why a request about ssh keys is denied; the raw value is on the wire.
///
/// `DenialReason` of CommandProtocol has these reasons and all others, with the same raw values.
/// The comment of a case names the fields of `DenialOf` that are set with it.
package enum SSHDenialReason: UInt8, CaseIterable, Sendable {
    /// The key handle is not one of Signet, or was altered.
    case handleMalformed = 110
    /// The key handle is from another machine.
    case otherMachine = 111
    /// The key handle is from another account of this machine.
    case otherAccount = 112
    /// There is no such key: it was removed. `subject`: its name, if a name was asked for.
    case unknownKey = 113
    /// The fingers have changed since the key was made, which destroyed it. `subject`: its name.
    case keyInvalidated = 114
    /// The account has a key with this name. `subject`: the name.
    case nameTaken = 115
    /// The account has the maximum number of ssh keys.
    case tooManyKeys = 116
    /// What is to be signed is neither an ssh login nor an ssh signature of a file.
    case dataRefused = 117
    /// What is to be signed is an ssh login with another key.
    case otherKey = 118
    /// The application is not one of ssh, or not the key's.
    case applicationRefused = 119
}

/// A denial of a request about ssh keys, whatever the reason.
///
/// The provider shows reasons of its own and those of a login; a number it does not know is a
/// refusal like any other.
package struct AnyReason: RawRepresentable, Equatable, Sendable {
    /// The reason on the wire.
    package let rawValue: UInt8

    /// Wraps any number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The answers that the provider reads.
package enum SSHAnswer: Equatable, Sendable {
    case notice(Notice)
    case denial(DenialOf<AnyReason>)
    case made(SSHKeyContent)
    case key(SSHKeyContent)
    case count(UInt32)
    case signature(SSHSignatureAnswer)

    /// Decodes a frame; throws unless it is exactly one well-formed answer of these kinds.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        switch SSHAnswerKind(rawValue: frame.kind) {
        case .made: self = .made(try SSHKeyContent(from: &frame))
        case .key: self = .key(try SSHKeyContent(from: &frame))
        case .count: self = .count(try SSHKeyCountAnswer(from: &frame).count)
        case .signature: self = .signature(try SSHSignatureAnswer(from: &frame))
        case nil:
            if frame.kind == LoginAnswerKind.denial.rawValue {
                self = .denial(try DenialOf<AnyReason>(from: &frame))
            } else if case .notice(let notice)? = try LoginAnswer(from: &frame) {
                self = .notice(notice)
            } else {
                throw .unknownKind
            }
        }
        try frame.end()
    }
}
