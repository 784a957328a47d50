// SPDX-License-Identifier: Apache-2.0
import Domain

/// What an ssh key's file says of where its private key is: on which machine, for which account,
/// and which key.
///
/// It is no secret and proves nothing. signetd compares each part, so that a handle of another
/// machine or account is refused for that reason and never looked up here.
package struct SSHKeyHandle: Equatable, Sendable {
    /// The number of bytes: version (1), device (16), uid (4, big-endian), key (16).
    package static let count = 37
    private static let version: UInt8 = 1

    /// The machine whose signetd holds the key.
    package let device: DeviceID
    /// The uid of the account that the key belongs to.
    package let uid: UInt32
    /// The key.
    package let key: SSHKeyID

    /// Creates a handle.
    package init(device: DeviceID, uid: UInt32, key: SSHKeyID) {
        self.device = device
        self.uid = uid
        self.key = key
    }

    /// The handle as OpenSSH stores it.
    package var bytes: [UInt8] {
        var bytes = [Self.version]
        bytes += device.bytes
        var shift: UInt32 = 32
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: uid >> shift))
        }
        return bytes + key.bytes
    }

    /// Parses a handle; nil unless it has exactly the form that `bytes` writes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count, bytes[0] == Self.version,
            let device = DeviceID([UInt8](bytes[1..<17])),
            let key = SSHKeyID([UInt8](bytes[21..<37]))
        else { return nil }
        var uid: UInt32 = 0
        for byte in bytes[17..<21] { uid = uid << 8 | UInt32(byte) }
        self.init(device: device, uid: uid, key: key)
    }
}
