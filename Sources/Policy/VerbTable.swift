// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Who may ask for something.
package enum Caller: Sendable {
    /// uid 0.
    case root
    /// uid 0, or the account that the request is about.
    case rootOrAccount
    /// The account that the request is about, and nobody in its place.
    case account
    /// Every local user.
    case anyone
}

/// What proof a caller must give first. Root gives none: it could read what a password guards.
package enum Proof: Sendable {
    case none
    /// The password of the account that the request is about.
    case password
}

/// What must hold before a finger is asked for.
package enum TouchGuard: Sendable {
    /// The person who asks is at this machine now, and may ask for this account.
    case presence
    /// The administrator's lists of services, accounts and groups.
    case loginLists
    /// The request does not come from a terminal's background.
    case background
    /// There is a credential, it fits the fingers, and the finger is not locked.
    case credential
    /// There is a finger, and it is not locked.
    case prints
    /// A reader is there, at the seat of the person who asks, and the machine does not sleep.
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
    /// A secret of the account's.
    case secret
    /// A signature by a key of the account's for a server, or by its signing key.
    case keySignature
}

/// For a verb that needs a finger: what precedes the touch, and what the touch is good for.
package struct TouchRule: Sendable {
    /// In the order in which they are asked; the first that does not hold is the answer.
    package let guards: [TouchGuard]
    /// What it may release; empty where it only tells which finger it was.
    package let releases: Set<Release>
    /// Whether `login.others = warn` lets others than the account itself ask for its finger.
    package let mayServeOthers: Bool
}

/// One row: what the daemon demands before it does what is asked.
package struct VerbRule: Sendable {
    /// Who may ask.
    package let callers: Caller
    /// With what proof.
    package let proof: Proof
    /// Whether it begins a request; the others only continue one.
    package let beginsRequest: Bool
    /// What precedes a touch; nil for a verb that never asks for one.
    package let touch: TouchRule?
}

/// The table of verbs. What has no row here cannot be asked for.
package enum VerbTable {
    /// The row of a verb.
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
        // It says who has enrolled nothing, and is for programs that log users in.
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
        // Whose fingers a reader stores is nobody else's business.
        case .readerPrints: row(.root, .none)
        case .passwordChanged: row(.root, .none)
        case .watch: row(.rootOrAccount, .none)
        case .importPrint: row(.rootOrAccount, .password)
        case .confirm: row(.rootOrAccount, .none)
        case .shown: row(.anyone, .none, beginsRequest: false)
        case .serverEnable: row(.rootOrAccount, .password, touch: confirming(.keySignature))
        case .serverDisable: row(.rootOrAccount, .password)
        // What it gives lets in at the server whoever has it.
        case .serverLogin: row(.account, .none, touch: confirming(.keySignature))
        case .serverList: row(.rootOrAccount, .none)
        // What it gives speaks for the account wherever it is shown.
        case .sign: row(.account, .none, touch: confirming(.keySignature))
        case .signingEnable: row(.rootOrAccount, .password, touch: confirming(.keySignature))
        case .signingDisable: row(.rootOrAccount, .password)
        case .signingKey: row(.rootOrAccount, .none)
        // Who has its header is the device for the server; what is decided is in the account's name.
        case .macTokenAdd: row(.account, .none, touch: confirming(.keySignature))
        case .macTokenList: row(.rootOrAccount, .none)
        case .macTokenRemove: row(.rootOrAccount, .none)
        case .macTokenHeader: row(.account, .none)
        case .operationList: row(.account, .none, touch: confirming(.keySignature))
        case .operationShow: row(.account, .none, touch: confirming(.keySignature))
        case .operationDecide: row(.account, .none, touch: confirming(.keySignature))
        }
    }

    /// Whether a peer may ask for this about an account; `accountUID` is nil where there is none.
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

    /// A login through PAM. Only here do others ask for an account (su, polkit), and only here do the
    /// lists of `[login]` apply: they are about PAM services. Only a PAM module can tell whether a
    /// request comes from a terminal's background.
    private static let login = TouchRule(
        guards: [.presence, .loginLists, .background, .credential, .reader, .lid],
        releases: [.statement, .loginPassword], mayServeOthers: true)

    /// What must hold before an account without fingers is told that it could enrol one: all that a
    /// login would be asked for a finger by, but the finger. None is asked for.
    package static let offer = TouchRule(
        guards: [.presence, .loginLists, .background, .reader, .lid], releases: [],
        mayServeOthers: true)

    /// `signet verify`: releases nothing, so it needs no credential, only fingers.
    private static let check = TouchRule(
        guards: [.presence, .prints, .reader, .lid], releases: [], mayServeOthers: false)

    /// Scans that match nothing: the password was given for them. The lid is not asked, since
    /// somebody who enrols with it closed has a reader outside; comparisons with the prints of
    /// others are counted elsewhere, against whoever enrols.
    private static let enrolment = TouchRule(
        guards: [.presence], releases: [], mayServeOthers: false)

    /// A command of the account's own that a touch confirms.
    private static func confirming(_ release: Release) -> TouchRule {
        TouchRule(
            guards: [.presence, .credential, .reader, .lid], releases: [.statement, release],
            mayServeOthers: false)
    }
}
