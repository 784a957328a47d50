// SPDX-License-Identifier: Apache-2.0
/// Encodes the frames that the PAM module sends; `Request` has these requests and all others.
///
/// Every function throws a `WireFault` for a value that the daemon would reject as malformed.
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
        // An unset flag is always an absent field.
        if request.wantsKeyring { try frame.put(.keyring, number: UInt8(1)) }
        try frame.put(.presence, number: request.presence.rawValue)
        try frame.put(.background, number: request.background.rawValue)
        // An empty digest is always an absent field.
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

    /// Reports that a notice has been shown.
    package static func shown() -> Bytes { FrameWriter(kind: Verb.shown.rawValue).bytes }

    /// Reports that a password was accepted in a login.
    package static func passwordAccepted(
        account: Bytes, service: Bytes
    ) throws(WireFault) -> Bytes {
        try login(.passwordAccepted, account, service).bytes
    }

    /// Starts a frame about a login that has ended.
    @inline(never)
    private static func login(
        _ verb: Verb, _ account: Bytes, _ service: Bytes
    ) throws(WireFault) -> FrameWriter {
        var frame = FrameWriter(kind: verb.rawValue)
        try frame.put(accountName: account)
        try frame.put(.service, service)
        return frame
    }

    /// Asks whether enrolment should be offered after a login with the password.
    package static func offer(_ request: OfferRequest) throws(WireFault) -> Bytes {
        var frame = try login(.offer, request.account, request.service)
        try frame.put(.presence, number: request.presence.rawValue)
        return frame.bytes
    }

    /// Reports an account's new password. The caller must wipe the returned frame.
    package static func passwordChanged(
        account: Bytes, service: Bytes, password: Span<UInt8>
    ) throws(WireFault) -> Bytes {
        // Reserve the full length, so that no reallocation leaves a copy of the password behind.
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
    /// Whether it has no control characters, `/` or `:`, which never occur in names of passwd(5).
    package var isAccountName: Bool {
        for byte in self where byte < 0x20 || byte == 0x7F || byte == 0x2F || byte == 0x3A {
            return false
        }
        return true
    }
}

extension FrameWriter {
    /// Appends an account's name; throws for a name that the reader would reject.
    package mutating func put(accountName name: Bytes) throws(WireFault) {
        guard name.isAccountName else { throw .malformedValue }
        try put(.account, name)
    }
}
