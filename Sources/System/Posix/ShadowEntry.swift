// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Why an account has no usable password; shadow(5).
package enum PasswordLack: Sendable {
    /// The account has no password: the field is empty, or holds only `*` or exclamation marks.
    case none
    /// The account has a password, which was locked with `passwd -l` or `usermod -L`.
    case locked

    /// Interprets the password field of shadow(5); nil if it holds a hash or refers elsewhere.
    ///
    /// It copies nothing: a locked password's hash is in the field, too.
    package init?(field: some Collection<UInt8>) {
        let rest = field.drop { $0 == UInt8(ascii: "!") }
        if rest.isEmpty || rest.count == 1 && rest.first == UInt8(ascii: "*") {
            self = .none
        } else if field.first == UInt8(ascii: "!") {
            self = .locked
        } else {
            return nil
        }
    }
}

/// An account's password hash from shadow(5), which only root can read.
package struct ShadowEntry: Sendable {
    /// The hash as stored, for example `$y$…`.
    package let hash: SecretBytes
    /// The day of the last change, in days since 1970; 0 or -1 if it is not recorded.
    package let changed: Int

    /// Describes an entry by its values, for tests.
    package init(hash: SecretBytes, changed: Int) {
        self.hash = hash
        self.changed = changed
    }

    /// Looks up the password hash of an account, getspnam_r(3); nil if there is no usable one.
    ///
    /// That is so if the account has no password, a locked one, or one that is stored elsewhere, as
    /// accounts of a directory do. `SystemFault` means that the lookup failed, for example because
    /// the caller may not read the shadow file.
    package static func named(_ name: String) throws(SystemFault) -> ShadowEntry? {
        try unsafe record(of: name) { (record) throws(SystemFault) in
            try unsafe ShadowEntry(record, named: name)
        } ?? nil
    }

    /// Looks up why an account has no usable password; nil if it has one or the shadow file has no
    /// entry.
    package static func lack(of name: String) throws(SystemFault) -> PasswordLack? {
        try unsafe record(of: name) { (record) throws(SystemFault) in
            guard let found = unsafe record.sp_namp, unsafe strcmp(found, name) == 0,
                let text = unsafe record.sp_pwdp
            else { return nil }
            return unsafe PasswordLack(
                field: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        } ?? nil
    }

    /// Looks up the password field of an account, whatever it contains.
    ///
    /// Locking a password (`passwd -l`, `usermod -L`) puts an exclamation mark before it, which is
    /// left out here: the field is the same one. `hash` is the field, and not only a hash.
    package static func field(of name: String) throws(SystemFault) -> ShadowEntry? {
        try unsafe record(of: name) { (record) throws(SystemFault) in
            guard let found = unsafe record.sp_namp, unsafe strcmp(found, name) == 0,
                let text = unsafe record.sp_pwdp
            else { return nil }
            let whole = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
            let marks = unsafe whole.prefix { $0 == UInt8(ascii: "!") }.count
            let field = unsafe UnsafeRawBufferPointer(rebasing: whole[marks...])
            guard unsafe !field.isEmpty else {
                var none: [UInt8] = [UInt8(ascii: "!")]
                return ShadowEntry(
                    hash: try SecretBytes(moving: &none), changed: unsafe record.sp_lstchg)
            }
            return ShadowEntry(
                hash: try SecretBytes(copying: unsafe field.bytes),
                changed: unsafe record.sp_lstchg)
        } ?? nil
    }

    /// Calls `body` with an account's record, which is wiped afterwards; nil if there is none.
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

    /// Copies a C record; nil if it belongs to another account or has no hash.
    private init?(_ record: spwd, named name: String) throws(SystemFault) {
        guard let found = unsafe record.sp_namp, unsafe strcmp(found, name) == 0,
            let text = unsafe record.sp_pwdp
        else { return nil }
        let hash = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
        // No hash begins with `!` or `*`; `x` and `NP` mean that it is stored elsewhere.
        guard let first = unsafe hash.first, hash.count > 2, !"!*".utf8.contains(first) else {
            return nil
        }
        self.hash = try SecretBytes(copying: unsafe hash.bytes)
        changed = unsafe record.sp_lstchg
    }
}
