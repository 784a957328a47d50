// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix

/// Sends touch events to the clients that watch an account, such as the desktop notifier.
///
/// Only touches whose prompt the user may not see are announced; `Touches.tell` decides that. A
/// client that starts to watch is also sent the touches in progress.
@ServiceActor
final class Watchers {
    private var watchers: [ObjectIdentifier: (uid: UInt32, client: any Client)] = [:]
    private var touches: [UInt64: (uid: UInt32, began: EventAnswer)] = [:]
    private var lastNumber: UInt64 = 0

    /// Starts to send an account's touch events to a client, beginning with the touches in
    /// progress.
    func add(_ client: any Client, for account: Account) {
        watchers[ObjectIdentifier(client)] = (account.uid, client)
        for number in touches.keys.sorted() {
            guard let touch = touches[number], touch.uid == account.uid else { continue }
            client.post(.event(touch.began))
        }
    }

    /// Stops sending events to a client.
    func remove(_ client: any Client) {
        watchers[ObjectIdentifier(client)] = nil
    }

    /// Announces a touch to the watchers of its account.
    ///
    /// The caller must end the announcement.
    func announce(_ plan: TouchPlan, by requester: Requester) -> Announcement {
        lastNumber += 1
        let (number, uid) = (lastNumber, plan.account.uid)
        let event = EventAnswer(
            account: AccountName(plan.account.name),
            service: plan.login?.service ?? .signet, requester: requester.name,
            purpose: plan.login?.purpose ?? plan.shownCommand, isOver: false,
            number: number)
        touches[number] = (uid, event)
        tell(event, uid: uid)
        return Announcement { [weak self] in self?.ended(number) }
    }

    /// An announced touch.
    struct Announcement {
        /// Tells the watchers that the touch is over.
        ///
        /// Must be called once.
        let end: @ServiceActor () -> Void
    }

    private func ended(_ number: UInt64) {
        guard let touch = touches.removeValue(forKey: number) else { return }
        var event = touch.began
        event.isOver = true
        tell(event, uid: touch.uid)
    }

    private func tell(_ event: EventAnswer, uid: UInt32) {
        for watcher in watchers.values where watcher.uid == uid {
            watcher.client.post(.event(event))
        }
    }
}

extension TouchPlan {
    /// The command, followed by its caller's reason if there is one.
    ///
    /// Nothing follows the reason, so that a caller cannot imitate text of Signet.
    fileprivate var shownCommand: Bytes {
        if let confirmed { return confirmed }
        let command = Bytes(self.command.utf8)
        return reason.map { command + Bytes(", whose caller says: ".utf8) + $0 } ?? command
    }
}
