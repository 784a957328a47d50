// SPDX-License-Identifier: Apache-2.0
import Crypto

/// PCRs of the SHA-256 bank, of which a TPM on a PC has 24.
package struct RegisterSelection: Equatable, Sendable {
    /// No register: keys are then bound to none.
    package static let none = RegisterSelection(mask: 0)

    /// One bit a register, the first one lowest.
    private let mask: UInt32

    private init(mask: UInt32) {
        self.mask = mask
    }

    /// Nil unless each number lies in 0 to 23 and none is there twice.
    package init?(_ numbers: [Int]) {
        var mask: UInt32 = 0
        for number in numbers {
            guard (0..<24).contains(number), mask & 1 << number == 0 else { return nil }
            mask |= 1 << number
        }
        self.mask = mask
    }

    /// From the three bytes of a TPMS_PCR_SELECTION; nil for any other count.
    package init?(bitmap: [UInt8]) {
        guard bitmap.count == 3 else { return nil }
        mask = UInt32(bitmap[0]) | UInt32(bitmap[1]) << 8 | UInt32(bitmap[2]) << 16
    }

    /// Whether there is none.
    package var isEmpty: Bool { mask == 0 }

    /// The numbers, ascending.
    package var numbers: [Int] { (0..<24).filter { mask & 1 << $0 != 0 } }

    /// The three bytes of a TPMS_PCR_SELECTION.
    package var bitmap: [UInt8] {
        [0, 8, 16].map { UInt8(truncatingIfNeeded: mask >> $0) }
    }

    /// A TPML_PCR_SELECTION of the SHA-256 bank; TPM 2.0 part 2, 10.9.7.
    var wire: [UInt8] {
        guard !isEmpty else { return bigEndian(UInt32(0)) }
        return bigEndian(UInt32(1)) + bigEndian(Algorithm.sha256) + [3] + bitmap
    }

    /// From a TPML_PCR_SELECTION of the SHA-256 bank or of nothing; nil for any other.
    init?(wire: [UInt8]) {
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

    /// These without those of another.
    func subtracting(_ other: RegisterSelection) -> RegisterSelection {
        RegisterSelection(mask: mask & ~other.mask)
    }
}

/// What a key or data wants before it is used: the registers' values, then its authorisation.
package struct ObjectPolicy: Equatable, Sendable {
    /// The registers; may be none.
    package let registers: RegisterSelection
    /// The SHA-256 of their values one behind the other, 32 bytes; empty where there are none.
    package let registerDigest: [UInt8]

    /// Nil unless there is a digest of 32 bytes for registers, and none for none.
    package init?(registers: RegisterSelection, registerDigest: [UInt8]) {
        guard registerDigest.count == (registers.isEmpty ? 0 : SHA256.digestCount) else {
            return nil
        }
        self.registers = registers
        self.registerDigest = registerDigest
    }

    /// What the TPM compares: PolicyPCR where there are registers, then PolicyAuthValue.
    ///
    /// 32 bytes; TPM 2.0 part 3, 23.7 and 23.17.
    package func digest() throws(CryptoFault) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.digestCount)
        if !registers.isEmpty {
            digest = try SHA256.digest(
                digest + bigEndian(UInt32(0x17f)) + registers.wire + registerDigest)
        }
        return try SHA256.digest(digest + bigEndian(UInt32(0x16b)))
    }
}
