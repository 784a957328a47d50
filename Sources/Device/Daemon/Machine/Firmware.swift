// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// Reads how the machine was booted, as the firmware reports it.
enum Firmware {
    /// The kernel's file for the EFI variable: four bytes of attributes, then one byte that is 1 if
    /// secure boot is on (UEFI 2.10, section 3.3).
    static let secureBootVariable =
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

    /// Whether secure boot is on; unknown if the variable cannot be read or has another form.
    static func secureBoot(at path: String) -> SecureBoot {
        guard let bytes = try? readFile(path, cap: 16), bytes.count == 5 else { return .unknown }
        switch bytes[4] {
        case 1: return .on
        case 0: return .off
        default: return .unknown
        }
    }
}
