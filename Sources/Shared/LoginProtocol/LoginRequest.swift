// SPDX-License-Identifier: Apache-2.0
import Domain

/// Encodes the frames that the PAM module sends; `Request` of CommandProtocol has these requests and
/// all others.
///
/// Every function throws a `WireFault` for a value that the daemon would reject as malformed.
package enum LoginRequest {
    /// Asks for a touch that signs a challenge.
    package static func authenticate(_ request: AuthenticateRequest) throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: LoginVerb.authenticate.rawValue)
        try request.put(into: &frame)
        return frame.bytes
    }

    /// Asks whether the touch that signed this challenge is still valid.
    package static func confirm(account: AccountName, challenge: Challenge) throws(WireFault)
        -> Bytes
    {
        var frame = FrameWriter(kind: LoginVerb.confirm.rawValue)
        try frame.put(account: account, challenge: challenge)
        return frame.bytes
    }

    /// Reports that a notice has been shown.
    package static func shown() -> Bytes { FrameWriter(kind: LoginVerb.shown.rawValue).bytes }

    /// Reports that a password was accepted in a login.
    package static func passwordAccepted(
        account: AccountName, service: ServiceName
    ) throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: LoginVerb.passwordAccepted.rawValue)
        try frame.put(account: account, service: service)
        return frame.bytes
    }

    /// Asks whether enrolment should be offered after a login with the password.
    package static func offer(_ request: OfferRequest) throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: LoginVerb.offer.rawValue)
        try request.put(into: &frame)
        return frame.bytes
    }

    /// Reports an account's new password. The caller must wipe the returned frame.
    package static func passwordChanged(
        account: AccountName, service: ServiceName, password: Span<UInt8>
    ) throws(WireFault) -> Bytes {
        // Reserve the full length, so that no reallocation leaves a copy of the password behind.
        let room =
            Frame.headerLength + 3 * Frame.fieldHeaderLength + account.bytes.count
            + service.bytes.count
            + password.count
        var frame = FrameWriter(kind: LoginVerb.passwordChanged.rawValue, capacity: room)
        try frame.put(account: account, service: service)
        try frame.put(.password, password)
        return frame.bytes
    }
}

extension AccountName {
    /// Whether it has no control characters, `/` or `:`, which never occur in names of passwd(5).
    package var isPlausible: Bool {
        for byte in bytes where byte < 0x20 || byte == 0x7F || byte == 0x2F || byte == 0x3A {
            return false
        }
        return true
    }
}

extension FrameWriter {
    /// Appends an account's name; throws for a name that the reader would reject.
    package mutating func put(accountName name: AccountName) throws(WireFault) {
        guard name.isPlausible else { throw .malformedValue }
        try put(.account, name: name)
    }

    /// Appends the fields of `confirm`.
    package mutating func put(account: AccountName, challenge: Challenge) throws(WireFault) {
        try put(accountName: account)
        try put(.challenge, challenge)
    }

    /// Appends the fields that reports about a login begin with.
    @inline(never)
    package mutating func put(account: AccountName, service: ServiceName) throws(WireFault) {
        try put(accountName: account)
        try put(.service, name: service)
    }
}
