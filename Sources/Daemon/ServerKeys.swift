import Crypto
import Loop
import Policy
import Posix
import Statement
import Store
import Vault
import Wire

/// Keys for servers: which there are, what they sign, and when they end.
extension Service {
    /// An account's keys for servers, after those that do not fit the fingers any more were
    /// destroyed.
    func serverKeys(of account: Account) async -> Ruling<[ServerKey]> {
        await openTemplates(of: account)
        return reading(account) { () throws(StoreFault) in
            guard let kept = try kept(account) else { return .allow([]) }
            let enrolment = try kept.prints.enrolment()
            // Also where what a reader keeps was changed: that ends the local key, and with it these.
            _ = try credentialState(account, kept, enrolment)
            return .allow(try settledKeys(account, kept, enrolment))
        }
    }

    private func settledKeys(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> [ServerKey] {
        var keys: [ServerKey] = []
        for key in try kept.servers.list() {
            let fits = key.state == .invalidated || key.sealed(for: enrolment.state) != nil
            keys.append(fits ? key : try invalidate(key, account, kept))
        }
        return keys
    }

    /// The key for a server, if a touch could open it.
    func goodKey(for server: ServerURL, _ account: Account) async -> Ruling<ServerKey> {
        switch await serverKeys(of: account) {
        case .deny(let denial): return .deny(denial)
        case .allow(let keys):
            guard let key = keys.first(where: { $0.server == server.bytes }) else {
                return .deny(Denial(.unknownServer, subject: server.bytes))
            }
            switch key.state {
            case .good: return .allow(key)
            case .removing: return .deny(Denial(.unknownServer, subject: server.bytes))
            case .invalidated:
                return .deny(Denial(.serverKeyInvalidated, subject: server.bytes))
            }
        }
    }

    /// Destroys all of an account's keys for servers: the fingers that they were made for are gone,
    /// or cannot be told from others any more.
    func invalidateServerKeys(
        _ account: Account, _ kept: AccountState
    ) throws(StoreFault) {
        for key in try kept.servers.list() where key.state != .invalidated {
            _ = try invalidate(key, account, kept)
        }
    }

    @discardableResult
    func invalidate(
        _ key: ServerKey, _ account: Account, _ kept: AccountState
    ) throws(StoreFault) -> ServerKey {
        journal.credential(
            of: account, "destroyed", because: "the fingers changed; \(key.serverText)")
        return try kept.servers.invalidate(key)
    }

    /// Seals keys that open to some fingers to others as well: before a template is exchanged for a
    /// better one. Throws where one cannot be, and the old template is good enough then.
    func resealServerKeys(
        _ kept: AccountState, from old: EnrolmentState, to new: EnrolmentState
    ) async throws(StoreFault) {
        for key in try kept.servers.list() {
            guard let sealed = key.sealed(for: old) else { continue }
            let before = try kept.servers.context(key.identifier, server: key.server, old)
            let after = try kept.servers.context(key.identifier, server: key.server, new)
            let resealed: [UInt8]
            do throws(VaultError) {
                resealed = try await vaults.call(key.vault) { vault throws(VaultError) in
                    try vault.reseal(key: sealed, from: before, to: after)
                }
            } catch { throw .vault(error) }
            try kept.servers.add(resealed, for: new, to: key, fitting: old)
        }
    }
}

extension Service {
    /// A challenge of a server's for a key; no, where it is for another audience.
    func challenge(
        for key: ServerKey, _ action: Bytes, _ url: ServerURL, _ account: Account
    ) async -> Ruling<Bytes> {
        let wish = RelayChallengeWish(
            server: url.bytes, account: key.account, device: state.device,
            application: key.application, action: action)
        let answer = await relay.ask(.challenge(wish))
        guard case .challenge(let challenge, let audience, _) = answer else {
            return .deny(await denial(of: answer, url, account, isProven: false))
        }
        guard audience == key.audience else {
            return .deny(Denial(.serverRefused, subject: Bytes("audience".utf8)))
        }
        return .allow(challenge)
    }

    /// Opens a server's key with the fingers as they are now, and signs; the counter is on disk
    /// before. A key that does not open is destroyed.
    func signed(
        _ challenge: Bytes, _ action: Bytes, _ factor: Bytes, for url: ServerURL,
        _ account: Account, _ standing: Standing
    ) async -> Ruling<(Bytes, Bytes)> {
        let servers = standing.kept.servers
        do throws(StoreFault) {
            guard var key = try servers.key(for: url.bytes), key.state != .invalidated else {
                return .deny(Denial(.unknownServer, subject: url.bytes))
            }
            guard key.sealed(for: standing.enrolment.state) != nil else {
                _ = try invalidate(key, account, standing.kept)
                return .deny(Denial(.serverKeyInvalidated, subject: url.bytes))
            }
            key = try servers.advance(key)
            let text = statement(challenge, action, factor, key, standing.enrolment).encoded()
            do throws(VaultError) {
                return .allow((text, try await sign(text, .login, key, standing)))
            } catch .doesNotOpen {
                _ = try invalidate(key, account, standing.kept)
                return .deny(Denial(.serverKeyInvalidated, subject: url.bytes))
            } catch { throw StoreFault.vault(error) }
        } catch {
            return .deny(denial(for: error, account))
        }
    }

