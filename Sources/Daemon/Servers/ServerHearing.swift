// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Policy
import Posix
import Store

extension ServerKeys {
    /// Signs by a key and has its server hear it before anything else that the key signs.
    ///
    /// - Parameters:
    ///   - kept: what is kept for the account; how it stands is looked at when the turn has come.
    ///   - patience: how long another request may have the key.
    ///   - limit: how long the server may take; found out when it is asked.
    ///   - client: hears that the server is asked now; not where the PAM module waits.
    ///   - late: hears what the server says when nobody waits for it any more; without it, a key that
    ///     is not good there any more is destroyed all the same.
    func serverHears<Signed>(
        of key: ServerKey, _ account: Account, _ kept: AccountState, patience: Duration? = nil,
        within limit: () -> Duration? = { nil }, telling client: (any Client)? = nil,
        signing: (AccountSnapshot) async throws(Denial) -> Signed,
        _ request: (Signed) -> RelayRequest,
        late: (@ServiceActor (RelayAnswer) -> Void)? = nil
    ) async throws(Denial) -> RelayAnswer {
        let credential = key.identifier
        guard await turns.take(credential, within: patience ?? relay.limit) else {
            throw Task.isCancelled
                ? Denial(.cancelled) : Denial(.serverBusy, subject: key.server)
        }
        let signed: Signed
        do throws(Denial) {
            if Task.isCancelled { throw Denial(.cancelled) }
            signed = try await signing(try credentials.standing(of: account, kept))
        } catch {
            turns.leave(credential)
            throw error
        }
        client?.tell(asking: key.server)
        return await relay.ask(request(signed), for: account.uid, within: limit()) {
            [self] answer, isLate in
            turns.leave(credential)
            guard isLate else { return }
            late?(answer) ?? heardLate(answer, of: key, account)
        }
    }

    /// Giving up does not undo a no.
    private func heardLate(_ answer: RelayAnswer, of key: ServerKey, _ account: Account) {
        guard let url = ServerURL(key.server) else { return }
        _ = denial(of: answer, url, account, signedBy: key)
    }
}
