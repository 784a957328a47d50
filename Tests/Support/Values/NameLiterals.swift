// SPDX-License-Identifier: Apache-2.0
import Domain

/// Lets tests write names as literals.
extension EntityName: ExpressibleByStringLiteral {
    /// Takes the bytes of the literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// The bytes, which a test may replace.
    package var altered: [UInt8] {
        get { bytes }
        set { self = Self(newValue) }
    }
}
