// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

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

/// The conditions and the effect of the touch for a verb that requires one.
package struct TouchRule: Sendable {
    /// The conditions, in the order in which they are checked; the first that fails is the answer.
    package let guards: [TouchGuard]
    /// What the touch may release; empty if it only tells which finger it was.
    package let releases: Set<Release>
    /// Whether `login.others = warn` lets other users ask for the account's finger.
    package let mayServeOthers: Bool
}

/// One row of the table: what the daemon requires before it serves a request.
package struct VerbRule: Sendable {
    /// The users who may make the request.
    package let callers: Caller
    /// The proof that they must give.
    package let proof: Proof
    /// Whether the verb begins a request; the others continue one.
    package let beginsRequest: Bool
    /// The rule for the touch; nil for a verb that never asks for one.
    package let touch: TouchRule?
}

/// The table of verbs. A request whose verb has no row cannot be made.
///
/// The `switch` has no default, so a new verb does not compile until it has a row. `Router` and
/// `TouchGuards` of the daemon enforce the rows.
package enum VerbTable {
    /// Returns the row of a verb.
    package static func rule(for verb: Verb) -> VerbRule {
        switch verb {
        case .authenticate: row(.rootOrAccount, .none, touch: login)
        case .verify: row(.rootOrAccount, .none, touch: check)
        case .enroll: row(.rootOrAccount, .password, touch: enrolment)
        case .delete: row(.rootOrAccount, .password)
        case .enable: row(.rootOrAccount, .password)
        case .disable: row(.rootOrAccount, .password)
        case .unlock: row(.rootOrAccount, .password)
        case .status: row(.rootOrAccount, .none)
        case .list: row(.rootOrAccount, .none)
        case .readers: row(.anyone, .none)
        case .log: row(.rootOrAccount, .none)
        case .configuration: row(.anyone, .none)
        case .passwordAccepted: row(.root, .none)
        // It reveals who has enrolled no finger, and is meant for programs that log users in.
        case .offer: row(.root, .none)
        case .password: row(.anyone, .none, beginsRequest: false)
        case .cancel: row(.anyone, .none, beginsRequest: false)
        case .secretSet: row(.rootOrAccount, .none)
        case .secretPart: row(.anyone, .none, beginsRequest: false)
        case .secretGet: row(.rootOrAccount, .none, touch: confirming(.secret))
        case .secretList: row(.rootOrAccount, .none)
        case .secretDelete: row(.rootOrAccount, .none)
        case .vault: row(.anyone, .none)
        case .migrate: row(.rootOrAccount, .password)
        case .trustVault: row(.root, .none)
        // Only root may learn whose fingers a reader stores.
        case .readerPrints: row(.root, .none)
        case .passwordChanged: row(.root, .none)
        case .watch: row(.rootOrAccount, .none)
        case .importPrint: row(.rootOrAccount, .password)
        case .confirm: row(.rootOrAccount, .none)
        case .shown: row(.anyone, .none, beginsRequest: false)
        case .serverEnable: row(.rootOrAccount, .password, touch: confirming(.keySignature))
        case .serverDisable: row(.rootOrAccount, .password)
        // The answer logs its bearer in at the server.
        case .serverLogin: row(.account, .none, touch: confirming(.keySignature))
        case .serverList: row(.rootOrAccount, .none)
        // The answer speaks for the account wherever it is shown.
        case .sign: row(.account, .none, touch: confirming(.keySignature))
        case .signingEnable: row(.rootOrAccount, .password, touch: confirming(.keySignature))
        case .signingDisable: row(.rootOrAccount, .password)
        case .signingKey: row(.rootOrAccount, .none)
        // The bearer of the token's header is the device for the server; decisions are made in the
        // account's name.
        case .macTokenAdd: row(.account, .none, touch: confirming(.keySignature))
        case .macTokenList: row(.rootOrAccount, .none)
        case .macTokenRemove: row(.rootOrAccount, .none)
        case .macTokenHeader: row(.account, .none)
        case .operationList: row(.account, .none, touch: confirming(.keySignature))
        case .operationShow: row(.account, .none, touch: confirming(.keySignature))
        case .operationDecide: row(.account, .none, touch: confirming(.keySignature))
        }
    }

    /// Returns whether a peer may make a request about an account; `accountUID` is nil if there is
    /// none.
    package static func permits(_ verb: Verb, peerUID: UInt32, accountUID: UInt32?) -> Bool {
        switch rule(for: verb).callers {
        case .root: peerUID == 0
        case .rootOrAccount: peerUID == 0 || (accountUID != nil && peerUID == accountUID)
        case .account: accountUID != nil && peerUID == accountUID
        case .anyone: true
        }
    }

    private static func row(
        _ callers: Caller, _ proof: Proof, beginsRequest: Bool = true, touch: TouchRule? = nil
    ) -> VerbRule {
        VerbRule(callers: callers, proof: proof, beginsRequest: beginsRequest, touch: touch)
    }

    /// A login through PAM. Only here may others ask for an account (su, polkit), and only here do
    /// the lists of `[login]` apply, since they are about PAM services. Only a PAM module can tell
    /// whether a request comes from a terminal's background.
    private static let login = TouchRule(
        guards: [.presence, .loginLists, .background, .credential, .reader, .lid],
        releases: [.statement, .loginPassword], mayServeOthers: true)

    /// The conditions for telling an account without fingers that it could enrol one: those of a
    /// login, apart from the credential. No finger is asked for.
    package static let offer = TouchRule(
        guards: [.presence, .loginLists, .background, .reader, .lid], releases: [],
        mayServeOthers: true)

    /// `signet verify` releases nothing, so it requires fingers but no credential.
    private static let check = TouchRule(
        guards: [.presence, .prints, .reader, .lid], releases: [], mayServeOthers: false)

    /// Scans that match nothing, for which the password was given. The lid is not checked, since a
    /// user who enrols with a closed lid has an external reader; comparisons with other accounts'
    /// prints are counted elsewhere, against the enrolling account.
    private static let enrolment = TouchRule(
        guards: [.presence], releases: [], mayServeOthers: false)

    /// A command of the account itself, confirmed by a touch.
    private static func confirming(_ release: Release) -> TouchRule {
        TouchRule(
            guards: [.presence, .credential, .reader, .lid], releases: [.statement, release],
            mayServeOthers: false)
    }
}
