import Wire

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

/// One row: what the daemon demands before it does what is asked.
package struct VerbRule: Sendable {
    /// Who may ask.
    package let callers: Caller
    /// With what proof.
    package let proof: Proof
    /// Whether it begins a request; the others only continue one.
    package let beginsRequest: Bool
}

/// The table of verbs. What has no row here cannot be asked for.
package enum VerbTable {
    /// The row of a verb.
    package static func rule(for verb: Verb) -> VerbRule {
        switch verb {
        case .authenticate: row(.rootOrAccount, .none)
        case .verify: row(.rootOrAccount, .none)
        case .enroll: row(.rootOrAccount, .password)
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
        case .password: row(.anyone, .none, beginsRequest: false)
        case .cancel: row(.anyone, .none, beginsRequest: false)
        case .secretSet: row(.rootOrAccount, .none)
        case .secretPart: row(.anyone, .none, beginsRequest: false)
        case .secretGet: row(.rootOrAccount, .none)
        case .secretList: row(.rootOrAccount, .none)
        case .secretDelete: row(.rootOrAccount, .none)
        case .vault: row(.anyone, .none)
        case .migrate: row(.rootOrAccount, .password)
        case .trustVault: row(.root, .none)
        case .passwordChanged: row(.root, .none)
        case .watch: row(.rootOrAccount, .none)
        case .importPrint: row(.rootOrAccount, .password)
        case .confirm: row(.rootOrAccount, .none)
        case .shown: row(.anyone, .none, beginsRequest: false)
        case .serverEnable: row(.rootOrAccount, .password)
        case .serverDisable: row(.rootOrAccount, .password)
        // What it gives lets in at the server whoever has it.
        case .serverLogin: row(.account, .none)
        case .serverList: row(.rootOrAccount, .none)
        // What it gives speaks for the account wherever it is shown.
        case .sign: row(.account, .none)
        case .signingEnable: row(.rootOrAccount, .password)
        case .signingDisable: row(.rootOrAccount, .password)
        case .signingKey: row(.rootOrAccount, .none)
        // Who has its header is the device for the server; what is decided is in the account's name.
        case .macTokenAdd: row(.account, .none)
        case .macTokenList: row(.rootOrAccount, .none)
        case .macTokenRemove: row(.rootOrAccount, .none)
        case .macTokenHeader: row(.account, .none)
        case .operationList: row(.account, .none)
        case .operationShow: row(.account, .none)
        case .operationDecide: row(.account, .none)
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
        _ callers: Caller, _ proof: Proof, beginsRequest: Bool = true
    ) -> VerbRule {
        VerbRule(callers: callers, proof: proof, beginsRequest: beginsRequest)
    }
}
