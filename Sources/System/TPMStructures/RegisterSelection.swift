// SPDX-License-Identifier: Apache-2.0
import Crypto

/// A selection of PCRs of the SHA-256 bank; a TPM in a PC has 24 of them.
///
/// PCRs are called registers here. Only the selection is represented, not the values.
package struct RegisterSelection: Equatable, Sendable {
    /// The empty selection, which binds an object to no PCR.
    package static let none = RegisterSelection(mask: 0)

    /// One bit for each PCR; the least significant one is PCR 0.
    private let mask: UInt32

    private init(mask: UInt32) {
        self.mask = mask
    }

    /// Creates a selection from PCR numbers; nil unless every number is from 0 to 23 and occurs
    /// once.
    package init?(_ numbers: [Int]) {
        var mask: UInt32 = 0
        for number in numbers {
            guard (0..<24).contains(number), mask & 1 << number == 0 else { return nil }
            mask |= 1 << number
        }
        self.mask = mask
    }

    /// Parses the three bytes of a TPMS_PCR_SELECTION; nil for any other number of bytes.
    package init?(bitmap: [UInt8]) {
        guard bitmap.count == 3 else { return nil }
        mask = UInt32(bitmap[0]) | UInt32(bitmap[1]) << 8 | UInt32(bitmap[2]) << 16
    }

    /// Whether no PCR is selected.
    package var isEmpty: Bool { mask == 0 }

    /// The numbers of the PCRs in ascending order.
    package var numbers: [Int] { (0..<24).filter { mask & 1 << $0 != 0 } }

    /// The three bytes of a TPMS_PCR_SELECTION.
    package var bitmap: [UInt8] {
        [0, 8, 16].map { UInt8(truncatingIfNeeded: mask >> $0) }
    }

    /// A TPML_PCR_SELECTION of the SHA-256 bank; TPM 2.0 part 2, 10.9.7.
    package var wire: [UInt8] {
        guard !isEmpty else { return bigEndian(UInt32(0)) }
        return bigEndian(UInt32(1)) + bigEndian(Algorithm.sha256) + [3] + bitmap
    }

    /// Parses a TPML_PCR_SELECTION of the SHA-256 bank or an empty one; nil for any other.
    ///
    /// A longer bitmap is accepted if no bit above PCR 23 is set.
    package init?(wire: [UInt8]) {
        var reader = WireReader(wire)
        guard let banks = reader.uint32(), banks <= 1 else { return nil }
        guard banks == 1 else {
            self = .none
            return
        }
        guard reader.uint16() == Algorithm.sha256, let size = reader.bytes(1)?.first, size >= 3,
            let bitmap = reader.bytes(Int(size)), reader.isAtEnd,
            bitmap.dropFirst(3).allSatisfy({ $0 == 0 })
        else { return nil }
        self.init(bitmap: Array(bitmap.prefix(3)))
    }

    /// Returns the PCRs of this selection that are not in the other one.
    package func subtracting(_ other: RegisterSelection) -> RegisterSelection {
        RegisterSelection(mask: mask & ~other.mask)
    }
}

/// The policy of an object: its PCRs must have these values, and its authorisation value is
/// required.
///
/// Both are required together, so neither the value nor the state of the machine suffices alone.
/// Without PCRs, only the value is required.
package struct ObjectPolicy: Equatable, Sendable {
    /// The PCRs that are compared; may be empty.
    package let registers: RegisterSelection
    /// The SHA-256 of the concatenated PCR values, 32 bytes; empty if there are no PCRs.
    package let registerDigest: [UInt8]

    /// Creates a policy; nil unless the digest has 32 bytes, or none for an empty selection.
    package init?(registers: RegisterSelection, registerDigest: [UInt8]) {
        guard registerDigest.count == (registers.isEmpty ? 0 : SHA256.digestCount) else {
            return nil
        }
        self.registers = registers
        self.registerDigest = registerDigest
    }

    /// Returns the policy digest that the TPM compares, 32 bytes; TPM 2.0 part 3, 23.7 and 23.17.
    ///
    /// It is computed as the TPM does: PolicyPCR if there are PCRs, then PolicyAuthValue.
    package func digest() throws(CryptoFault) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.digestCount)
        if !registers.isEmpty {
            digest = try SHA256.digest(
                digest + bigEndian(UInt32(0x17f)) + registers.wire + registerDigest)
        }
        return try SHA256.digest(digest + bigEndian(UInt32(0x16b)))
    }
}
