// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing

/// The file `private/tpm-root`, which stores the Name of the TPM's storage root key, 34 bytes.
///
/// It does not check the length; `TPMVaultSession` rejects a Name of any other length.
package struct RootPinFile: RootPin {
    private static let name = "tpm-root"
    private static let cap = 64

    let directory: Directory

    package func load() throws -> [UInt8]? { try directory.read(Self.name, cap: Self.cap) }

    package func save(_ name: [UInt8]) throws { try directory.replace(Self.name, bytes: name) }
}
