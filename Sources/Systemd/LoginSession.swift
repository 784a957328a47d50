// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Posix

/// A session as logind knows it: whose it is, where, and whether it is in front of somebody now.
package struct LoginSession: Equatable, Sendable {
    /// What a session is for; `sd_session_get_class(3)`.
    package enum Class: Equatable, Sendable {
        /// Somebody works in it. Newer systemd has names for kinds of it: `user-early`, `user-light`.
        case user
        /// A display manager's greeter.
        case greeter
        /// Any other: `lock-screen`, `background`, `manager` and what may come.
        case other
    }

    /// logind's name for it.
    package let id: String
    /// Whose it is.
    package let owner: UInt32
    /// Whether its user is somewhere else.
    package let isRemote: Bool
    /// The seat that it is at (`seat0`), nil if it is at none.
    package let seat: String?
    /// Whether it is the one in front of its seat now, and not about to end. One without a seat is
    /// always in front, as logind has it.
    package let isActive: Bool
    /// What it is for.
    package let `class`: Class

    /// Describes a session by its values, as a test does.
    package init(
        id: String, owner: UInt32, isRemote: Bool = false, seat: String? = "seat0",
        isActive: Bool = true, class: Class = .user
    ) {
        self.id = id
        self.owner = owner
        self.isRemote = isRemote
        self.seat = seat
        self.isActive = isActive
        self.class = `class`
    }

    /// Looks a session up by its id. Throws where it is not there, or not all of this is known of it.
    /// Source: `sd_session_is_remote(3)` and its neighbours.
    package init(named id: String) throws(SystemFault) {
        self.id = id
        var owner = uid_t.max
        let status = unsafe sd_session_get_uid(id, &owner)
        guard status >= 0, owner != uid_t.max else {
            throw SystemFault("sd_session_get_uid", on: id, code: status < 0 ? -status : ENODATA)
        }
        self.owner = owner
        isRemote = try Self.flag("sd_session_is_remote", id, unsafe sd_session_is_remote(id))
        seat = try unsafe LoginRecord.text(
            "sd_session_get_seat", on: id, absent: [ENODATA],
            { unsafe sd_session_get_seat(id, $0) })
        // An active session may be closing: its leader has ended, programs are left.
        let state = try unsafe LoginRecord.text(
            "sd_session_get_state", on: id, { unsafe sd_session_get_state(id, $0) })
        isActive =
            try Self.flag("sd_session_is_active", id, unsafe sd_session_is_active(id))
            && state == "active"
        let name = try unsafe LoginRecord.text(
            "sd_session_get_class", on: id, { unsafe sd_session_get_class(id, $0) })
        `class` = Self.class(named: name ?? "")
    }

    /// The session that a user works in, as logind chooses it; nil if there is none, or if the one
    /// that it names is not that user's or is gone: of a user who lingers, logind 252 leaves the name of
    /// the last one in the user's record. Source: `sd_uid_get_display(3)`.
    package static func display(of uid: UInt32) throws(SystemFault) -> LoginSession? {
        let name = try unsafe LoginRecord.text(
            "sd_uid_get_display", on: String(uid), absent: [ENODATA, ENXIO, ENOENT],
            { unsafe sd_uid_get_display(uid, $0) })
        guard let name else { return nil }
        do throws(SystemFault) {
            let session = try LoginSession(named: name)
            return session.owner == uid ? session : nil
        } catch {
            guard error.code == ENXIO else { throw error }
            return nil
        }
    }

    /// The session in front of each seat that has one. Source: `sd_get_seats(3)`,
    /// `sd_seat_get_active(3)`.
    package static func inFront() throws(SystemFault) -> [LoginSession] {
        var found: [LoginSession] = []
        for seat in try LoginRecord.seats() {
            let name = try unsafe LoginRecord.text(
                "sd_seat_get_active", on: seat, absent: [ENODATA, ENXIO],
                { unsafe sd_seat_get_active(seat, $0, nil) })
            guard let name else { continue }
            let session = try LoginSession(named: name)
            // The seat and the session are two records: both have to say so.
            if session.seat == seat { found.append(session) }
        }
        return found
    }

    private static func flag(
        _ call: String, _ id: String, _ status: Int32
    ) throws(SystemFault) -> Bool {
        guard status >= 0 else { throw SystemFault(call, on: id, code: -status) }
        return status > 0
    }

    private static func `class`(named name: String) -> Class {
        switch name {
        case "user", "user-early", "user-light", "user-early-light": .user
        case "greeter": .greeter
        default: .other
        }
    }
}

/// What libsystemd reads of logind's records.
package enum LoginRecord {
    /// Whether logind runs: without it nobody is in a session, whatever is left of its records.
    /// libsystemd asks for this directory as well; `sd_booted(3)`.
    package static var isKept: Bool { unsafe access("/run/systemd/seats", F_OK) == 0 }

    /// Longer names than this are nobody's.
    private static let longest = 1_024

    typealias Lookup = (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32

    /// Takes over the string that libsystemd allocates; nil for a failure that `absent` lists.
    static func text(
        _ call: String, on subject: String = "", absent: [Int32] = [], _ lookup: Lookup
    ) throws(SystemFault) -> String? {
        var pointer: UnsafeMutablePointer<CChar>? = nil
        let status = unsafe lookup(&pointer)
        defer { unsafe free(pointer) }
        guard status >= 0 else {
            if absent.contains(-status) { return nil }
            throw SystemFault(call, on: subject, code: -status)
        }
        guard let pointer = unsafe pointer else { return nil }
        guard unsafe strnlen(pointer, longest + 1) <= longest,
            let text = unsafe String(validatingCString: pointer)
        else { throw SystemFault(call, on: subject, code: EBADMSG) }
        return text
    }

    /// The names of all seats.
    static func seats() throws(SystemFault) -> [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = nil
        let count = unsafe sd_get_seats(&list)
        guard count >= 0 else { throw SystemFault("sd_get_seats", code: -count) }
        guard let list = unsafe list else { return [] }
        defer { unsafe free(list) }
        var seats: [String] = []
        for index in 0..<Int(count) {
            guard let name = unsafe list[index] else { break }
            if let text = unsafe String(validatingCString: name) { seats.append(text) }
            unsafe free(name)
        }
        return seats
    }
}
