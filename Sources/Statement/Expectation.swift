/// What a relying party knows before the answer comes, and therefore demands of it.
package struct Expectation: Sendable {
    /// Its own name.
    package var audience: [UInt8]
    /// Whom it asked for.
    package var account: [UInt8]
    /// That account's uid.
    package var uid: UInt32
    /// Its own challenge.
    package var challenge: [UInt8]
    /// Its own service.
    package var service: [UInt8]
    /// The terminal that it named.
    package var terminal: [UInt8]
    /// The purpose that it named.
    package var purpose: [UInt8]
    /// The credential that it registered, 16 bytes.
    package var credential: [UInt8]

    /// All of it.
    package init(
        audience: [UInt8], account: [UInt8], uid: UInt32, challenge: [UInt8], service: [UInt8],
        terminal: [UInt8], purpose: [UInt8], credential: [UInt8]
    ) {
        self.audience = audience
        self.account = account
        self.uid = uid
        self.challenge = challenge
        self.service = service
        self.terminal = terminal
        self.purpose = purpose
        self.credential = credential
    }

    /// What an assertion has other than it must.
    package enum Mismatch: Error, Equatable {
        case audience
        case account
        case challenge
        case service
        case context
        case credential
        case factor
    }

    /// Whether a statement says what was asked; nil if it does, else the first difference.
    package func mismatch(with statement: Statement) -> Mismatch? {
        guard statement.audience == audience else { return .audience }
        guard statement.account == account, statement.uid == uid else { return .account }
        guard statement.challenge == challenge else { return .challenge }
        guard statement.service == service else { return .service }
        guard statement.terminal == terminal, statement.purpose == purpose else {
            return .context
        }
        guard statement.credential == credential else { return .credential }
        guard statement.factor == Factor.fingerprint else { return .factor }
        return nil
    }
}

/// How a person was recognised, as a statement says it.
package enum Factor {
    /// A finger on a reader of this machine.
    package static var fingerprint: [UInt8] { StaticString("fingerprint").bytes }
    #if !hasFeature(Embedded)
    /// The device alone, without a touch: good for taking back what it has.
    package static var possession: [UInt8] { StaticString("possession").bytes }
    #endif
}

/// The relying parties that have a name of their own.
package enum Audience {
    /// The PAM module of this machine.
    package static var local: [UInt8] { StaticString("local").bytes }
}
