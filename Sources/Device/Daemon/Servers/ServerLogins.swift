// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Logins on this machine that a server has to approve as well.
///
/// The server gives a challenge before the touch and an approval (a signed verdict) after it. If it
/// cannot be reached and the administrator allows offline logins for some hours, its last verdict
/// is used instead. A refusal deletes that verdict, so that cutting the network does not help a
/// user who was refused. The module verifies the verdict's signature itself; see
/// `Sources/Module/ServerLogin.swift`.
@ServiceActor
final class ServerLogins {
    let boot: Bytes
    let clock: Clock
    let journal: DecisionJournal
    let relay: RelayClient
    let state: StateDirectory
    let accounts: Accounts
    let credentials: Credentials
    let keys: ServerKeys
    let sessionTokens: SessionTokens
    let touches: Touches

    init(
        boot: Bytes, clock: Clock, journal: DecisionJournal, relay: RelayClient,
        state: StateDirectory, accounts: Accounts, credentials: Credentials, keys: ServerKeys,
        sessionTokens: SessionTokens, touches: Touches
    ) {
        self.boot = boot
        self.clock = clock
        self.journal = journal
        self.relay = relay
        self.state = state
        self.accounts = accounts
        self.credentials = credentials
        self.keys = keys
        self.sessionTokens = sessionTokens
        self.touches = touches
    }
}

extension ServerLogins {
    /// How long a server may take to give a challenge, and the relay to start before.
    ///
    /// The user is waiting for the prompt, and is told so.
    private static let challengeTime = Duration.seconds(15)
    /// After this time, the relay itself reports that there is no connection, which must be
    /// distinguished from a busy relay.
    private static let connectMilliseconds: UInt32 = 2_500
    /// How long the server may take for its verdict after the touch.
    private static let verdictTime = Duration.seconds(10)
    /// How much of the module's time must be left when the answer is sent.
    private static let margin = Duration.milliseconds(500)
    /// If less time than this is left, the server is not asked.
    private static let leastTime = Duration.seconds(1)
    /// The maximum age of a challenge when it is signed.
    ///
    /// Servers accept a challenge for 60 seconds.
    static let challengeAge = Duration.seconds(45)
    /// How old a challenge may be when the server answers.
    private static let challengeLife = Duration.seconds(58)

    /// Prepares a login at a server before the touch; nil if the request names no server.
    ///
    /// It establishes first that the server can be asked, or need not be, so that the user does not
    /// touch the reader in vain. Offline mode is chosen only if there is no connection,
    /// `offlineHours` is not zero, and the cached verdict is valid. Throws `badRequest`,
    /// `unknownServer`, `serverUnreachable`, `serverTooLongAgo` or `clockSetBack`, among others.
    func loginAtServer(
        _ request: AuthenticateRequest, account: Account
    ) async throws(Denial) -> LoginAtServer? {
        guard let serverRequest = request.server else { return nil }
        guard let url = CanonicalServerURL(serverRequest.url) else { throw Denial(.badRequest) }
        let key = try await keys.goodKey(for: url, account: account)
        guard key.audience == serverRequest.audience else {
            throw Denial(.unknownServer, subject: url.bytes)
        }
        switch await challengeInTime(key, url: url, account: account) {
        case .given(let challenge, let moment, let required):
            do throws(Denial) {
                try keys.check(required, by: .finger, key: key)
            } catch {
                try forgetYes(of: key, account: account)
                // Logins have no word for a server that accepts passwords only.
                throw error.reason == .fingerNotAccepted ? .policy(.factor) : error
            }
            let mode = LoginAtServer.Mode.online(challenge: challenge, at: moment)
            return LoginAtServer(url: url, key: key, serverRequest: serverRequest, mode: mode)
        case .away(let why):
            guard serverRequest.offlineHours > 0 else {
                throw Denial(.serverUnreachable, subject: why)
            }
            _ = try keptYes(serverRequest, key: key, account: account)
            return LoginAtServer(url: url, key: key, serverRequest: serverRequest, mode: .offline)
        case .denied(let denial): throw denial
        }
    }

    /// A challenge with a time since boot before its issue, no connection to the server, or a
    /// denial.
    private enum AskedChallenge {
        case given(Challenge, at: Duration, requires: RelayRequirements)
        case away(Bytes)
        case denied(Denial)
    }

