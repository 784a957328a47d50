// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// The rules for names of secrets: 1 to 128 bytes of printable UTF-8 that do not begin with a
/// hyphen.
///
/// The hyphen is denied so that a name cannot be mistaken for an option of a command.
package enum SecretName {
    /// Why a name is not allowed.
    package enum Fault: Error, Equatable, Sendable {
        case empty
        case tooLong
        /// The name is not UTF-8, or contains control characters or marks of writing direction,
        /// which could make a line look different from its contents.
        case unprintable
        /// The name begins with a hyphen.
        case likeAnOption
    }

    /// Returns the first rule that a name breaks; nil if the name is allowed.
    package static func fault(_ name: Bytes) -> Fault? {
        if name.isEmpty { return .empty }
        if name.count > Limit.secretName { return .tooLong }
        if name[0] == UInt8(ascii: "-") { return .likeAnOption }
        var isPrintable = true
        _ = Printable.escaping(name) { _, _ in isPrintable = false }
        return isPrintable ? nil : .unprintable
    }
}
