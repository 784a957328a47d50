// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a file or directory was not used.
package enum FileFault: Error, Equatable, Sendable {
    /// A system call failed.
    case system(SystemFault)
    /// The path names something that somebody else could have put there.
    case untrusted(path: String, Distrust)
    /// The file holds more than the reader takes.
    case tooLarge(path: String)
    /// The name is empty, too long, begins with a dot or holds a slash or a control character.
    case badName(String)
}

/// What is wrong with a file or one of the directories above it.
package enum Distrust: Equatable, Sendable {
    /// The path is relative or has empty, `.` or `..` components.
    case notAbsolute
    /// A symbolic link, or not of the kind that was expected.
    case wrongKind
    /// Owned by neither root nor the account that was allowed.
    case owner(UInt32)
    /// Group or others may write to it; or, for what must be private, do anything with it.
    case mode(UInt32)
    /// It has more than one hard link.
    case linked
}

extension FileFault {
    /// Tells whether the cause is that the file does not exist.
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
        case .tooLarge(let path): "\(path) is larger than it can rightly be"
        case .badName(let name): "'\(name)' is not a plain file name"
        }
    }
}

extension Distrust: CustomStringConvertible {
    /// The second half of a sentence whose subject is the path.
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
