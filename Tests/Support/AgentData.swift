// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Builds what programs say to an ssh agent, and what deviates from it.
package enum AgentData {
    /// A big-endian number of four bytes.
    package static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    package static let identities: [UInt8] = [11]
    package static let removeAll: [UInt8] = [19]
    package static let failure: [UInt8] = [5]
    package static let success: [UInt8] = [6]

    package static func sign(
        _ keyBlob: [UInt8], _ data: [UInt8], flags: UInt32 = 0
    ) -> [UInt8] {
        [13] + SSHData.string(keyBlob) + SSHData.string(data) + number(flags)
    }

    package static func remove(_ keyBlob: [UInt8]) -> [UInt8] { [18] + SSHData.string(keyBlob) }

    package static func lock(_ passphrase: String) -> [UInt8] { [22] + SSHData.string(passphrase) }

    package static func unlock(_ passphrase: String) -> [UInt8] {
        [23] + SSHData.string(passphrase)
    }

    package static func `extension`(_ name: String, _ contents: [UInt8] = []) -> [UInt8] {
        [27] + SSHData.string(name) + contents
    }

    package static func bind(
        hostKey: [UInt8], session: [UInt8], signature: [UInt8], isForwarding: UInt8 = 0
    ) -> [UInt8] {
        `extension`(
            "session-bind@openssh.com",
            SSHData.string(hostKey) + SSHData.string(session) + SSHData.string(signature)
                + [isForwarding])
    }

    /// A message with its length before it, or with another one.
    package static func frame(_ message: [UInt8], length: Int? = nil) -> [UInt8] {
        SSHData.string(message, length: length)
    }
}
