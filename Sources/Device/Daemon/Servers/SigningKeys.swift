// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import SignedFormats
import State

/// The account's signing key, for files and for challenges of any party; it is never the key that
/// logs in.
extension FileSigning {
    /// Throws `signingKeyExists`, or the denial of a place from which no touch is accepted.
    func checkEnabling(
        _: SigningEnableRequest, account: Account, client: any Client
    ) async throws(Denial) {
        let plan = guards.plan(for: SigningEnableRequest.self, account: account, milliseconds: .max)
        if let key = try await keys.signingKey(of: account), key.state == .good {
            throw Denial(.signingKeyExists)
        }
        try guards.checkPlace(plan, client: client)
    }

    /// Throws `noSigningKey`.
    func checkDisabling(
        _: SigningDisableRequest, account: Account, client _: any Client
    ) async throws(Denial) {
        let kept = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.servers.all().contains(where: \.isSigning)
        }
        guard kept == true else { throw Denial(.noSigningKey) }
    }

    /// Creates the signing key, after a touch.
    ///
    /// Throws `signingKeyExists` if there is a good one, even if another request created it during
    /// the touch. An invalidated key is no obstacle.
    func enableSigning(
        _: SigningEnableRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        if let key = try await keys.signingKey(of: account), key.state == .good {
            throw Denial(.signingKeyExists)
        }
        let matter = try keys.ownMatter(Bytes("make the signing key".utf8), account: account)
        let plan = guards.plan(for: SigningEnableRequest.self, account: account, milliseconds: .max)
        return try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, _) throws(Denial) in
            try await accounts.answering(account) {
                let new = try await keys.newKey(for: ServerKey.signing, snapshot: snapshot)
                let servers = snapshot.kept.servers
                // Another request may have created one meanwhile, and its public key may be in use
                // already.
                if try servers.all().contains(where: { $0.isSigning && $0.state == .good }) {
                    throw Denial(.signingKeyExists)
                }
                let key = try servers.keep(
                    new.made, as: new.identifier, context: new.context, by: new.vault,
                    at: .signing(AccountName(account.name)), state: .good, now: accounts.instant)
                self.journal.credential(of: account, change: "made", because: key.serverText)
                return .signingKey(SigningKeyAnswer(key))
            }
        }
    }

    /// Destroys the signing key, without a touch; throws `noSigningKey` if there is none.
    func disableSigning(
        _: SigningDisableRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        try await accounts.answering(account) {
            let kept = try accounts.kept(account)
            let keys = try kept?.servers.all().filter(\.isSigning) ?? []
            guard let kept, !keys.isEmpty else { throw Denial(.noSigningKey) }
            for key in keys {
                try kept.servers.remove(key)
                journal.credential(
                    of: account, change: "destroyed", because: "disabled; \(key.serverText)")
            }
            return .done(DoneAnswer(state: .disabled))
        }
    }

    /// Returns the public key and state of the signing key.
    ///
    /// Changes nothing; throws `noSigningKey`.
    func showSigningKey(
        _: SigningKeyRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard let key = try await keys.shownKeys(of: account).filter(\.isSigning).best else {
            throw Denial(.noSigningKey)
        }
        return .signingKey(SigningKeyAnswer(key))
    }
}

extension SigningKeyAnswer {
    init(_ key: ServerKey) {
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
