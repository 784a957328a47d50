import Loop
import Policy
import Posix
import Statement
import Store
import Wire

// Taking back a registration: the server first, then the key. A server that cannot be reached is told
// later; until then the key stays, of use for nothing else.
extension Service {
    /// Takes back a registration; `state` of the answer tells whether the server knows.
    func disableServer(_ server: Bytes, _ account: Account) async -> Answer {
        guard let url = ServerURL(server) else { return .denial(Denial(.badRequest)) }
        switch await serverKeys(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let keys):
            guard let key = keys.first(where: { $0.server == url.bytes }) else {
                return .denial(Denial(.unknownServer, subject: url.bytes))
            }
            return await answering(account) { () async throws(StoreFault) in
                guard let kept = try kept(account) else { return .denial(Denial(.notEnrolled)) }
                return .done(
                    DoneAnswer(
                        state: try await remove(key, url, account, kept)
                            ? Wire.CredentialState.none : .disabled))
            }
        }
    }

    /// Tells servers what they could not be told before.
    func finishRemovals(of account: Account) async {
        guard let kept = try? kept(account) else { return }
        let keys = (try? kept.servers.list()) ?? []
        for key in keys where key.state == .removing {
            guard let url = ServerURL(key.server) else { continue }
            do throws(StoreFault) {
                _ = try await remove(key, url, account, kept)
            } catch { journal.fault(error.description, account: account.name) }
        }
    }

    /// Whether the server knows, or will never: then nothing is kept any more.
    private func remove(
        _ key: ServerKey, _ url: ServerURL, _ account: Account, _ kept: AccountState
    ) async throws(StoreFault) -> Bool {
        // What does not open can prove nothing: the server is told by whoever runs it.
        guard key.state != .invalidated else {
            try kept.servers.remove(key)
            return true
        }
        let marked = key.state == .removing ? key : try kept.servers.beginRemoval(key)
        switch await removal(of: marked, url, account, kept) {
        case .refused(let code, _, _) where !Self.isFinal(code): return false
        case .removed, .refused:
            if let key = try kept.servers.key(for: url.bytes) { try kept.servers.remove(key) }
            journal.credential(of: account, "destroyed", because: "disabled; \(key.serverText)")
            return true
        case .unreachable, .registered, .proven, .challenge, .loggedIn, .macToken, .awaited,
            .listed,
            .operation, .decided:
            return false
        }
    }

    /// Whether a server's no means that it has no such registration any more, or none that this key
    /// could speak for; that it is busy, or out of order, means neither.
    private static func isFinal(_ code: [UInt8]) -> Bool {
        let codes = ["key-removed", "key-replaced", "key-blocked", "refused", "not-found"]
        return codes.contains(String(decoding: code, as: UTF8.self))
    }

    /// Asks the server to remove the registration; the statement says that nobody touched.
    private func removal(
        of key: ServerKey, _ url: ServerURL, _ account: Account, _ kept: AccountState
    ) async -> RelayAnswer {
        let wish = RelayChallengeWish(
            server: url.bytes, account: key.account, device: state.device,
            application: key.application, action: LoginAction.remove)
        let answer = await relay.ask(.challenge(wish))
        guard case .challenge(let challenge, key.audience, _) = answer else { return answer }
        let standing: Standing
        switch self.standing(of: account, kept) {
        case .deny: return .unreachable(why: [], isRepeatable: true)
        case .allow(let found): standing = found
        }
        let factor = Factor.possession
        switch await signed(challenge, LoginAction.remove, factor, for: url, account, standing) {
        case .deny: return .refused(code: Bytes("local".utf8), status: 0, attempts: nil)
        case .allow(let (statement, signature)):
            return await relay.ask(
                .remove(
                    server: url.bytes, registration: key.registration, statement: statement,
                    signature: signature))
        }
    }
}