    /// Asks for a challenge, and tells a server without a connection (`away`) from every other
    /// failure.
    private func challengeInTime(
        _ key: ServerKey, url: CanonicalServerURL, account: Account,
        within limit: Duration = challengeTime
    ) async -> AskedChallenge {
        let moment = clock.sinceBoot()
        let challengeRequest = RelayChallengeRequest(
            server: ServerURL(url), account: key.account, device: state.device,
            application: key.application, action: LoginAction.login,
            milliseconds: Self.connectMilliseconds)
        let answer = await relay.ask(
            .challenge(challengeRequest), for: account.uid, within: limit)
        if Task.isCancelled { return .denied(Denial(.cancelled)) }
        switch answer {
        case .challenge(let challenge, key.audience, _, let required):
            return .given(challenge, at: moment, requires: required)
        case .challenge: return .denied(Denial(.serverRefused, subject: Bytes("audience".utf8)))
        // Nothing else counts as unreachable: keeping the relay busy must not turn a login into an
        // offline one.
        case .unreachable(let why, _, isAway: true): return .away(why)
        case .refused(let code, _, _) where code == ServerProblem.unavailable.bytes:
            return .denied(Denial(.serverUnreachable, subject: code))
        case .unreachable, .refused, .registered, .proven, .loggedIn, .removed, .macToken,
            .awaited, .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            return .denied(keys.denial(of: answer, url: url, account: account, signedBy: nil))
        }
    }

    /// Deletes a server's cached verdict and its token file, so that cutting the network does not
    /// help after a policy that refuses this device.
    private func forgetYes(of key: ServerKey, account: Account) throws(Denial) {
        try accounts.reading(account) {
            try accounts.kept(account)?.servers.forgetVerdict(for: key)
        }
        sessionTokens.forgetToken(of: account, from: key.server)
    }

    /// The cached verdict that stands in for a server that cannot be reached.
    ///
    /// It must be signed by the key that root has configured, and be younger than `offlineHours`.
    /// Its age is judged by the wall clock, but is at least what the verdict and the receipts prove
    /// about the time. Throws `serverTooLongAgo` if there is no good verdict, and `clockSetBack` if
    /// the clock is behind that proven time by more than the leeway.
    private func keptYes(
        _ serverRequest: ServerLoginRequest, key: ServerKey, account: Account
    ) throws(Denial) -> CachedVerdict {
        try accounts.reading(account) {
            var denial = Denial(.serverTooLongAgo, subject: key.server.bytes)
            guard let kept = try accounts.kept(account),
                let found = try kept.servers.verdict(for: key),
                isSigned(found, by: serverRequest.key)
            else { throw denial }
            let issued = found.verdict.issued.seconds
            let known = found.now(boot: boot, moment: clock.wholeSeconds)
            let floor = max(known, try kept.receipts().latest()?.seconds ?? 0)
            let wall = accounts.instant.seconds
            guard wall >= floor || floor - wall <= VerdictExpectation.leeway else {
                denial.reason = .clockSetBack
                denial.since = floor
                throw denial
            }
            denial.since = issued
            let isGood = VerdictExpectation.isGood(
                issued: issued, forSeconds: UInt64(serverRequest.offlineHours) * 3_600,
                at: max(wall, floor))
            guard isGood else { throw denial }
            return found
        }
    }

    /// Whether a verdict was signed by the key that root has configured; otherwise it is no
    /// approval and no evidence of the time.
    private func isSigned(_ verdict: CachedVerdict, by key: PublicKeyPoint) -> Bool {
        do throws(CryptoFault) {
            return try P256PublicKey(point: key.bytes).verifies(
                blob: verdict.signature, of: verdict.text, in: .verdict)
        } catch { return false }
    }
}

extension ServerLogins {
    /// Obtains the server's verdict after the touch, or uses the cached one.
    ///
    /// `end` is the time since boot at which the module gives up, but for the time of the key's
    /// signature. Nothing is awaited between the
    /// last check for changes and the return. Throws `serverLost` if the server does not answer in
    /// time, the denial of a refusal, and what `checkChanges` throws.
    func serverProof(
        _ login: LoginAtServer, request: AuthenticateRequest, account: Account,
        proof: TouchProof, until end: Duration, client: any Client
    ) async throws(Denial) -> ServerReply {
        switch login.mode {
        case .offline:
            try checkChanges(since: proof, login: login, account: account)
            // While the finger was awaited, the server may have refused or approved another login.
            let verdict = try keptYes(login.serverRequest, key: login.key, account: account)
            let day = String(decoding: verdict.verdict.issued.text, as: UTF8.self)
            journal.service("\(account.name) uses the approval of \(login.url.text) of \(day)")
            let given = ServerProof(verdict: verdict.text, signature: verdict.signature)
            return ServerReply(proof: given, isYes: true)
        case .online(var challenge, var moment):
            // The second signature may take the TPM as long as the first.
            if clock.sinceBoot() - moment + proof.touch.match.age > Self.challengeAge {
                let limit = min(Self.challengeTime, timeLeft(until: end) - Self.leastTime)
                switch await challengeInTime(
                    login.key, url: login.url, account: account, within: limit)
                {
                case .given(let fresh, let now, _): (challenge, moment) = (fresh, now)
                case .denied(let denial) where denial.reason != .serverUnreachable: throw denial
                case .away, .denied: throw Denial(.serverLost, subject: login.url.bytes)
                }
            }
            let tokens = try await logIn(
                login, challenge: challenge, of: moment, request: request, account: account,
                proof: proof, until: end)
            try checkChanges(since: proof, login: login, account: account)
            return try accepted(
                tokens, login: login, request: request, account: account, kept: proof.kept,
                client: client)
        }
    }

