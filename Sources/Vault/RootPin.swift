// SPDX-License-Identifier: Apache-2.0
/// Where the Name of the TPM's storage root key is kept, so that another one is noticed.
///
/// The Name is 34 bytes: the hash's number and a SHA-256; TPM 2.0 part 1, 16.
package protocol RootPin: Sendable {
    /// The Name that was pinned; nil where none was yet. Throws where it is there and unreadable.
    func load() throws -> [UInt8]?
    /// Replaces the pinned Name, durably.
    func save(_ name: [UInt8]) throws
}

/// What pinning the root key anew has changed.
package struct RootChange: Equatable, Sendable {
    /// The Name that was pinned before; nil where there was none that could be read.
    package let old: [UInt8]?
    /// The Name that is pinned now.
    package let new: [UInt8]
}
