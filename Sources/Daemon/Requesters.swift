// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Policy
import Posix

/// Who asks, and the evidence that they are there.
extension Service {
    /// The user whose share of the queue a request without a touch takes.
    func accountable(_ client: any Client) -> Requester {
        let uid = client.process.accountable
        let name = (try? Account.with(uid: uid))?.name ?? "uid \(uid)"
        return Requester(uid: uid, name: Bytes(name.utf8))
    }

    /// The evidence that the person who asks is there, and may ask for this account; throws where
    /// there is none.
    func presence(
        for plan: TouchPlan, _ rule: TouchRule, _ client: any Client
    ) throws(Denial) -> Presence {
        let login = plan.login
        let evidence = try examiner.evidence(
            for: client.process, account: plan.account,
            claims: PresenceClaims(
                service: login?.service ?? [], remoteHost: login?.remoteHost ?? [],
                requester: login?.requester ?? [], agent: login?.agent,
                agentUser: login?.agentUser),
            others: others(rule, client))
        client.requester = evidence.requester
        return evidence
    }

    /// Root may run a command for any account; in a login, whose session it is counts.
    private func others(_ rule: TouchRule, _ client: any Client) -> OtherAccounts {
        if rule.mayServeOthers { return .asConfigured }
        return client.peer.uid == 0 ? .allowed : .refused
    }
}

extension Notice {
    /// What a prompt shows: who asks, where that is not the account itself.
    fileprivate func requested(by presence: Presence) -> Notice {
        guard kind == .touch, presence.isForOther else { return self }
        var notice = self
        notice.requester = presence.requester.name
        return notice
    }
}

extension Answer {
    /// A notice of a touch that somebody asked for.
    static func notice(_ notice: Notice, requestedBy presence: Presence) -> Answer {
        .notice(notice.requested(by: presence))
    }
}