    /// Throws if an approval must no longer be used.
    ///
    /// While the server was asked, the fingers may have changed, login may have been disabled, the
    /// key may have been given up, or the machine may have been suspended.
    func checkChanges(
        since proof: TouchProof, login: LoginAtServer, account: Account
    ) throws(Denial) {
        if touches.hasSlept(since: proof) { throw Denial(.suspending) }
        let snapshot = try credentials.revokingSnapshot(of: account, since: proof.snapshot)
        let key = try accounts.reading(account) { () throws(StoreFault) in
            try proof.kept.servers.key(login.key.identifier)
        }
        guard let key, key.state == .good || key.state == .invalidated else {
            throw Denial(.unknownServer, subject: login.url.bytes)
        }
        guard key.state == .good, key.sealed(for: snapshot.enrolment.state) != nil else {
            throw Denial(.serverKeyInvalidated, subject: login.url.bytes)
        }
        guard snapshot.credential.identifier == proof.credential.identifier else {
            throw Denial(.badRequest)
        }
    }

    /// How much time is left for an answer that has to be sent by `end`, a time since boot.
    func timeLeft(until end: Duration) -> Duration { end - clock.sinceBoot() - Self.margin }

    /// Signs the server's challenge, which it gave at `moment`, and sends it, within the time that is
    /// left; the TPM's is added to it.
    ///
    /// A server that receives a challenge too late refuses the login because of the challenge alone.
    /// The purpose in the statement binds it to the module's challenge and the local account.
    private func logIn(
        _ login: LoginAtServer, challenge: Challenge, of moment: Duration,
        request: AuthenticateRequest, account: Account, proof: TouchProof, until end: Duration
    ) async throws(Denial) -> RelayTokens {
        var signing = Duration.zero
        let left = { [self] in
            timeLeft(until: min(end + signing, moment + Self.challengeLife + Self.margin))
        }
        let kept = proof.kept
        guard left() > Self.leastTime else {
            throw Denial(.serverLost, subject: login.url.bytes)
        }
        let answer = try await keys.serverHears(
            of: login.key, account: account, kept: kept, patience: left() - Self.leastTime,
            within: { min(Self.verdictTime, left()) }
        ) { (snapshot) throws(Denial) in
            // An approval that comes too late would be useless. The time until now was spent
            // waiting for another request, hence `serverBusy`.
            guard left() > Self.leastTime else {
                throw Denial(.serverBusy, subject: login.url.bytes)
            }
            let begun = clock.sinceBoot()
            let signed = try await keys.signed(
                challenge, action: LoginAction.login, by: login.key, account: account,
                snapshot: snapshot, for: .finger(proof.touch),
                service: request.service,
                purpose: ModulePurpose.text(request.challenge, local: request.account))
            signing = clock.sinceBoot() - begun
            // A challenge that is stale by now would be refused, which counts as a refusal of the login.
            guard left() > Self.leastTime else {
                throw Denial(.serverLost, subject: login.url.bytes)
            }
            return signed
        } _: { statement, signature in
            .login(
                RelayLogin(
                    server: ServerURL(login.url), statement: statement, signature: signature,
                    module: RelayModule(challenge: request.challenge, account: request.account)))
        } late: { [self] answer in
            // A refusal takes effect even if the client has given up.
            _ = try? self.tokens(in: answer, login: login, account: account, kept: kept)
        }
        let tokens = try tokens(in: answer, login: login, account: account, kept: kept)
        guard left() + Self.margin > .zero else {
            throw Denial(.serverLost, subject: login.url.bytes)
        }
        return tokens
    }

    /// The tokens of an approval.
    ///
    /// A verdict that denies is treated like any other refusal.
    private func tokens(
        in answer: RelayAnswer, login: LoginAtServer, account: Account, kept: AccountState
    ) throws(Denial) -> RelayTokens {
        guard case .loggedIn(let tokens) = answer else {
            throw denial(of: answer, login: login, account: account, kept: kept)
        }
        guard let text = tokens.verdict?.statement, let verdict = try? Verdict(parsing: text),
            verdict.decision == .deny
        else { return tokens }
        let no = RelayAnswer.refused(code: Bytes("deny".utf8), status: 200, attempts: nil)
        throw denial(of: no, login: login, account: account, kept: kept)
    }

