// SPDX-License-Identifier: Apache-2.0
/// What a relying party knows before a statement arrives, and therefore demands of it.
///
/// `mismatch(with:)` compares only the contents. The caller verifies the signature as well, and
/// checks with `isCurrent` that the statement is recent.
package struct Expectation: Sendable {
    /// The relying party's own name.
    package var audience: [UInt8]
    /// The account that it asked for.
    package var account: [UInt8]
    /// That account's uid.
    package var uid: UInt32
    /// The requester that the application named; empty if it named none.
    package var requester: [UInt8]
    /// The relying party's own challenge, 32 bytes.
    package var challenge: [UInt8]
    /// The PAM service.
    package var service: [UInt8]
    /// The terminal in the request.
    package var terminal: [UInt8]
    /// The purpose in the request.
    package var purpose: [UInt8]
    /// The digest of the command line in the request, 32 bytes; empty if there was none.
    package var command: [UInt8]
    /// The credential that is registered, 16 bytes.
    package var credential: [UInt8]
    /// The server that must approve as well; nil for none.
    package var server: ServerExpectation?

    /// Creates an expectation.
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

    /// The part of a statement that differs from what was expected.
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

    /// Returns nil if a statement is about exactly this request, otherwise the first difference.
    package func mismatch(with statement: Statement) -> Mismatch? {
        // A statement of version 1 names neither the requester nor the command.
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

    /// The permitted difference between a statement's time and the clock it was taken from, in
    /// seconds.
    package static let leeway: UInt64 = 5

    /// Whether a statement was made within `seconds` before `now`, give or take `leeway`.
    ///
    /// `now` is in seconds since 1970.
    package static func isCurrent(
        _ statement: Statement, at now: UInt64, within seconds: UInt64
    ) -> Bool {
        let issued = statement.issued.seconds
        guard issued <= now else { return issued - now <= leeway }
        return now - issued <= seconds + leeway
    }

    /// Whether the statement names a requester, and not the account if the application named
    /// another user.
    ///
    /// It need not be the user whom the application named, because the daemon knows better: after
    /// `su bob`, sudo names bob, but the session is alice's.
    private func isRequester(_ said: [UInt8]) -> Bool {
        let isOther = !requester.isEmpty && requester != account
        return !said.isEmpty && (!isOther || said != account)
    }

    /// Whether the statement names the expected server in a permitted mode, or no server if none is
    /// expected.
    private func isServer(_ said: ServerLines?) -> Bool {
        guard let server, let said else { return self.server == nil && said == nil }
        guard said.url == server.url else { return false }
        guard said.mode == .online || server.mayBeOffline else { return false }
        return server.mayDiffer || said.account == account
    }
}

/// What a local statement must say about the server that has to approve the login.
package struct ServerExpectation: Sendable {
    /// Its URL.
    package var url: [UInt8]
    /// Whether an earlier verdict is accepted if the server is unreachable.
    package var mayBeOffline: Bool
    /// Whether the account's name at the server may differ from the name here.
    package var mayDiffer: Bool

    /// Creates an expectation.
    package init(url: [UInt8], mayBeOffline: Bool, mayDiffer: Bool) {
        self.url = url
        self.mayBeOffline = mayBeOffline
        self.mayDiffer = mayDiffer
    }
}

/// What a server's verdict must say, once the local statement has been verified.
package struct VerdictExpectation: Sendable {
    /// The server's name.
    package var audience: [UInt8]
    /// The account's name on this machine.
    package var local: [UInt8]
    /// The module's own challenge.
    package var challenge: [UInt8]
    /// For how many seconds an earlier verdict is accepted if the server is unreachable; 0 for
    /// never.
    package var offlineSeconds: UInt64

    /// How far the server's clock may be ahead of this machine's, in seconds.
    package static let leeway: UInt64 = 300

    /// Creates an expectation.
    package init(
        audience: [UInt8], local: [UInt8], challenge: [UInt8], offlineSeconds: UInt64
    ) {
        self.audience = audience
        self.local = local
        self.challenge = challenge
        self.offlineSeconds = offlineSeconds
    }

    /// The part of a verdict that differs from what was expected.
    package enum Mismatch: Error, Equatable {
        case audience
        case account
        case device
        case decision
        case challenge
        case age
    }

    /// Returns nil if a verdict approves the login that the statement is about, otherwise the first
    /// difference.
    ///
    /// An online verdict is bound to the module's own challenge, so its time does not matter. An
    /// offline verdict is judged by its age alone, which its holder cannot change. `now` is in
    /// seconds since 1970.
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

    /// Whether an earlier verdict is still accepted for an unreachable server.
    ///
    /// All values are in seconds, moments since 1970. A verdict issued more than `leeway` in the
    /// future is rejected, because one of the clocks is wrong.
    package static func isGood(
        issued: UInt64, forSeconds limit: UInt64, at now: UInt64
    ) -> Bool {
        guard issued <= now else { return limit > 0 && issued - now <= leeway }
        return limit > 0 && now - issued <= limit
    }
}

/// How the user was authenticated, as a statement says.
package enum Factor {
    /// A touch on a reader of this machine.
    package static var fingerprint: [UInt8] { StaticString("fingerprint").bytes }
    /// Possession of the device without a touch; sufficient only to give up what the device has.
    package static var possession: [UInt8] { StaticString("possession").bytes }
}

/// The audiences with fixed names.
package enum Audience {
    /// The PAM module of this machine.
    package static var local: [UInt8] { StaticString("local").bytes }
}
