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
    package var presence: Presence
    /// What becomes of it if that is not a terminal's foreground.
    package var background: BackgroundPolicy

    /// All of it; sizes are checked when it is encoded.
    package init(
        account: Bytes, challenge: Bytes, service: Bytes, terminal: Bytes = [],
        remoteHost: Bytes = [], requester: Bytes = [], purpose: Bytes = [],
        timeoutMilliseconds: UInt32, maximumTries: UInt8, wantsKeyring: Bool = false,
        presence: Presence = .foreground, background: BackgroundPolicy = .refuse
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
    }
}
