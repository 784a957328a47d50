import Gate
import Posix
import Policy
import Systemd
import Wire

/// Who asks, and the evidence that they are there.
extension Service {
    /// Whose share of the queue a request without a touch is.
    func accountable(_ client: any Client) -> Requester {
        let name = (try? Account.with(uid: client.peer.uid))?.name ?? "uid \(client.peer.uid)"
        return Requester(uid: client.peer.uid, name: Bytes(name.utf8))
    }

    /// The evidence for a request; throws where there is none.
    func presence(
        for plan: TouchPlan, _ rule: TouchRule, _ client: any Client
    ) throws(Denial) -> Presence {
        let session = Session(ofPeer: client.descriptor)
        let remoteHost = plan.login?.remoteHost ?? []
        guard remoteHost.isEmpty else { throw Denial(.remoteSession) }
        switch session.place {
        case .none, .local: break
        case .remote, .unknown: throw Denial(.remoteSession)
        }
        let claimed = plan.login?.requester ?? []
        let name = claimed.isEmpty || client.peer.uid != 0
            ? Bytes(plan.account.name.utf8) : claimed
        return Presence(
            account: plan.account.uid, requester: Requester(uid: plan.account.uid, name: name),
            seat: session.seat)
    }

    /// Throws where the evidence does not hold any more.
    func checkPresence(_ presence: Presence) throws(Denial) {}
}

extension Notice {
    /// What a prompt shows: who asks, where that is not the account itself.
    func requestedBy(_ presence: Presence) -> Notice {
        guard kind == .touch, presence.requester.uid != presence.account else { return self }
        var notice = self
        notice.requester = presence.requester.name
        return notice
    }
}

extension Answer {
    /// A notice of a touch that somebody asked for.
    static func notice(_ notice: Notice, requestedBy presence: Presence) -> Answer {
        .notice(notice.requestedBy(presence))
    }
}
