// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Why no password of an account is accepted, by shadow(5).
package enum PasswordLack: Sendable {
    /// There is none.
    case none
    /// There is one, and it was locked: `passwd -l`, `usermod -L`.
    case locked

    /// What the field of shadow(5) says; nil where it has a hash, or says that it is elsewhere.
    package init?(field: String) {
        let hash = field.drop { $0 == "!" }
        switch true {
        case field.isEmpty, field == "*", field == "!*", field.hasPrefix("!") && hash.isEmpty:
            self = .none
        case field.hasPrefix("!"): self = .locked
        default: return nil
        }
    }
}

/// What shadow(5) says of an account's password; only root can read it.
package struct ShadowEntry: Sendable {
    /// The password's hash, as it stands there: `$y$…`.
    package let hash: SecretBytes
    /// The day of its last change, in days since 1970; 0 or -1 where none is told.
    package let changed: Int

    /// A password's entry by its values, as a test does.
    package init(hash: SecretBytes, changed: Int) {
        self.hash = hash
        self.changed = changed
    }

    /// The entry of an account that has a password there; nil for one without: none at all, locked,
    /// or kept elsewhere, as for accounts of a directory. getspnam_r(3).
    package static func named(_ name: String) throws(SystemFault) -> ShadowEntry? {
        try unsafe record(of: name) { (record) throws(SystemFault) in
            try unsafe ShadowEntry(record, named: name)
        } ?? nil
    }

    /// Why no password of an account is accepted; nil where it has one, or that is not said there.
    package static func lack(of name: String) throws(SystemFault) -> PasswordLack? {
        try unsafe record(of: name) { (record) throws(SystemFault) in
            guard let field = unsafe record.sp_pwdp else { return nil }
            return PasswordLack(field: unsafe String(cString: field))
        } ?? nil
    }

    /// Calls with an account's record, which is wiped afterwards; nil where there is none.
    private static func record<Value>(
        of name: String, _ body: (spwd) throws(SystemFault) -> Value
    ) throws(SystemFault) -> Value? {
        guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
        var size = 1_024
        while size <= 1 << 20 {
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            defer {
                if let start = room.baseAddress { unsafe explicit_bzero(start, size) }
                unsafe room.deallocate()
            }
            var record = unsafe spwd()
            var result: UnsafeMutablePointer<spwd>? = nil
            let text = unsafe room.baseAddress?.assumingMemoryBound(to: CChar.self)
            let code = unsafe getspnam_r(name, &record, text, size, &result)
            switch code {
            case 0: return unsafe result == nil ? nil : try body(record)
            case EINTR: continue
            case ERANGE: size *= 2
            case ENOENT, ESRCH: return nil
            default: throw SystemFault("getspnam_r", on: name, code: code)
            }
        }
        throw SystemFault("getspnam_r", on: name, code: ERANGE)
    }

    /// Copies a C record; nil where it is another account's, or has no hash.
    private init?(_ record: spwd, named name: String) throws(SystemFault) {
        guard let found = unsafe record.sp_namp, unsafe strcmp(found, name) == 0,
            let text = unsafe record.sp_pwdp
        else { return nil }
        let hash = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
        // `!` and `*` are what no hash begins with; `x` and `NP` say that it is elsewhere.
        guard let first = unsafe hash.first, hash.count > 2, !"!*".utf8.contains(first) else {
            return nil
        }
        self.hash = try SecretBytes(copying: unsafe hash.bytes)
        changed = unsafe record.sp_lstchg
    }
}
