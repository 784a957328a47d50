// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A failed system call: the function, its subject and the error number.
package struct SystemFault: Error, Equatable, Sendable {
    /// The C function, e.g. `openat`.
    package let operation: String
    /// The path or name that it was applied to; empty if there is none.
    package let subject: String
    /// The `errno` value.
    package let code: Int32

    /// Describes a failure of `operation` on `subject`; `code` is a value of errno(3).
    package init(_ operation: String, on subject: String = "", code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// Describes a failure by the current `errno` of the calling thread.
    package static func current(_ operation: String, on subject: String = "") -> SystemFault {
        SystemFault(operation, on: subject, code: errno)
    }
}

extension SystemFault: CustomStringConvertible {
    /// One line without a full stop, e.g. `version cannot be opened: Permission denied`.
    ///
    /// Functions that mean something only to programmers are reported by name.
    package var description: String {
        guard let what = SystemFault.verbs[operation] else {
            let call = subject.isEmpty ? operation : "\(operation) \(subject)"
            return "\(call) failed: \(errorText(code))"
        }
        return "\(subject.isEmpty ? "it" : subject) \(what): \(errorText(code))"
    }

    /// Why it failed, without what and where: `Permission denied`.
    package var reason: String { errorText(code) }

    /// The predicate that says what failed, by C function; its subject is the path or name.
    private static let verbs = [
        "open": "cannot be opened", "openat": "cannot be opened", "read": "cannot be read",
        "write": "cannot be written", "connect": "cannot be reached",
        "mkdirat": "cannot be created", "renameat": "cannot be renamed",
        "renameat2": "cannot be renamed", "linkat": "cannot be linked",
        "unlinkat": "cannot be removed", "fsync": "cannot be written to the disk",
        "fdatasync": "cannot be written to the disk", "ftruncate": "cannot be truncated",
        "fstat": "cannot be examined", "fstatat": "cannot be examined",
        "access": "cannot be read", "faccessat": "cannot be read",
        "getdents": "cannot be listed", "readdir": "cannot be listed", "bind": "cannot be bound",
    ]
}

/// The text of an error number; strerror_r(3).
private func errorText(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    let capacity = text.count
    let result = unsafe text.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return EINVAL }
        return unsafe strerror_r(code, start, capacity)
    }
    guard result == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Repeats a system call for as long as it fails with EINTR; returns its last result.
func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result == -1 && errno == EINTR { continue }
        return result
    }
}
