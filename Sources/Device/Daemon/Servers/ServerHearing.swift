// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import State

// How a key is used at its server: signature, request and answer are one step, during which no
// other request can use the key. A server therefore receives a key's counters in the order in which
// they were taken.
extension ServerKeys {
    /// Signs with a key and sends the result to the key's server, as one step.
    ///
    /// The key's turn is held from before the signature until the server has answered or the relay
    /// has given up, even if the caller gives up earlier. No other request uses the key in between,
    /// so the server never receives counters out of order.
    ///
    /// - Parameters:
    ///   - kept: the account's records, which are read again once the key is free.
    ///   - patience: how long to wait while another request uses the key; nil for the relay's
    ///     limit.
    ///   - limit: how long the server may take; evaluated when it is asked. Nil for the relay's
    ///     limit.
    ///   - client: the client to notify that the server is being asked now; nil if the PAM module
    ///     waits.
    ///   - signing: makes the signature, from the account's current records.
    ///   - late: receives the server's answer if the caller has given up by then. Without it, a
    ///     late refusal still destroys a key that the server no longer accepts.
    /// - Throws: `serverBusy` if the key did not become free, `cancelled`, or what `signing`
    ///   throws. A server that refuses or cannot be reached is an answer and not an error.
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
                ? Denial(.cancelled) : Denial(.serverBusy, subject: key.server.bytes)
        }
        let signed: Signed
        do throws(Denial) {
            if Task.isCancelled { throw Denial(.cancelled) }
            signed = try await signing(try credentials.revokingSnapshot(of: account, kept: kept))
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
        guard let url = CanonicalServerURL(key.server) else { return }
        _ = denial(of: answer, url: url, account: account, signedBy: key)
    }
}
