import Loop
import Posix
import Statement
import Store
import Vault
import Wire

/// The account's signing key, for files and for challenges of anybody's: never the key that logs in.
extension Service {
    /// Makes it, after a touch.
    func enableSigning(_ account: Account, _ client: any Client) async -> Answer {
        switch await signingKey(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let key?) where key.state == .good: return .denial(Denial(.signingKeyExists))
        case .allow: break
        }
        let matter: SignedMatter
        switch ownMatter(Bytes("make the signing key".utf8), account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let made): matter = made
        }
        let asker = Asker("signet enable (\(account.name))")
        return await afterTouch(matter, asker, account, milliseconds: .max, client) { standing in
            await self.answering(account) { () async throws(StoreFault) in
                let new = try await self.newKey(for: ServerKey.signing, standing)
                let servers = standing.kept.servers
                // Another request may have made one meanwhile, which somebody has been shown.
                if try servers.all().contains(where: { $0.isSigning && $0.state == .good }) {
                    return .denial(Denial(.signingKeyExists))
                }
                let key = try servers.keep(
                    new.made, new.context, by: new.vault,
                    at: .signing(Bytes(account.name.utf8)), .good, now: self.instant)
                self.journal.credential(of: account, "made", because: key.serverText)
                return .signingKey(SigningKeyAnswer(key))
            }
        }
    }

    /// Destroys it.
    func disableSigning(_ account: Account) async -> Answer {
        await answering(account) { () async throws(StoreFault) in
            guard let kept = try kept(account),
                let key = try kept.servers.all().first(where: { $0.isSigning })
            else { return .denial(Denial(.noSigningKey)) }
            try kept.servers.remove(key)
            journal.credential(
                of: account, "destroyed", because: "disabled; \(key.serverText)")
            return .done(DoneAnswer(state: .disabled))
        }
    }

    /// Tells its public half, and how it stands.
    func showSigningKey(_ account: Account) async -> Answer {
        switch await signingKey(of: account) {
        case .deny(let denial): .denial(denial)
        case .allow(nil): .denial(Denial(.noSigningKey))
        case .allow(let key?): .signingKey(SigningKeyAnswer(key))
        }
    }
}

extension SigningKeyAnswer {
    fileprivate init(_ key: ServerKey) {
        let state: ServerKeyState =
            switch key.state {
            case .good, .proving: .good
            case .invalidated, .removing: .invalidated
            }
        self.init(
            since: key.created.seconds, state: state, vault: key.vault.name,
            credential: key.identifier, publicKey: key.publicKey.point)
    }
}
