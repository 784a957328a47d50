// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a file or directory could not be used.
package enum FileFault: Error, Equatable, Sendable {
    /// A system call failed.
    case system(SystemFault)
    /// Another user could have put what the path leads to there, or could change it.
    case untrusted(path: String, Distrust)
    /// The file is larger than the caller accepts.
    case tooLarge(path: String)
    /// The name is not plain.
    ///
    /// It is empty, longer than 200 bytes, begins with a dot, or contains a slash, space or control
    /// character.
    case badName(String)
}

/// What makes a file, or a directory above it, untrustworthy.
package enum Distrust: Equatable, Sendable {
    /// The path is relative or has empty, `.` or `..` components.
    case notAbsolute
    /// It is a symbolic link, or not a regular file or directory as expected.
    case wrongKind
    /// The owner is neither root nor the account that was allowed.
    case owner(UInt32)
    /// Group or others may write to it, or have any access to one that must be private.
    ///
    /// The value is the permission bits.
    case mode(UInt32)
    /// It has more than one hard link.
    case linked
}

extension FileFault {
    /// Whether the fault is that the file does not exist.
    package var isMissing: Bool {
        guard case .system(let fault) = self else { return false }
        return fault.code == ENOENT
    }
}

extension FileFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .system(let fault): fault.description
        case .untrusted(let path, let distrust): "\(path) \(distrust)"
        case .tooLarge(let path): "\(path) is larger than the limit"
        case .badName(let name): "'\(name)' is not a plain file name"
        }
    }
}

extension Distrust: CustomStringConvertible {
    /// The predicate of a sentence whose subject is the path.
    package var description: String {
        switch self {
        case .notAbsolute: "is not a plain absolute path"
        case .wrongKind: "is a symbolic link or not of the expected kind"
        case .owner(let uid): "is owned by uid \(uid)"
        case .mode(let mode): "has the unsafe mode 0\(String(mode, radix: 8))"
        case .linked: "has more than one hard link"
        }
    }
}
