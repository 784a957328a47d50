// SPDX-License-Identifier: Apache-2.0
import Domain

/// What a relying party knows before a statement arrives, and therefore demands of it.
///
/// `mismatch(with:)` compares only the contents. The caller verifies the signature as well, and
/// checks with `isCurrent` that the statement is recent.
package struct Expectation: Sendable {
    /// The relying party's own name.
    package var audience: Audience
    /// The name of the account that it requested a touch for.
    package var account: AccountName
    /// That account's uid.
    package var uid: UInt32
    /// The requester that the application named (PAM_RUSER); empty if it named none.
    package var requester: AccountName
    /// The random challenge that the relying party sent with its request.
    package var challenge: Challenge
    /// The PAM service in the request.
    package var service: ServiceName
    /// The terminal in the request.
    package var terminal: [UInt8]
    /// The purpose in the request.
    package var purpose: [UInt8]
    /// The digest of the command line in the request, 32 bytes; empty if there was none.
    package var command: [UInt8]
    /// The id of the registered credential.
    package var credential: CredentialID
    /// The server that must approve the login as well; nil if none is required.
    package var server: ServerExpectation?

    /// Creates an expectation.
    package init(
        audience: Audience, account: AccountName, uid: UInt32, requester: AccountName,
        challenge: Challenge,
        service: ServiceName, terminal: [UInt8], purpose: [UInt8], command: [UInt8],
        credential: CredentialID, server: ServerExpectation? = nil
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

    /// Compares a statement with this request; returns the first difference, or nil if there is
    /// none.
    ///
    /// Every value that the relying party sent must be repeated exactly, with the challenge among
    /// them, so a statement for another request never passes. The version must be the current one,
    /// the factor must be `fingerprint`, and the lines about a server must be present exactly if a
    /// server is required. The requester is checked more loosely; see `isRequester`. Not compared
    /// are the device, the generation, the counter, the previous receipt and the time.
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

    /// How far a statement's time may deviate from the relying party's clock, in seconds, in
    /// addition to the permitted age.
    package static let leeway: UInt64 = 5

    /// Whether a statement was signed at most `seconds` before `now`, with a tolerance of `leeway`.
    ///
    /// `now` is in seconds since 1970. A statement from the future is accepted only within
    /// `leeway`.
    package static func isCurrent(
        _ statement: Statement, at now: UInt64, within seconds: UInt64
    ) -> Bool {
        let issued = statement.issued.seconds
        guard issued <= now else { return issued - now <= leeway }
        return now - issued <= seconds + leeway
    }

    /// Whether a statement's requester is acceptable.
    ///
    /// It must not be empty, and if the application named a user other than the account, it must
    /// not be the account itself. It need not be the user that the application named, because the
    /// daemon knows better: after `su bob`, sudo names bob, but the session is alice's.
    private func isRequester(_ said: AccountName) -> Bool {
        let isOther = !requester.isEmpty && requester != account
        return !said.isEmpty && (!isOther || said != account)
    }

    /// Whether the lines about a server are the expected ones.
    ///
    /// They must be absent if no server is required. Otherwise the URL must be equal, the mode
    /// `.online` unless the configuration allows `.offline`, and the account's name at the server
    /// equal to the local one unless the configuration allows another.
    private func isServer(_ said: ServerLines?) -> Bool {
        guard let server, let said else { return self.server == nil && said == nil }
        guard said.url == server.url else { return false }
        guard said.mode == .online || server.mayBeOffline else { return false }
        return server.mayDiffer || said.account.bytes == account.bytes
    }
}

/// The demands on the lines of a local statement about the server that must approve the login.
package struct ServerExpectation: Sendable {
    /// The server's URL in normal form.
    package var url: ServerURL
    /// Whether an earlier verdict is accepted while the server is unreachable.
    package var mayBeOffline: Bool
    /// Whether the account's name at the server may differ from its name on this machine.
    package var mayDiffer: Bool

    /// Creates an expectation.
    package init(url: ServerURL, mayBeOffline: Bool, mayDiffer: Bool) {
        self.url = url
        self.mayBeOffline = mayBeOffline
        self.mayDiffer = mayDiffer
    }
}

/// The demands on a server's verdict, once the local statement has been verified.
///
/// Contents only: the caller must also verify the verdict's signature, with the server's pinned key
/// and in the namespace `verdict@signet`.
package struct VerdictExpectation: Sendable {
    /// The server's name, as the configuration has it.
    package var audience: Audience
    /// The account's name on this machine.
    package var local: AccountName
    /// The random challenge of the PAM module for this login.
    package var challenge: Challenge
    /// How long an earlier verdict is accepted while the server is unreachable, in seconds; 0 for
    /// never.
    package var offlineSeconds: UInt64

    /// How far the server's clock may be ahead of this machine's clock, in seconds.
    package static let leeway: UInt64 = 300

    /// Creates an expectation.
    package init(
        audience: Audience, local: AccountName, challenge: Challenge, offlineSeconds: UInt64
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

    /// Checks that a verdict approves the login of a statement; returns the first difference or
    /// nil.
    ///
    /// The verdict must be `allow`, for this account, device and audience. An online verdict must
    /// repeat the module's own challenge, so its times do not matter. An offline verdict is bound
    /// to no challenge and is judged by its age alone: it must have been issued at most
    /// `offlineSeconds` before `now`, in seconds since 1970. `expires` is not examined; it is for
    /// other verifiers.
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

    /// Whether an earlier verdict is still accepted while the server is unreachable.
    ///
    /// All values are in seconds; `issued` and `now` count from 1970. With a limit of 0 no verdict
    /// is accepted. One that was issued more than `leeway` in the future is rejected, because one
    /// of the clocks must be wrong.
    package static func isGood(
        issued: UInt64, forSeconds limit: UInt64, at now: UInt64
    ) -> Bool {
        guard issued <= now else { return limit > 0 && issued - now <= leeway }
        return limit > 0 && now - issued <= limit
    }
}

/// The values of the line `factor`, which says how the user was authenticated.
package enum Factor {
    /// A touch on a reader of this machine.
    package static var fingerprint: [UInt8] { StaticString("fingerprint").bytes }
    /// The account's password, checked on this machine; signed with its own key.
    ///
    /// Never in a local statement: only servers accept it, where an application's policy or an
    /// operation's template says so.
    package static var password: [UInt8] { StaticString("password").bytes }
    /// Possession of the device, without a touch; sufficient only to give up rights that the device
    /// has.
    package static var possession: [UInt8] { StaticString("possession").bytes }
}

extension Audience {
    /// The PAM module of this machine.
    package static var local: Audience { Audience(StaticString("local").bytes) }
}
