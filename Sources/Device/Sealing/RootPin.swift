// SPDX-License-Identifier: Apache-2.0
/// Stores the Name of the TPM's storage root key, so that a cleared or replaced TPM is noticed.
///
/// A Name has 34 bytes: the hash algorithm's identifier and a SHA-256; TPM 2.0 part 1, 16.
package protocol RootPin: Sendable {
    /// Returns the pinned Name; nil if none has been pinned yet.
    ///
    /// Throws if it exists but cannot be read.
    func load() throws -> [UInt8]?
    /// Replaces the pinned Name, durably.
    func save(_ name: [UInt8]) throws
}

/// The result of pinning the root key again.
package struct RootChange: Equatable, Sendable {
    /// The Name that was pinned before; nil if there was none that could be read.
    package let old: [UInt8]?
    /// The Name that is pinned now.
    package let new: [UInt8]
}
