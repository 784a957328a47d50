import Policy
import Posix
import Statement
import Store
import Systemd
import Texts
import Wire

extension Service {
    /// A touch that signs the caller's challenge.
    func authenticate(
        _ request: AuthenticateRequest, _ account: Account, _ client: any Client
    ) async -> Answer {
        let end = clock.sinceBoot() + timeout(request)
        let session = Session(ofPeer: client.descriptor)
        if let denial = remoteDenial(request.remoteHost, session) { return .denial(denial) }
        if let denial = listDenial(request.service, account) { return .denial(denial) }
        if let denial = backgroundDenial(request, session) { return .denial(denial) }
        let lockout: Denial?
        switch await self.lockout(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): lockout = found
        }
        var wish = wish(request, account, client.peer)
        switch await presence(in: session, lockout: lockout) {
        case .deny(let denial): return .denial(denial)
        case .allow(let seat): wish.seat = seat
        }
        let server: LoginAtServer?
        switch await loginAtServer(request, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): server = found
        }
        if let server { wish.timeout = server.touchTime(of: wish.timeout) }
        if let denial = await turnDenial(wish, client) { return .denial(denial) }
        let opensKeyring = mayHavePassword(request, account, client)
        let ruling = await told(request, account) {
            await touch(
                wish, SignedMatter(request, server),
                until: end - timeout(request) + wish.timeout, client
            ) { standing in
                .allow(opensKeyring ? keyringItem(account, standing, client) : nil)
            }
        }
        switch ruling {
        case .deny(let denial):
            queue.leave()
            return .denial(denial)
        case .allow(let proof):
            return await answer(proof, wish, server, request, until: end, client)
        }
    }

    /// The proof of a touch, with what was opened by it; where a server has to say yes, with its yes.
    private func answer(
        _ proof: TouchProof, _ wish: TouchWish, _ server: LoginAtServer?,
        _ request: AuthenticateRequest, until end: Duration, _ client: any Client
    ) async -> Answer {
        let account = wish.account
        guard let server else {
            let password = await passwordToRelease(proof, account)
            settleAfterwards(proof, account, client)
            if hasSlept(since: proof) { return .denial(Denial(.suspending)) }
            release(password, request, account, client)
            return .assertion(proof.assertion)
        }
        // Before others may have it sealed anew.
        let opened = openedPassword(proof, account)
        // Before the server nothing that takes time: what is left is all for its answer.
        settleNow(proof, account, wish.asker, client)
        switch await serverProof(server, request, account, proof, until: end, client) {
        case .deny(let denial): return .denial(denial)
        case .allow(let said):
            var assertion = proof.assertion
            assertion.server = said.proof
            guard said.isYes else { return .assertion(assertion) }
            var password: SecretBytes?
            if let opened {
                password = await passwordToRelease(
                    opened, account, proof.kept, within: timeLeft(until: end))
            }
            // While it was tried, others may have acted as while the server was asked.
            if let denial = changes(since: proof, server, account) {
                if said.proof.hasTokenFile { forgetToken(of: account, from: server.key.server) }
                return .denial(denial)
            }
            release(password, request, account, client)
            return .assertion(assertion)
        }
    }

    /// Why a touch would not speak for the person who asks: they are not at this machine.
    func remoteDenial(_ remoteHost: Bytes, _ session: Session) -> Denial? {
        guard remoteHost.isEmpty else { return Denial(.remoteSession) }
        switch session.place {
        case .none, .local: return nil
        case .remote, .unknown: return Denial(.remoteSession)
        }
    }

    private func timeout(_ request: AuthenticateRequest) -> Duration {
        touchTime(request.timeoutMilliseconds)
    }

    /// How long a finger is awaited for a caller who asks for so long.
    func touchTime(_ milliseconds: UInt32) -> Duration {
        let longest = settings.duration(Settings.touchTimeout) ?? .seconds(60)
        return min(.milliseconds(Int64(milliseconds)), longest)
    }

    private func wish(
        _ request: AuthenticateRequest, _ account: Account, _ peer: PeerCredentials
    ) -> TouchWish {
        TouchWish(
            account: account, asker: Asker(request, account, peer),
            tries: min(Int(request.maximumTries), settings.count(Settings.touchTries)),
            timeout: timeout(request))
    }
}

extension SignedMatter {
    fileprivate init(_ request: AuthenticateRequest, _ server: LoginAtServer?) {
        self.init(
            namespace: .login, challenge: request.challenge, service: request.service,
            terminal: request.terminal, purpose: request.purpose, server: server?.lines)
    }
}
