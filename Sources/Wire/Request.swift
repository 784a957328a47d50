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

    /// All of it; sizes are checked when it is encoded.
    package init(
        account: Bytes, challenge: Bytes, service: Bytes, terminal: Bytes = [],
        remoteHost: Bytes = [], requester: Bytes = [], purpose: Bytes = [],
        timeoutMilliseconds: UInt32, maximumTries: UInt8
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
    }
}

/// Which receipts are wanted.
package struct LogRequest: Equatable, Sendable {
    /// Whose.
    package var account: Bytes
    /// How many receipts to leave out at the beginning.
    package var first: UInt64
    /// How many at the most; 0 for all.
    package var count: UInt32

    /// Receipts from a position on.
    package init(account: Bytes, first: UInt64 = 0, count: UInt32 = 0) {
        self.account = account
        self.first = first
        self.count = count
    }
}

/// One frame from a client to the daemon.
package enum Request: Equatable, Sendable {
    case authenticate(AuthenticateRequest)
    case verify(account: Bytes, timeoutMilliseconds: UInt32)
    /// Adds a finger, on a named reader or the first one.
    case enroll(account: Bytes, finger: Finger, readerID: Bytes?)
    /// Deletes one finger, or all of the account's where none is named.
    case delete(account: Bytes, finger: Finger?)
    case enable(account: Bytes)
    case disable(account: Bytes)
    case unlock(account: Bytes)
    case status(account: Bytes)
    case list(account: Bytes)
    case readers
    case log(LogRequest)
    case configuration
    case passwordAccepted(account: Bytes, service: Bytes)
    case password(Bytes)
    case cancel

    /// The row of the verb table that this request falls under.
    package var verb: Verb {
        switch self {
        case .authenticate: .authenticate
        case .verify: .verify
        case .enroll: .enroll
        case .delete: .delete
        case .enable: .enable
        case .disable: .disable
        case .unlock: .unlock
        case .status: .status
        case .list: .list
        case .readers: .readers
        case .log: .log
        case .configuration: .configuration
        case .passwordAccepted: .passwordAccepted
        case .password: .password
        case .cancel: .cancel
        }
    }

    /// The account that the request is about, if it is about one.
    package var account: Bytes? {
        switch self {
        case .authenticate(let request): request.account
        case .log(let request): request.account
        case .verify(let account, _), .enroll(let account, _, _), .delete(let account, _),
            .enable(let account), .disable(let account), .unlock(let account),
            .status(let account), .list(let account), .passwordAccepted(let account, _):
            account
        case .readers, .configuration, .password, .cancel: nil
        }
    }
}
