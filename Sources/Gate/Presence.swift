import Posix
import Wire

/// Who causes a request.
package struct Requester: Hashable, Sendable {
    package let uid: UInt32
    package let name: Bytes
    package init(uid: UInt32, name: Bytes) {
        self.uid = uid
        self.name = name
    }
}

/// Evidence that the person who asks is at this machine.
package struct Presence: Sendable {
    package let account: UInt32
    package let requester: Requester
    package let seat: String?

    package init(account: UInt32, requester: Requester, seat: String?) {
        self.account = account
        self.requester = requester
        self.seat = seat
    }
}
