import Crypto
import Loop
import Policy
import Posix
import Statement
import Store
import Systemd
import Vault
import Wire

// Servers as relying parties: a key of its own for each, made and opened by a touch, and by the
// password where it is made. What goes to a server goes through the relay.
extension Service {
    /// Fingers that may fail to match before a server's request is refused.
    private static let serverTries = 3

    /// Registers this device at a server: a touch, the code, a new key and its proof.
    ///
    /// The touch comes before the code is used up, so that a finger that does not match costs none,
    /// and since the statement that proves the key says that there was one.
    func enableServer(
        _ request: ServerEnableRequest, _ account: Account, _ client: any Client
    ) async -> Answer {
        guard let url = ServerURL(request.server), (try? ActivationCode(typed: request.code)) != nil
        else { return .denial(Denial(.badRequest)) }
        switch await serverKeys(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let keys):
            if keys.contains(where: { $0.server == url.bytes && $0.state == .good }) {
                return .denial(Denial(.knownServer, subject: url.bytes))
            }
            guard keys.count < ServerStore.limit else { return .denial(Denial(.tooManyServers)) }
        }
        let challenge: Bytes
        do throws(SystemFault) { challenge = try randomBytes(Limit.challenge) } catch {
            return .denial(denial(for: .file(.system(error)), account))
        }
        let matter = SignedMatter(server: url, "register", challenge: challenge)
        let asker = Asker("signet enable (\(account.name))")
        return await afterTouch(matter, asker, account, milliseconds: .max, client) { standing in
            await self.register(request, url, account, standing)
        }
    }

    /// A touch that answers a server's challenge, and gives its tokens.
    func loginServer(
        _ server: Bytes, milliseconds: UInt32, _ account: Account, _ client: any Client
    ) async -> Answer {
        guard let url = ServerURL(server) else { return .denial(Denial(.badRequest)) }
        let key: ServerKey
        switch await goodKey(for: url, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): key = found
        }
        let challenge: Bytes
        switch await self.challenge(for: key, LoginAction.login, url, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let given): challenge = given
        }
        let matter = SignedMatter(server: url, "log in as", key.account, challenge: challenge)
        let asker = Asker("signet login (\(account.name))")
        return await afterTouch(matter, asker, account, milliseconds: milliseconds, client) {
            standing in
            let factor = Factor.fingerprint
            switch await self.signed(
                challenge, LoginAction.login, factor, for: url, account, standing)
            {
            case .deny(let denial): return .denial(denial)
            case .allow(let (statement, signature)):
                let login = RelayLogin(
                    server: url.bytes, statement: statement, signature: signature)
                return await self.settle(
                    await self.relay.ask(.login(login)), url, account, isProven: true)
            }
        }
    }

    /// Sends the servers that an account is registered at.
    func listServers(_ account: Account, _ client: any Client) async -> Answer {
        switch await serverKeys(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let keys):
            for key in keys { await client.send(.server(ServerAnswer(key))) }
            return .done(DoneAnswer())
        }
    }

    /// A touch, its receipt in the account's chain, and then what it is for, in the same request.
    func afterTouch(
        _ matter: SignedMatter, _ asker: Asker, _ account: Account, milliseconds: UInt32,
        _ client: any Client, _ body: (Standing) async -> Answer
    ) async -> Answer {
        let timeout = touchTime(milliseconds)
        let end = clock.sinceBoot() + timeout
        let session = Session(ofPeer: client.descriptor)
        if let denial = remoteDenial([], session) { return .denial(denial) }
        if case .deny(let denial) = standing(of: account) { return .denial(denial) }
        var wish = TouchWish(
            account: account, asker: asker,
            tries: min(Self.serverTries, settings.count(Settings.touchTries)), timeout: timeout)
        switch await presence(in: session) {
        case .deny(let denial): return .denial(denial)
        case .allow(let seat): wish.seat = seat
        }
        if let denial = await turnDenial(wish, client) { return .denial(denial) }
        switch await touch(wish, matter, until: end, client) {
        case .deny(let denial):
            queue.leave()
            return .denial(denial)
        case .allow(let proof):
            // However long the server takes, the reader is free for others.
            await settleNow(proof, account)
            switch standing(of: account, proof.kept) {
            case .deny(let denial): return .denial(denial)
            case .allow(let standing): return await body(standing)
            }
        }
    }
}

