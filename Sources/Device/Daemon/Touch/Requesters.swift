// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol

extension Notice {
    /// The notice with the requester's name, for a touch that was requested by another user than
    /// the account.
    fileprivate func requested(by presence: Presence) -> Notice {
        guard kind == .touch, presence.isForOther else { return self }
        var notice = self
        notice.requester = presence.requester.name
        return notice
    }
}

extension Answer {
    /// A notice about a touch, naming the requester if that is not the account itself.
    static func notice(_ notice: Notice, requestedBy presence: Presence) -> Answer {
        .notice(notice.requested(by: presence))
    }
}
