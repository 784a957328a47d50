// SPDX-License-Identifier: Apache-2.0
import Domain

/// The request for a touch that signs a challenge.
///
/// All texts are the application's and are bytes, not necessarily UTF-8. Sizes are checked against
/// `Limit` when the request is encoded. The daemon believes `agent` and `agentUser` only from root.
package struct AuthenticateRequest: Equatable, Sendable {
    /// The account to authenticate.
    package var account: AccountName
    /// The relying party's challenge, 32 fresh random bytes.
    package var challenge: Challenge
    /// The PAM service, for example `sudo`.
    package var service: ServiceName
    /// The terminal, empty if there is none.
    package var terminal: Bytes
    /// PAM_RHOST; a non-empty one means a remote login, which is denied.
    package var remoteHost: Bytes
    /// PAM_RUSER, empty if there is none.
    package var requester: AccountName
    /// The command or action that the touch authorises, empty if unknown.
    package var purpose: Bytes
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The number of scans that may fail to match, at least 1.
    package var maximumTries: UInt8
    /// Whether the login password is requested as well, to unlock the keyring.
    package var wantsKeyring: Bool
    /// The process's position relative to its terminal.
    package var presence: TerminalPosition
    /// What to do with a request that does not come from a terminal's foreground.
    package var background: BackgroundPolicy
    /// The SHA-256 of the complete command line that is authorised, 32 bytes; empty if there is
    /// none.
    package var commandDigest: Bytes
    /// The process id of the polkit agent behind the request; nil if there is none.
    package var agent: UInt32?
    /// The agent's uid when it connected to the helper, which runs as a service of root's; nil if
    /// the agent started the helper.
    package var agentUser: UInt32?
    /// The server that must approve the login as well; nil for none.
    package var server: ServerLoginRequest?

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, challenge: Challenge, service: ServiceName, terminal: Bytes = [],
        remoteHost: Bytes = [], requester: AccountName = .none, purpose: Bytes = [],
        timeoutMilliseconds: UInt32, maximumTries: UInt8, wantsKeyring: Bool = false,
        presence: TerminalPosition = .foreground, background: BackgroundPolicy = .refuse,
        commandDigest: Bytes = [], agent: UInt32? = nil, agentUser: UInt32? = nil,
        server: ServerLoginRequest? = nil
    ) {
        self.account = account
        self.challenge = challenge
        self.service = service
        self.terminal = terminal
        self.remoteHost = remoteHost
        self.requester = requester
        self.purpose = purpose
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumTries = maximumTries
        self.wantsKeyring = wantsKeyring
        self.presence = presence
        self.background = background
        self.commandDigest = commandDigest
        self.agent = agent
        self.agentUser = agentUser
        self.server = server
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.challenge, challenge)
        try frame.put(.service, name: service)
        try frame.put(.terminal, terminal)
        try frame.put(.remoteHost, remoteHost)
        try frame.put(.requester, name: requester)
        try frame.put(.purpose, purpose)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        guard maximumTries > 0 else { throw .malformedValue }
        try frame.put(.maximumTries, number: maximumTries)
        // An unset flag is always an absent field.
        if wantsKeyring { try frame.put(.keyring, number: UInt8(1)) }
        try frame.put(.presence, number: presence.rawValue)
        try frame.put(.background, number: background.rawValue)
        // An empty digest is always an absent field.
        if !commandDigest.isEmpty { try frame.put(.commandDigest, commandDigest) }
        try frame.put(.agent, numberIfPresent: agent)
        try frame.put(.agentUser, numberIfPresent: agentUser)
        if let server {
            try frame.put(.server, name: server.url)
            try frame.put(.audience, name: server.audience)
            if server.offlineHours > 0 { try frame.put(.offlineHours, number: server.offlineHours) }
            try frame.put(.tokenDelivery, numberIfPresent: server.token?.rawValue)
            try frame.put(.verdictKey, server.key)
        }
    }
}

/// The server that must approve a login as well, as the stack's line demands.
package struct ServerLoginRequest: Equatable, Sendable {
    /// The server's URL in normal form.
    package var url: ServerURL
    /// The audience that its verdicts must name.
    package var audience: Audience
    /// The public key that verifies its verdicts.
    package var key: PublicKeyPoint
    /// For how many hours an earlier verdict is accepted if the server is unreachable; 0 for never.
    package var offlineHours: UInt32
    /// Where to deliver the access token; nil if none is requested.
    package var token: TokenDelivery?

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        url: ServerURL, audience: Audience, key: PublicKeyPoint, offlineHours: UInt32 = 0,
        token: TokenDelivery? = nil
    ) {
        self.url = url
        self.audience = audience
        self.key = key
        self.offlineHours = offlineHours
        self.token = token
    }
}

/// Where the access token of a login is delivered; the raw value is on the wire.
package enum TokenDelivery: UInt8, CaseIterable, Sendable {
    /// In the answer to the login.
    case answer = 1
    /// In a file on this machine, which root writes.
    case file = 2
}
