// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// What a secret may be called: 1 to 128 bytes of UTF-8 without controls that no option looks like.
package enum SecretName {
    /// What speaks against a name.
    package enum Fault: Error, Equatable, Sendable {
        case empty
        case tooLong
        /// It is not UTF-8, or has controls or marks of writing direction, which could make a line
        /// show other than what it says.
        case unprintable
        /// It begins with a hyphen.
        case likeAnOption
    }

    /// The first thing that speaks against a name, nil where it is good.
    package static func fault(_ name: Bytes) -> Fault? {
        if name.isEmpty { return .empty }
        if name.count > Limit.secretName { return .tooLong }
        if name[0] == UInt8(ascii: "-") { return .likeAnOption }
        var isPrintable = true
        _ = Printable.escaping(name) { _, _ in isPrintable = false }
        return isPrintable ? nil : .unprintable
    }
}
