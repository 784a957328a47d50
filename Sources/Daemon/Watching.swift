import Gate
import Loop
import Posix
import Wire

/// Who hears of touches that are asked for without a terminal, where no prompt says who asks.
@ServiceActor
final class Watchers {
    private var watchers: [ObjectIdentifier: (uid: UInt32, client: any Client)] = [:]
    private var touches: [UInt64: (uid: UInt32, began: EventAnswer)] = [:]
    private var lastNumber: UInt64 = 0

    /// Tells a client of an account's touches from now on, those under way first.
    func add(_ client: any Client, for account: Account) {
        watchers[ObjectIdentifier(client)] = (account.uid, client)
        for number in touches.keys.sorted() {
            guard let touch = touches[number], touch.uid == account.uid else { continue }
            client.post(.event(touch.began))
        }
    }

    /// Tells a client nothing any more.
    func remove(_ client: any Client) {
        watchers[ObjectIdentifier(client)] = nil
    }

    /// Tells that a touch is asked for; the number is for `ended`.
    func began(
        _ request: AuthenticateRequest, by requester: Requester, of account: Account
    ) -> UInt64 {
        lastNumber += 1
        let event = EventAnswer(
            account: request.account, service: request.service, requester: requester.name,
            purpose: request.purpose, isOver: false, number: lastNumber)
        touches[lastNumber] = (account.uid, event)
        tell(event, account.uid)
        return lastNumber
    }

    /// Tells that it is over.
    func ended(_ number: UInt64) {
        guard let touch = touches.removeValue(forKey: number) else { return }
        var event = touch.began
        event.isOver = true
        tell(event, touch.uid)
    }

    private func tell(_ event: EventAnswer, _ uid: UInt32) {
        for watcher in watchers.values where watcher.uid == uid {
            watcher.client.post(.event(event))
        }
    }
}

extension Service {
    /// Tells the client of the account's touches until it takes the request back.
    func watch(_ account: Account, _ client: any Client) async -> Answer {
        watchers.add(client, for: account)
        client.setPassive(true)
        await untilCancelled()
        watchers.remove(client)
        client.setPassive(false)
        return .denial(Denial(.cancelled))
    }

    /// Does `touch` with those told who watch: where a touch of this request has no prompt of its
    /// own, and wherever somebody else than the account asks for it.
    func told<Result>(
        _ request: AuthenticateRequest, _ presence: Presence, _ account: Account,
        _ touch: () async throws(Denial) -> Result
    ) async throws(Denial) -> Result {
        guard request.presence == .noTerminal || presence.isForOther else {
            return try await touch()
        }
        let number = watchers.began(request, by: presence.requester, of: account)
        defer { watchers.ended(number) }
        return try await touch()
    }
}