    /// The proof for the module, from the server's answer; a valid verdict is cached for offline
    /// logins.
    ///
    /// An invalid verdict is passed on too, so that the module raises its alert, but has no other
    /// effect. Tokens are passed on as the module's request says; a token file is written only for
    /// a root client.
    private func accepted(
        _ tokens: RelayTokens, login: LoginAtServer, request: AuthenticateRequest,
        account: Account, kept: AccountState, client: any Client
    ) throws(Denial) -> ServerReply {
        guard let verdict = tokens.verdict else {
            throw Denial(.serverRefused, subject: Bytes("no verdict".utf8))
        }
        let found = CachedVerdict(
            text: verdict.statement, signature: verdict.signature, boot: boot,
            moment: clock.wholeSeconds)
        guard let found, found.verdict.isAbout(login, request: request, device: state.device),
            isSigned(found, by: login.serverRequest.key)
        else {
            journal.fault("the server's approval is invalid", account: account.name)
            let given = ServerProof(verdict: verdict.statement, signature: verdict.signature)
            return ServerReply(proof: given, isYes: false)
        }
        do throws(StoreFault) {
            try kept.servers.keep(found, for: login.key)
            // Any account may ask, and name any server and key, so only requests by root count.
            if client.peer.uid == 0 { try correctLatest(by: found.verdict, kept: kept) }
        } catch { journal.fault(error.description, account: account.name) }
        var token: Bytes?
        var hasFile = false
        switch login.serverRequest.token {
        case .answer: token = tokens.accessToken
        // Only if root asks: files in root's directory are for sessions that root opens.
        case .file where client.peer.uid == 0:
            hasFile = sessionTokens.keepToken(tokens, from: login.key.server, for: account)
        case .file, nil: break
        }
        let given = ServerProof(
            verdict: verdict.statement, signature: verdict.signature, accessToken: token,
            hasTokenFile: hasFile)
        return ServerReply(proof: given, isYes: true)
    }

    /// Corrects the latest time known from receipts by a fresh verdict.
    ///
    /// Otherwise, one touch while the clock was ahead would prevent offline logins for ever. The
    /// time does not fall below the newest verdict of any server, so that none of them appears
    /// younger than it is.
    private func correctLatest(
        by verdict: Verdict, kept: AccountState
    ) throws(StoreFault) {
        let (receipts, leeway) = (try kept.receipts(), VerdictExpectation.leeway)
        guard let latest = try receipts.latest(), latest.seconds > verdict.issued.seconds + leeway
        else { return }
        var known = verdict.issued
        for key in try kept.servers.list() {
            known = max(known, try kept.servers.verdict(for: key)?.verdict.issued ?? known)
        }
        try receipts.correct(to: known, leeway: leeway)
    }

    /// The denial if a server that gave a challenge did not approve the login.
    ///
    /// After a refusal, the server's cached verdict and its token file are deleted, so that cutting
    /// the network does not help. A server that is unavailable or asks to slow down has refused
    /// nothing.
    private func denial(
        of answer: RelayAnswer, login: LoginAtServer, account: Account, kept: AccountState
    ) -> Denial {
        switch answer {
        // A refusal takes effect even if the client has given up.
        case .refused(let code, _, _):
            let passing = [ServerProblem.unavailable.bytes, ServerProblem.slowDown.bytes]
            if !passing.contains(code) {
                do throws(StoreFault) {
                    try kept.servers.forgetVerdict(for: login.key)
                } catch { return accounts.denial(for: error, account: account) }
                sessionTokens.forgetToken(of: account, from: login.key.server)
            }
            return keys.denial(of: answer, url: login.url, account: account, signedBy: login.key)
        case .registered, .proven, .challenge, .loggedIn, .removed, .unreachable, .macToken,
            .awaited, .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            return Task.isCancelled
                ? Denial(.cancelled) : Denial(.serverLost, subject: login.url.bytes)
        }
    }
}

extension Verdict {
    /// Whether the verdict is about this login.
    ///
    /// The signature is verified separately, also by the module.
    fileprivate func isAbout(
        _ login: LoginAtServer, request: AuthenticateRequest, device: DeviceID
    ) -> Bool {
        module == request.challenge && local == request.account && self.device == device
            && audience == login.key.audience && account == login.key.account
    }
}

extension ServerProblem {
    /// The code as a server sends it.
    fileprivate var bytes: Bytes { Bytes(rawValue.utf8) }
}

extension Clock {
    /// Whole seconds since boot.
    fileprivate var wholeSeconds: UInt64 { UInt64(clamping: sinceBoot().components.seconds) }
}
