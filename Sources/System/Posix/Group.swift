// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Lookups of groups as the name service knows them; group(5).
///
/// As for `Account`, lookups may block, and a `SystemFault` means that the name service could not
/// answer.
package enum Group {
    /// The largest number of groups of one account: the kernel's limit, NGROUPS_MAX.
    private static let most: Int32 = 65_536

    /// Returns the id of the group of this name, getgrnam_r(3); nil if there is none.
    package static func number(of name: String) throws(SystemFault) -> UInt32? {
        guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
        var size = 1024
        // The limit is higher than for accounts because a group's record lists all its members.
        while size <= 1 << 22 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe room.deallocate() }
            var record = unsafe group()
            var result: UnsafeMutablePointer<group>? = nil
            let code = unsafe getgrnam_r(name, &record, room, size, &result)
            switch code {
            case 0: return unsafe result == nil ? nil : record.gr_gid
            case EINTR: continue
            case ERANGE: size *= 2
            // The codes that getgrnam(3) lists for "not found".
            case ENOENT, ESRCH, EBADF, EPERM: return nil
            default: throw SystemFault("getgrnam_r", on: name, code: code)
            }
        }
        throw SystemFault("getgrnam_r", on: name, code: ERANGE)
    }

    /// Returns the ids of all groups that an account is a member of; getgrouplist(3).
    package static func numbers(of account: Account) throws(SystemFault) -> Set<UInt32> {
        var count: Int32 = 64
        while count <= most {
            var groups = [gid_t](repeating: 0, count: Int(count))
            var found = count
            let status = unsafe getgrouplist(account.name, account.gid, &groups, &found)
            if status >= 0 { return Set(groups.prefix(Int(found))) }
            count = max(found, count * 2)
        }
        throw SystemFault("getgrouplist", on: account.name, code: ERANGE)
    }

    /// Returns the named groups that an account is a member of; names of unknown groups are
    /// ignored.
    package static func memberships(
        of account: Account, among names: Set<String>
    ) throws(SystemFault) -> Set<String> {
        guard !names.isEmpty else { return [] }
        let numbers = try numbers(of: account)
        var found: Set<String> = []
        for name in names {
            if let number = try number(of: name), numbers.contains(number) { found.insert(name) }
        }
        return found
    }
}
