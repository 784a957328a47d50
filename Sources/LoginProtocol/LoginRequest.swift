// SPDX-License-Identifier: Apache-2.0
/// The frames that the PAM module sends; `Request` has these requests and all others.
package enum LoginRequest {
    /// Asks for a touch that signs a challenge.
    package static func authenticate(_ request: AuthenticateRequest) throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: Verb.authenticate.rawValue)
        try frame.put(accountName: request.account)
        try frame.put(.challenge, request.challenge)
        try frame.put(.service, request.service)
        try frame.put(.terminal, request.terminal)
        try frame.put(.remoteHost, request.remoteHost)
        try frame.put(.requester, request.requester)
        try frame.put(.purpose, request.purpose)
        try frame.put(.timeoutMilliseconds, number: request.timeoutMilliseconds)
        guard request.maximumTries > 0 else { throw .malformedValue }
        try frame.put(.maximumTries, number: request.maximumTries)
        // No is said by leaving it out, and in no other way.
        if request.wantsKeyring { try frame.put(.keyring, number: UInt8(1)) }
        try frame.put(.presence, number: request.presence.rawValue)
        try frame.put(.background, number: request.background.rawValue)
        // None is said by leaving it out, and in no other way.
        if !request.commandDigest.isEmpty {
            try frame.put(.commandDigest, request.commandDigest)
        }
        try frame.put(.agent, numberIfPresent: request.agent)
        try frame.put(.agentUser, numberIfPresent: request.agentUser)
        if let server = request.server {
            try frame.put(.server, server.url)
            try frame.put(.audience, server.audience)
            if server.offlineHours > 0 { try frame.put(.offlineHours, number: server.offlineHours) }
            try frame.put(.tokenDelivery, numberIfPresent: server.token?.rawValue)
            try frame.put(.verdictKey, server.key)
        }
        return frame.bytes
    }

    /// Asks whether the touch that signed this challenge is still valid.
    package static func confirm(account: Bytes, challenge: Bytes) throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: Verb.confirm.rawValue)
        try frame.put(accountName: account)
        try frame.put(.challenge, challenge)
        return frame.bytes
    }

    /// Tells that a notice has been shown.
    package static func shown() -> Bytes { FrameWriter(kind: Verb.shown.rawValue).bytes }

    /// Reports that a password was accepted in a login.
    package static func passwordAccepted(
        account: Bytes, service: Bytes
    ) throws(WireFault) -> Bytes {
        try login(.passwordAccepted, account, service).bytes
    }

    /// The beginning of a frame about a login that is over.
    @inline(never)
    private static func login(
        _ verb: Verb, _ account: Bytes, _ service: Bytes
    ) throws(WireFault) -> FrameWriter {
        var frame = FrameWriter(kind: verb.rawValue)
        try frame.put(accountName: account)
        try frame.put(.service, service)
        return frame
    }

    /// Asks for a word on enrolling, after a login with the password.
    package static func offer(_ request: OfferRequest) throws(WireFault) -> Bytes {
        var frame = try login(.offer, request.account, request.service)
        try frame.put(.presence, number: request.presence.rawValue)
        return frame.bytes
    }

    /// Reports that an account's password was changed, and to what; whoever sends it wipes it.
    package static func passwordChanged(
        account: Bytes, service: Bytes, password: Span<UInt8>
    ) throws(WireFault) -> Bytes {
        // Room for all of it, so that no piece with the password is left behind.
        let room =
            Frame.headerLength + 3 * Frame.fieldHeaderLength + account.count + service.count
            + password.count
        var frame = FrameWriter(kind: Verb.passwordChanged.rawValue, capacity: room)
        try frame.put(accountName: account)
        try frame.put(.service, service)
        try frame.put(.password, password)
        return frame.bytes
    }
}

extension Bytes {
    /// No control characters, no `/`, no `:`; these never occur in passwd(5).
    package var isAccountName: Bool {
        for byte in self where byte < 0x20 || byte == 0x7F || byte == 0x2F || byte == 0x3A {
            return false
        }
        return true
    }
}

extension FrameWriter {
    /// Appends an account's name; throws when the reader would refuse it.
    package mutating func put(accountName name: Bytes) throws(WireFault) {
        guard name.isAccountName else { throw .malformedValue }
        try put(.account, name)
    }
}
