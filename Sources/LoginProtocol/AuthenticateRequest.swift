// SPDX-License-Identifier: Apache-2.0
/// Asks for a touch that signs a challenge.
package struct AuthenticateRequest: Equatable, Sendable {
    /// Whose finger.
    package var account: Bytes
    /// 32 fresh random bytes of the relying party.
    package var challenge: Bytes
    /// The PAM service, for example `sudo`.
    package var service: Bytes
    /// The terminal, empty if there is none.
    package var terminal: Bytes
    /// PAM_RHOST; not empty means a remote login, which is denied.
    package var remoteHost: Bytes
    /// PAM_RUSER, empty if there is none.
    package var requester: Bytes
    /// What is being confirmed, empty if there is nothing to say.
    package var purpose: Bytes
    /// How long to wait for the touch.
    package var timeoutMilliseconds: UInt32
    /// How many scans may fail to match, at least one.
    package var maximumTries: UInt8
    /// Whether the login password is wanted too, for the keyring.
    package var wantsKeyring: Bool
    /// Where the request comes from.
    package var presence: TerminalPosition
    /// What becomes of it if that is not a terminal's foreground.
    package var background: BackgroundPolicy
    /// SHA-256 of the whole command line that is confirmed, 32 bytes; empty where there is none.
    package var commandDigest: Bytes
    /// The process id of the polkit agent that asks; nil where there is none. Believed of root only.
    package var agent: UInt32?
    /// The user that the agent was when it reached the helper, which runs as a service of root's; nil
    /// where the agent started the helper. Believed of root only.
    package var agentUser: UInt32?
    /// The server that has to say yes, too; nil for none.
    package var server: ServerLoginRequest?

    /// All of it; sizes are checked when it is encoded.
    package init(
        account: Bytes, challenge: Bytes, service: Bytes, terminal: Bytes = [],
        remoteHost: Bytes = [], requester: Bytes = [], purpose: Bytes = [],
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
}

/// Which server a login is to be at, too, and how.
package struct ServerLoginRequest: Equatable, Sendable {
    /// Its URL in its one form.
    package var url: Bytes
    /// What verdicts for it name.
    package var audience: Bytes
    /// The key that its verdicts are signed with, an uncompressed point of 65 bytes.
    package var key: Bytes
    /// For how many hours an earlier verdict may stand for a server that cannot be asked; 0: never.
    package var offlineHours: UInt32
    /// Where the access token goes; nil where none is wanted.
    package var token: TokenDelivery?

    /// All of it.
    package init(
        url: Bytes, audience: Bytes, key: Bytes, offlineHours: UInt32 = 0,
        token: TokenDelivery? = nil
    ) {
        self.url = url
        self.audience = audience
        self.key = key
        self.offlineHours = offlineHours
        self.token = token
    }
}

/// Where the access token of a login goes; the raw value is on the wire.
package enum TokenDelivery: UInt8, CaseIterable, Sendable {
    /// With the answer.
    case answer = 1
    /// Into a file of root's, on this machine.
    case file = 2
}
