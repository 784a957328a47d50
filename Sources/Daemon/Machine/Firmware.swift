// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// What the firmware says of how the machine was started.
enum Firmware {
    /// The kernel's file of the variable: four bytes of attributes, then 1 for on (UEFI 2.10, 3.3).
    static let secureBootVariable =
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

    /// Whether it checks what it starts; unknown where there is no such variable.
    static func secureBoot(at path: String) -> SecureBoot {
        guard let bytes = try? readFile(path, cap: 16), bytes.count == 5 else { return .unknown }
        switch bytes[4] {
        case 1: return .on
        case 0: return .off
        default: return .unknown
        }
    }
}
