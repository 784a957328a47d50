// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import State

extension ServerKeys {
    /// Signs with a key and sends the result to its server, as one step.
    ///
    /// No other request uses the key in between, so the server never receives counters out of
    /// order.
    ///
    /// - Parameters:
    ///   - kept: the account's records, which are looked at again once the key is free.
    ///   - patience: how long to wait while another request uses the key; nil for the relay's
    ///     limit.
    ///   - limit: how long the server may take; evaluated when it is asked.
    ///   - client: is told that the server is being asked now; nil if the PAM module waits.
    ///   - late: receives the server's answer if the request has been given up. Without it, a key
    ///     that the server no longer accepts is destroyed all the same.
    /// - Throws: `serverBusy` if the key did not become free, `cancelled`, or what `signing`
    ///   throws.
    func serverHears<Signed>(
        of key: ServerKey, account: Account, kept: AccountState, patience: Duration? = nil,
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
            signed = try await signing(try credentials.standing(of: account, kept: kept))
        } catch {
            turns.leave(credential)
            throw error
        }
        client?.tell(asking: key.server)
        return await relay.ask(request(signed), for: account.uid, within: limit()) {
            [self] answer, isLate in
            turns.leave(credential)
            guard isLate else { return }
            late?(answer) ?? heardLate(answer, of: key, account: account)
        }
    }

    /// A refusal takes effect even if the client has given up.
    private func heardLate(_ answer: RelayAnswer, of key: ServerKey, account: Account) {
        guard let url = ServerURL(key.server) else { return }
        _ = denial(of: answer, url: url, account: account, signedBy: key)
    }
}
