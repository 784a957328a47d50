// SPDX-License-Identifier: Apache-2.0
/// The users who may make a request.
package enum Caller: Sendable {
    /// Only uid 0.
    case root
    /// Uid 0, or the account that the request is about.
    case rootOrAccount
    /// Only the account that the request is about, not even root.
    case account
    /// Every local user.
    case anyone
    /// Uid 0, or the user that `signet-fprint` runs as: it asks for clients of the message bus,
    /// which it names, and the daemon examines them itself.
    case desktopInterface
}

/// The proof that a caller must give first.
///
/// Root is exempt, because it can read everything that a password protects, except if the password
/// itself is to be stored (`AccountRequest.keepsPassword`).
package enum Proof: Sendable {
    case none
    /// The password of the account that the request is about.
    case password
}

/// A condition that must hold before a touch is requested.
package enum TouchGuard: Sendable {
    /// The requester is at this machine now, and may request a touch for this account.
    case presence
    /// The administrator's lists of services, accounts and groups allow the login.
    case loginLists
    /// The request does not come from a background process of a terminal.
    case background
    /// There is a credential that fits the fingers, and no lockout is in effect.
    case credential
    /// There is an enrolled finger, and no lockout is in effect.
    case prints
    /// There is a reader at the requester's seat, and the machine is not about to be suspended.
    case reader
    /// The lid is open.
    case lid
}

/// The data or signature that a touch may release.
package enum Release: Sendable {
    /// The statement about the request, signed with the account's credential, and its receipt.
    case statement
    /// The account's login password, for the PAM module.
    case loginPassword
    /// A secret of the account.
    case secret
    /// A signature with one of the account's keys for servers, or with its signing key.
    case keySignature
}

/// The conditions and the effect of a touch, for a request that requires one.
package struct TouchRule: Sendable {
    /// The conditions in the order of the checks; the first that fails determines the denial.
    package let guards: [TouchGuard]
    /// What the touch may release; empty if it only shows whether a finger matched.
    package let releases: Set<Release>
    /// Whether other users may request the account's finger if `login.others` is `warn`.
    package let mayServeOthers: Bool

    init(guards: [TouchGuard], releases: Set<Release> = [], mayServeOthers: Bool = false) {
        self.guards = guards
        self.releases = releases
        self.mayServeOthers = mayServeOthers
    }

    /// The rule for a command of the account itself that a touch confirms.
    static func confirming(_ release: Release) -> TouchRule {
        TouchRule(
            guards: [.presence, .credential, .reader, .lid], releases: [.statement, release])
    }
}

/// The conditions under which the daemon serves a request.
///
/// Each request declares its own rule. The daemon's `Router` and `TouchGuards` enforce it.
package struct VerbRule: Sendable {
    /// The users who may make the request.
    package let callers: Caller
    /// The proof that they must give first.
    package let proof: Proof
    /// Whether it begins a request; otherwise it continues the one in progress.
    package let beginsRequest: Bool
    /// The rule for the touch; nil for a request that never requires one.
    package let touch: TouchRule?

    init(
        _ callers: Caller, proof: Proof = .none, beginsRequest: Bool = true,
        touch: TouchRule? = nil
    ) {
        self.callers = callers
        self.proof = proof
        self.beginsRequest = beginsRequest
        self.touch = touch
    }

    /// Returns whether a peer may make the request about an account.
    ///
    /// `accountUID` is the account's uid; nil if the request is about no account. `interfaceUID` is
    /// the uid of `signet-fprint`; nil if it is not installed.
    package func permits(
        peerUID: UInt32, accountUID: UInt32?, interfaceUID: UInt32? = nil
    ) -> Bool {
        switch callers {
        case .root: peerUID == 0
        case .rootOrAccount: peerUID == 0 || (accountUID != nil && peerUID == accountUID)
        case .account: accountUID != nil && peerUID == accountUID
        case .anyone: true
        case .desktopInterface:
            peerUID == 0 || (interfaceUID != nil && peerUID == interfaceUID)
        }
    }
}
