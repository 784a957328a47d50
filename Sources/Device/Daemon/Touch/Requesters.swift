// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol

// Names the user who asks, wherever a finger is requested for another account. The name comes from
// `Presence`, which the kernel and logind vouch for, not from the request.
extension Notice {
    /// Adds the requester's name to a request for a finger that another user than the account
    /// caused.
    fileprivate func requested(by presence: Presence) -> Notice {
        guard kind == .touch, presence.isForOther else { return self }
        var notice = self
        notice.requester = presence.requester.name
        return notice
    }
}

extension Client {
    /// Passes on what a reader reports; a request for a finger names the requester if that is not
    /// the account.
    func tell(_ notice: Notice, requestedBy presence: Presence) {
        tell(notice.requested(by: presence))
    }
}