    /// What a server's key signs.
    func statement(
        _ challenge: Bytes, _ action: Bytes, _ factor: Bytes, _ key: ServerKey,
        _ enrolment: Enrolment
    ) -> LoginStatement {
        LoginStatement(
            head: StatementHead(
                audience: key.audience, account: key.account, device: state.device,
                credential: key.identifier),
            challenge: challenge, action: action, service: Bytes("signet".utf8), terminal: [],
            purpose: [],
            claims: StatementClaims(
                factor: factor,
                integrity: Integrity(
                    key: key.vault == .tpm ? .tpm : .file,
                    secureBoot: Firmware.secureBoot(at: secureBootVariable)),
                enrolment: enrolment.state.generation, counter: key.counter, issued: instant))
    }

    /// The SSHSIG blob over a text, by a server's key.
    func sign(
        _ text: Bytes, _ namespace: SignatureNamespace, _ key: ServerKey, _ standing: Standing
    ) async throws(VaultError) -> Bytes {
        guard let sealed = key.sealed(for: standing.enrolment.state) else { throw .doesNotOpen }
        let context: SealingContext
        do throws(StoreFault) {
            context = try standing.kept.servers.context(
                key.identifier, server: key.server, standing.enrolment.state)
        } catch { throw .malformed }
        let digest: Bytes
        do throws(CryptoFault) { digest = try SHA256.digest(text) } catch { throw .crypto(error) }
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        let numbers = try await vaults.call(key.vault) { vault throws(VaultError) in
            let ready = try vault.ready(key: sealed, context)
            defer { ready.release() }
            return try ready.sign(data, context)
        }
        return SSHSignature(
            publicKey: key.publicKey, namespace: namespace, r: numbers.r, s: numbers.s
        ).blob
    }
}

extension Service {
    /// The answer to the client that a server's answer becomes.
    ///
    /// - Parameter isProven: whether the request was signed with the key that the answer is about.
    func settle(
        _ answer: RelayAnswer, _ url: ServerURL, _ account: Account, isProven: Bool
    ) async -> Answer {
        switch answer {
        case .loggedIn(let tokens):
            .token(
                TokenAnswer(
                    accessToken: tokens.accessToken, seconds: tokens.seconds,
                    refreshToken: tokens.refreshToken))
        case .registered, .proven, .challenge, .removed, .refused, .unreachable, .macToken,
            .awaited, .listed, .operation, .decided:
            .denial(await denial(of: answer, url, account, isProven: isProven))
        }
    }

    /// Why a server gave nothing; a key that is not good there any more is destroyed, if the server
    /// has seen by its signature whose it is.
    func denial(
        of answer: RelayAnswer, _ url: ServerURL, _ account: Account, isProven: Bool
    ) async -> Denial {
        if Task.isCancelled { return Denial(.cancelled) }
        switch answer {
        case .unreachable(let why, _):
            return Denial(.serverUnreachable, subject: why)
        case .refused(let code, _, _):
            switch String(decoding: code, as: UTF8.self) {
            case "activation-refused": return Denial(.activationRefused)
            case "key-blocked": return Denial(.serverKeyBlocked, subject: url.bytes)
            case "key-replaced" where isProven:
                return destroyed(.serverKeyReplaced, url, account)
            case "key-removed" where isProven:
                return destroyed(.serverKeyRemoved, url, account)
            default: return Denial(.serverRefused, subject: code)
            }
        case .registered, .proven, .challenge, .loggedIn, .removed, .macToken, .awaited,
            .listed, .operation, .decided:
            return Denial(.serverUnreachable, subject: Bytes("another answer than asked".utf8))
        }
    }

    func destroyed(
        _ reason: DenialReason, _ url: ServerURL, _ account: Account
    ) -> Denial {
        do throws(StoreFault) {
            if let kept = try kept(account), let key = try kept.servers.key(for: url.bytes) {
                try kept.servers.remove(key)
                journal.credential(of: account, "destroyed", because: "\(reason): \(url.text)")
            }
            return Denial(reason, subject: url.bytes)
        } catch {
            return denial(for: error, account)
        }
    }
}

extension ServerKey {
    /// For the journal.
    var serverText: String { "it was for \(String(decoding: server, as: UTF8.self))" }
}
