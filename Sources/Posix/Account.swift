// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A local user as the name service knows it; passwd(5).
package struct Account: Equatable, Sendable {
    /// The login name.
    package let name: String
    /// The user's number.
    package let uid: UInt32
    /// The primary group's number.
    package let gid: UInt32
    /// The home directory.
    package let home: String

    /// Finds a user by name, nil where there is none; getpwnam_r(3).
    package static func named(_ name: String) throws(SystemFault) -> Account? {
        guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
        let found = try unsafe lookUp("getpwnam_r", on: name) { record, room, size, result in
            unsafe getpwnam_r(name, record, room, size, result)
        }
        // A name service that folds case or adds a domain would answer for another name.
        guard let found, found.name == name else { return nil }
        return found
    }

    /// Finds a user by number, nil where there is none; getpwuid_r(3).
    package static func with(uid: UInt32) throws(SystemFault) -> Account? {
        try unsafe lookUp("getpwuid_r", on: String(uid)) { record, room, size, result in
            unsafe getpwuid_r(uid, record, room, size, result)
        }
    }

    private typealias Query = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    /// Repeats the query with twice the room while that is what it lacks, up to 1 MiB.
    private static func lookUp(
        _ operation: String, on subject: String, _ query: Query
    ) throws(SystemFault) -> Account? {
        var size = 1024
        while size <= 1 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe room.deallocate() }
            var record = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>? = nil
            let code = unsafe query(&record, room, size, &result)
            switch code {
            case 0: return unsafe result == nil ? nil : Account(record)
            case EINTR: continue
            case ERANGE: size *= 2
            // What getpwnam(3) lists as ways of saying "not found".
            case ENOENT, ESRCH, EBADF, EPERM: return nil
            default: throw SystemFault(operation, on: subject, code: code)
            }
        }
        throw SystemFault(operation, on: subject, code: ERANGE)
    }

    /// Copies a C record; nil where a text is missing or not UTF-8.
    private init?(_ record: passwd) {
        guard let name = unsafe record.pw_name, let home = unsafe record.pw_dir,
            let nameText = unsafe String(validatingCString: name),
            let homeText = unsafe String(validatingCString: home)
        else { return nil }
        self.init(
            name: nameText, uid: unsafe record.pw_uid, gid: unsafe record.pw_gid, home: homeText)
    }

    /// Describes a user by its values, as a test does.
    package init(name: String, uid: UInt32, gid: UInt32, home: String) {
        self.name = name
        self.uid = uid
        self.gid = gid
        self.home = home
    }
}
