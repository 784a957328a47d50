// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol

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
