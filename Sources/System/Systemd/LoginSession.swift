// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Posix

/// A logind session: its owner, its seat, and whether it is in the foreground there.
///
/// A record that is incomplete is an error; nothing in it is guessed.
package struct LoginSession: Equatable, Sendable {
    /// The purpose of a session; `sd_session_get_class(3)`.
    package enum Class: Equatable, Sendable {
        /// A user's session; newer systemd has variants of it, such as `user-early` and
        /// `user-light`.
        case user
        /// A display manager's greeter.
        case greeter
        /// Any other, such as `lock-screen`, `background` or `manager`.
        case other
    }

    /// logind's id of the session.
    package let id: String
    /// The uid of the session's owner.
    package let owner: UInt32
    /// Whether the session is remote, such as one over SSH.
    package let isRemote: Bool
    /// The session's seat, such as `seat0`; nil if it has none.
    package let seat: String?
    /// Whether the session is in the foreground of its seat and not closing.
    ///
    /// logind counts a session without a seat as always in the foreground.
    package let isActive: Bool
    /// The session's purpose.
    package let `class`: Class

    /// Describes a session by its values, for tests.
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

    /// Looks a session up by its id; sd_session_is_remote(3) and related functions.
    ///
    /// - Throws: the errno of libsystemd if the session does not exist (ENXIO), or part of its
    ///   record is missing.
    package init(named id: String) throws(SystemFault) {
        self.id = id
        var owner = uid_t.max
        let status = unsafe sd_session_get_uid(id, &owner)
        guard status >= 0, owner != uid_t.max else {
            throw SystemFault("sd_session_get_uid", on: id, code: status < 0 ? -status : ENODATA)
        }
        self.owner = owner
        isRemote = try Self.flag(
            "sd_session_is_remote", id: id, status: unsafe sd_session_is_remote(id))
        seat = try unsafe LoginRecord.text(
            "sd_session_get_seat", on: id, absent: [ENODATA],
            lookup: { unsafe sd_session_get_seat(id, $0) })
        // An active session may be closing: its leader has ended, but other programs still run.
        let state = try unsafe LoginRecord.text(
            "sd_session_get_state", on: id, lookup: { unsafe sd_session_get_state(id, $0) })
        isActive =
            try Self.flag("sd_session_is_active", id: id, status: unsafe sd_session_is_active(id))
            && state == "active"
        let name = try unsafe LoginRecord.text(
            "sd_session_get_class", on: id, lookup: { unsafe sd_session_get_class(id, $0) })
        `class` = Self.class(named: name ?? "")
    }

    /// Returns the session that logind considers a user's primary one; sd_uid_get_display(3).
    ///
    /// The result is nil if there is none, or if the session that logind names does not exist or
    /// belongs to another user. For a user who lingers, logind 252 leaves the name of the last
    /// session in the user's record.
    package static func display(of uid: UInt32) throws(SystemFault) -> LoginSession? {
        let name = try unsafe LoginRecord.text(
            "sd_uid_get_display", on: String(uid), absent: [ENODATA, ENXIO, ENOENT],
            lookup: { unsafe sd_uid_get_display(uid, $0) })
        guard let name else { return nil }
        do throws(SystemFault) {
            let session = try LoginSession(named: name)
            return session.owner == uid ? session : nil
        } catch {
            guard error.code == ENXIO else { throw error }
            return nil
        }
    }

    /// Returns the foreground session of each seat that has one; sd_get_seats(3),
    /// sd_seat_get_active(3).
    package static func inFront() throws(SystemFault) -> [LoginSession] {
        var found: [LoginSession] = []
        for seat in try LoginRecord.seats() {
            let name = try unsafe LoginRecord.text(
                "sd_seat_get_active", on: seat, absent: [ENODATA, ENXIO],
                lookup: { unsafe sd_seat_get_active(seat, $0, nil) })
            guard let name else { continue }
            let session = try LoginSession(named: name)
            // The seat and the session have separate records, which must agree.
            if session.seat == seat { found.append(session) }
        }
        return found
    }

    private static func flag(
        _ call: String, id: String, status: Int32
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

/// Reads logind's records through libsystemd.
package enum LoginRecord {
    /// Whether logind is running.
    ///
    /// Without it there are no sessions, even if old records remain. libsystemd checks for the same
    /// directory; sd_booted(3).
    package static var isKept: Bool { unsafe access("/run/systemd/seats", F_OK) == 0 }

    /// The maximum length of a name, in bytes.
    private static let longest = 1_024

    typealias Lookup = (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32

    /// Calls `lookup` and takes ownership of the string that libsystemd allocates.
    ///
    /// - Returns: nil if it fails with an errno that `absent` lists.
    /// - Throws: the errno for other failures, EBADMSG if the string is too long or not UTF-8.
    static func text(
        _ call: String, on subject: String = "", absent: [Int32] = [], lookup: Lookup
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

    /// Returns the names of all seats.
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
