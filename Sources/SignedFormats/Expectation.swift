// SPDX-License-Identifier: Apache-2.0
/// What a relying party knows before the answer comes, and therefore demands of it.
package struct Expectation: Sendable {
    /// Its own name.
    package var audience: [UInt8]
    /// Whom it asked for.
    package var account: [UInt8]
    /// That account's uid.
    package var uid: UInt32
    /// The requester that the application named; empty where it named none.
    package var requester: [UInt8]
    /// Its own challenge.
    package var challenge: [UInt8]
    /// Its own service.
    package var service: [UInt8]
    /// The terminal that it named.
    package var terminal: [UInt8]
    /// The purpose that it named.
    package var purpose: [UInt8]
    /// The digest of the command line that it named; empty where there was none.
    package var command: [UInt8]
    /// The credential that it registered, 16 bytes.
    package var credential: [UInt8]
    /// The server that it asked for, too; nil for none.
    package var server: ServerExpectation?

    /// All of it.
    package init(
        audience: [UInt8], account: [UInt8], uid: UInt32, requester: [UInt8], challenge: [UInt8],
        service: [UInt8], terminal: [UInt8], purpose: [UInt8], command: [UInt8],
        credential: [UInt8], server: ServerExpectation? = nil
    ) {
        self.audience = audience
        self.account = account
        self.uid = uid
        self.requester = requester
        self.challenge = challenge
        self.service = service
        self.terminal = terminal
        self.purpose = purpose
        self.command = command
        self.credential = credential
        self.server = server
    }

    /// What an assertion has other than it must.
    package enum Mismatch: Error, Equatable {
        case version
        case audience
        case account
        case requester
        case challenge
        case service
        case context
        case credential
        case factor
        case server
    }

    /// Whether a statement says what was asked; nil if it does, else the first difference.
    package func mismatch(with statement: Statement) -> Mismatch? {
        // An old statement does not say who asked, nor for which command.
        guard statement.version == Statement.currentVersion else { return .version }
        guard statement.audience == audience else { return .audience }
        guard statement.account == account, statement.uid == uid else { return .account }
        guard isRequester(statement.requester) else { return .requester }
        guard statement.challenge == challenge else { return .challenge }
        guard statement.service == service else { return .service }
        guard statement.terminal == terminal, statement.purpose == purpose,
            statement.command == command
        else { return .context }
        guard statement.credential == credential else { return .credential }
        guard statement.factor == Factor.fingerprint else { return .factor }
        return isServer(statement.server) ? nil : .server
    }

    /// How far the time of a statement may be off the clock it was taken from, in seconds.
    package static let leeway: UInt64 = 5

    /// Whether a statement was made within so many seconds before `now`, in seconds since 1970.
    package static func isCurrent(
        _ statement: Statement, at now: UInt64, within seconds: UInt64
    ) -> Bool {
        let issued = statement.issued.seconds
        guard issued <= now else { return issued - now <= leeway }
        return now - issued <= seconds + leeway
    }

    /// Whether a requester is named, and another one than the account where the application says so:
    /// who that is, the daemon knows better. `su bob`, then sudo: the application names bob, and the
    /// session is alice's.
    private func isRequester(_ said: [UInt8]) -> Bool {
        let isOther = !requester.isEmpty && requester != account
        return !said.isEmpty && (!isOther || said != account)
    }

    /// Whether the server is the one that was asked for, in a way that may be; none is one, too.
    private func isServer(_ said: ServerLines?) -> Bool {
        guard let server, let said else { return self.server == nil && said == nil }
        guard said.url == server.url else { return false }
        guard said.mode == .online || server.mayBeOffline else { return false }
        return server.mayDiffer || said.account == account
    }
}

/// What a local statement has to say of the server that a login is to be at.
package struct ServerExpectation: Sendable {
    /// Its URL.
    package var url: [UInt8]
    /// Whether an earlier verdict may stand for it.
    package var mayBeOffline: Bool
    /// Whether the account's name there may be another than here.
    package var mayDiffer: Bool

    /// All of it.
    package init(url: [UInt8], mayBeOffline: Bool, mayDiffer: Bool) {
        self.url = url
        self.mayBeOffline = mayBeOffline
        self.mayDiffer = mayDiffer
    }
}

/// What a server's verdict has to say, once a local statement has been found good.
package struct VerdictExpectation: Sendable {
    /// The server's name.
    package var audience: [UInt8]
    /// The account's name on this machine.
    package var local: [UInt8]
    /// The module's own challenge.
    package var challenge: [UInt8]
    /// For how many seconds an earlier verdict may stand for a server that cannot be asked.
    package var offlineSeconds: UInt64

    /// How far a server's clock may be ahead of this machine's, in seconds.
    package static let leeway: UInt64 = 300

    /// All of it.
    package init(
        audience: [UInt8], local: [UInt8], challenge: [UInt8], offlineSeconds: UInt64
    ) {
        self.audience = audience
        self.local = local
        self.challenge = challenge
        self.offlineSeconds = offlineSeconds
    }

    /// What a verdict has other than it must.
    package enum Mismatch: Error, Equatable {
        case audience
        case account
        case device
        case decision
        case challenge
        case age
    }

    /// Whether a verdict lets in whom the statement is about, at `now`, in seconds since 1970; nil if
    /// it does, else the first difference.
    ///
    /// An online one is good for the module's own challenge and nothing else, whatever any clock
    /// says. An offline one is good by its age alone: whoever kept it cannot prolong it.
    package func mismatch(
        with verdict: Verdict, for statement: Statement, at now: UInt64
    ) -> Mismatch? {
        guard verdict.audience == audience else { return .audience }
        guard let server = statement.server, verdict.local == local,
            verdict.account == server.account
        else { return .account }
        guard verdict.device == statement.device else { return .device }
        guard verdict.decision == .allow else { return .decision }
        switch server.mode {
        case .online: return verdict.module == challenge ? nil : .challenge
        case .offline:
            let isGood = VerdictExpectation.isGood(
                issued: verdict.issued.seconds, forSeconds: offlineSeconds, at: now)
            return isGood ? nil : .age
        }
    }

    /// Whether a verdict of a moment still stands for a server that cannot be asked; all in seconds,
    /// the moments since 1970. One from further ahead than `leeway` does not: a clock is wrong.
    package static func isGood(
        issued: UInt64, forSeconds limit: UInt64, at now: UInt64
    ) -> Bool {
        guard issued <= now else { return limit > 0 && issued - now <= leeway }
        return limit > 0 && now - issued <= limit
    }
}

/// How a person was recognised, as a statement says it.
package enum Factor {
    /// A finger on a reader of this machine.
    package static var fingerprint: [UInt8] { StaticString("fingerprint").bytes }
    /// The device alone, without a touch: good for taking back what it has.
    package static var possession: [UInt8] { StaticString("possession").bytes }
}

/// The relying parties that have a name of their own.
package enum Audience {
    /// The PAM module of this machine.
    package static var local: [UInt8] { StaticString("local").bytes }
}
