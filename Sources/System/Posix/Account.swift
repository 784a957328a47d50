// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A user account as the name service knows it; passwd(5).
///
/// Lookups go through NSS, so they may ask a directory server and block. If the name service does
/// not know the account, the result is nil. A `SystemFault` means that the name service could not
/// answer.
package struct Account: Equatable, Sendable {
    /// The login name.
    package let name: String
    /// The user id.
    package let uid: UInt32
    /// The id of the primary group.
    package let gid: UInt32
    /// The home directory.
    package let home: String

    /// Looks an account up by its exact name, getpwnam_r(3); nil if there is none.
    package static func named(_ name: String) throws(SystemFault) -> Account? {
        guard let found = try answer(to: name), found.name.utf8.elementsEqual(name.utf8) else {
            return nil
        }
        return found
    }

    /// Looks an account up by any name that the name service takes for it; nil if there is none.
    ///
    /// Some name services fold case, or take a name with or without its domain. The account has the
    /// name that the name service gives, and that name leads to the same uid.
    package static func spelled(_ name: String) throws(SystemFault) -> Account? {
        guard let found = try answer(to: name) else { return nil }
        guard !found.name.utf8.elementsEqual(name.utf8) else { return found }
        return try named(found.name)?.uid == found.uid ? found : nil
    }

    private static func answer(to name: String) throws(SystemFault) -> Account? {
        guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
        return try unsafe lookUp("getpwnam_r", on: name) { record, room, size, result in
            unsafe getpwnam_r(name, record, room, size, result)
        }
    }

    /// Looks an account up by its uid, getpwuid_r(3); nil if there is none.
    package static func with(uid: UInt32) throws(SystemFault) -> Account? {
        try unsafe lookUp("getpwuid_r", on: String(uid)) { record, room, size, result in
            unsafe getpwuid_r(uid, record, room, size, result)
        }
    }

    private typealias Query = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    /// Calls `query` with a buffer of 1 KiB, which is doubled up to 1 MiB while it is too small.
    private static func lookUp(
        _ operation: String, on subject: String, query: Query
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
            // The codes that getpwnam(3) lists for "not found".
            case ENOENT, ESRCH, EBADF, EPERM: return nil
            default: throw SystemFault(operation, on: subject, code: code)
            }
        }
        throw SystemFault(operation, on: subject, code: ERANGE)
    }

    /// Copies a C record; nil if a field is missing or not UTF-8.
    private init?(_ record: passwd) {
        guard let name = unsafe record.pw_name, let home = unsafe record.pw_dir,
            let nameText = unsafe String(validatingCString: name),
            let homeText = unsafe String(validatingCString: home)
        else { return nil }
        self.init(
            name: nameText, uid: unsafe record.pw_uid, gid: unsafe record.pw_gid, home: homeText)
    }

    /// Describes an account by its values, for tests.
    package init(name: String, uid: UInt32, gid: UInt32, home: String) {
        self.name = name
        self.uid = uid
        self.gid = gid
        self.home = home
    }
}
