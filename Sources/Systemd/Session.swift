import CSystemd
import Glibc

/// Where somebody is logged in from, as logind sees it.
package enum SessionPlace: Equatable, Sendable {
    /// In no session: a service, a timer, or a system without logind.
    case none
    case local
    case remote
    /// It could not be found out, so it must not be taken for local.
    case unknown
}

/// The login session that a process belongs to.
package struct Session: Equatable, Sendable {
    package let place: SessionPlace
    /// The seat that the session is at (`seat0`), if it is at one.
    package let seat: String?

    /// Asks for the session of a process. The answer is about whoever has the pid now.
    /// Source: `sd_pid_get_session(3)`, `sd_session_is_remote(3)`, `sd_session_get_seat(3)`.
    package init(ofProcess pid: Int32) {
        // libsystemd takes pid 0 for the caller: a peer without a pid is not us.
        guard pid > 0 else {
            self.init(place: .unknown, seat: nil)
            return
        }
        unsafe self.init { unsafe sd_pid_get_session(pid, $0) }
    }

    /// Asks for the session of the process that connected an `AF_UNIX` socket.
    /// Source: `sd_peer_get_session(3)`.
    package init(ofPeer socket: Int32) {
        unsafe self.init { unsafe sd_peer_get_session(socket, $0) }
    }

    init(place: SessionPlace, seat: String?) {
        self.place = place
        self.seat = seat
    }

    private typealias Lookup = (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32

    private init(_ lookup: Lookup) {
        switch unsafe Self.text(lookup) {
        case .failure(let fault) where fault.code == ENODATA:
            self.init(place: .none, seat: nil)
        case .failure:
            self.init(place: .unknown, seat: nil)
        case .success(let name):
            let seat = unsafe Self.text { unsafe sd_session_get_seat(name, $0) }
            self.init(place: Self.place(ofSession: name), seat: try? seat.get())
        }
    }

    private static func place(ofSession name: String) -> SessionPlace {
        let status = unsafe sd_session_is_remote(name)
        guard status >= 0 else { return .unknown }
        return status > 0 ? .remote : .local
    }

    private struct LookupFault: Error {
        let code: Int32
    }

    /// Takes over the string that libsystemd allocates.
    private static func text(_ lookup: Lookup) -> Result<String, LookupFault> {
        var pointer: UnsafeMutablePointer<CChar>? = nil
        let status = unsafe lookup(&pointer)
        defer { unsafe free(pointer) }
        guard status >= 0, let pointer = unsafe pointer else {
            return .failure(LookupFault(code: status < 0 ? -status : ENODATA))
        }
        return .success(unsafe String(cString: pointer))
    }
}