extension Service {
    /// From the activation code to a key that the server knows and this device keeps.
    private func register(
        _ request: ServerEnableRequest, _ url: ServerURL, _ account: Account, _ standing: Standing
    ) async -> Answer {
        let wish = RelayRequest.register(
            server: url.bytes, code: request.code, device: state.device)
        let answer = await relay.ask(wish)
        guard case .registered(let begun) = answer else {
            return await settle(answer, url, account, isProven: false)
        }
        return await answering(account) { () async throws(StoreFault) in
            let servers = standing.kept.servers
            let identifier: Bytes
            do throws(SystemFault) { identifier = try randomBytes(16) } catch {
                throw .file(.system(error))
            }
            let context = try servers.context(
                identifier, server: url.bytes, standing.enrolment.state)
            let kind = await vaults.chosen(after: standing.credential.vault)
            let made: NewCredential
            do throws(VaultError) {
                made = try await vaults.call(kind) { vault throws(VaultError) in
                    try vault.create(context)
                }
            } catch { throw .vault(error) }
            guard try standing.kept.prints.enrolment().state == standing.enrolment.state else {
                throw .changedMeanwhile
            }
            let place = ServerPlace(server: url.bytes, begun)
            let key = try servers.keep(made, context, by: kind, at: place, now: instant)
            return try await prove(key, begun, url, account, standing)
        }
    }

    /// Proves a key that is kept already: it is taken away again unless the server knows it.
    private func prove(
        _ key: ServerKey, _ begun: RelayRegistration, _ url: ServerURL, _ account: Account,
        _ standing: Standing
    ) async throws(StoreFault) -> Answer {
        let servers = standing.kept.servers
        let text = statement(
            begun.challenge, LoginAction.register, Factor.fingerprint, key,
            standing.enrolment
        ).encoded()
        let signature: Bytes
        do throws(VaultError) {
            signature = try await sign(text, .registration, key, standing)
        } catch {
            try servers.remove(key)
            throw .vault(error)
        }
        let proof = RelayProof(
            server: url.bytes, registration: key.registration, publicKey: key.publicKey.point,
            statement: text, signature: signature)
        let answer = await relay.ask(.prove(proof))
        guard case .proven(let progress, _) = answer else {
            // Whether the server has it or not: a new code replaces it.
            try servers.remove(key)
            return await settle(answer, url, account, isProven: false)
        }
        journal.credential(of: account, "registered", because: "at \(url.text)")
        return .serverEnabled(
            ServerEnabledAnswer(
                account: key.account, application: key.application,
                fingerprint: key.fingerprint, progress: progress))
    }
}

extension SignedMatter {
    /// What the receipt of a server's business says: that a touch released the use of its key.
    fileprivate init(
        server: ServerURL, _ what: String, _ name: Bytes = [], challenge: Bytes
    ) {
        var purpose = Bytes("server \(server.text): \(what)".utf8)
        if !name.isEmpty { purpose += [0x20] + name }
        self.init(
            namespace: .secret, challenge: challenge, service: Bytes("signet".utf8),
            terminal: [], purpose: Bytes(purpose.prefix(Limit.purpose)))
    }
}

extension ServerAnswer {
    fileprivate init(_ key: ServerKey) {
        let state: ServerKeyState =
            switch key.state {
            case .good: .good
            case .invalidated: .invalidated
            case .removing: .removing
            }
        self.init(
            account: key.account, since: key.created.seconds, state: state, server: key.server,
            application: key.application, fingerprint: key.fingerprint)
    }
}

extension ServerKey {
    /// As `ssh-keygen -l` shows it; empty where cryptography itself failed.
    var fingerprint: Bytes {
        guard let digest = try? SHA256.digest(publicKey.blob) else { return [] }
        return Bytes("SHA256:".utf8)
            + Base64.encode(digest, .standard).filter { $0 != UInt8(ascii: "=") }
    }
}
