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
}

/// The proof that a caller must give first. Root is exempt, since it could read what a password
/// guards.
package enum Proof: Sendable {
    case none
    /// The password of the account that the request is about.
    case password
}

/// A condition for asking for a finger.
package enum TouchGuard: Sendable {
    /// The requester is at this machine now, and may ask for this account.
    case presence
    /// The administrator's lists of services, accounts and groups allow the login.
    case loginLists
    /// The request does not come from a background process of a terminal.
    case background
    /// There is a credential, it fits the fingers, and no lockout is in effect.
    case credential
    /// There is an enrolled finger, and no lockout is in effect.
    case prints
    /// There is a reader at the requester's seat, and the machine is not about to be suspended.
    case reader
    /// The lid is open.
    case lid
}

/// What a touch may release.
package enum Release: Sendable {
    /// The statement about the request, signed by the account's credential, and its receipt.
    case statement
    /// The account's login password, to the PAM module.
    case loginPassword
    /// A secret of the account.
    case secret
    /// A signature by one of the account's keys for servers, or by its signing key.
    case keySignature
}

/// The conditions and the effect of the touch for a request that requires one.
package struct TouchRule: Sendable {
    /// The conditions, in the order in which they are checked; the first that fails is the answer.
    package let guards: [TouchGuard]
    /// What the touch may release; empty if it only tells which finger it was.
    package let releases: Set<Release>
    /// Whether `login.others = warn` lets other users ask for the account's finger.
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

/// What the daemon requires before it serves a request.
///
/// Each request states its own rule. `Router` and `TouchGuards` of the daemon enforce it.
package struct VerbRule: Sendable {
    /// The users who may make the request.
    package let callers: Caller
    /// The proof that they must give.
    package let proof: Proof
    /// Whether it begins a request; the others continue one.
    package let beginsRequest: Bool
    /// The rule for the touch; nil for a request that never asks for one.
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

    /// Returns whether a peer may make the request about an account; `accountUID` is nil if there
    /// is none.
    package func permits(peerUID: UInt32, accountUID: UInt32?) -> Bool {
        switch callers {
        case .root: peerUID == 0
        case .rootOrAccount: peerUID == 0 || (accountUID != nil && peerUID == accountUID)
        case .account: accountUID != nil && peerUID == accountUID
        case .anyone: true
        }
    }
}
