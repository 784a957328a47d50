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
    ///
    /// Desktops start programs from the user's service manager, which is in no session: then the
    /// user's primary session counts, so that nobody leaves a remote session by `systemd-run`.
    /// Source: `sd_pid_get_session(3)`, `sd_uid_get_display(3)`, `sd_session_is_remote(3)`.
    package init(ofProcess pid: Int32) {
        // libsystemd takes pid 0 for the caller: a peer without a pid is not us.
        guard pid > 0 else {
            self.init(place: .unknown, seat: nil)
            return
        }
        unsafe self.init(
            { unsafe sd_pid_get_session(pid, $0) }, owner: { unsafe sd_pid_get_owner_uid(pid, $0) })
    }

    /// Asks for the session of the process that connected an `AF_UNIX` socket, as above.
    /// Source: `sd_peer_get_session(3)`.
    package init(ofPeer socket: Int32) {
        unsafe self.init(
            { unsafe sd_peer_get_session(socket, $0) },
            owner: { unsafe sd_peer_get_owner_uid(socket, $0) })
    }

    init(place: SessionPlace, seat: String?) {
        self.place = place
        self.seat = seat
    }

    private typealias Lookup = (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32

    private typealias OwnerLookup = (UnsafeMutablePointer<uid_t>) -> Int32

    private init(_ lookup: Lookup, owner: OwnerLookup) {
        guard Self.isLogindThere else {
            self.init(place: .none, seat: nil)
            return
        }
        switch unsafe Self.text(lookup) {
        case .success(let name): self.init(named: name)
        // For peers, libsystemd 252 passes on ENXIO where for processes it says ENODATA.
        case .failure(let fault) where fault.code == ENODATA || fault.code == ENXIO:
            unsafe self.init(primaryOf: owner)
        case .failure: self.init(place: .unknown, seat: nil)
        }
    }

    /// Without logind nobody is in a session; libsystemd asks for this directory as well.
    private static var isLogindThere: Bool { unsafe access("/run/systemd/seats", F_OK) == 0 }

    private init(primaryOf owner: OwnerLookup) {
        var uid = uid_t.max
        guard unsafe owner(&uid) >= 0 else {
            self.init(place: .none, seat: nil)
            return
        }
        switch unsafe Self.text({ unsafe sd_uid_get_display(uid, $0) }) {
        case .success(let name): self.init(named: name)
        case .failure(let fault) where fault.code == ENODATA: self.init(place: .none, seat: nil)
        case .failure: self.init(place: .unknown, seat: nil)
        }
    }

    private init(named name: String) {
        let seat = unsafe Self.text { unsafe sd_session_get_seat(name, $0) }
        self.init(place: Self.place(ofSession: name), seat: try? seat.get())
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
