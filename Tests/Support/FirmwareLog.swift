// SPDX-License-Identifier: Apache-2.0
import Crypto

/// An event log as firmware writes it and Linux shows it in `binary_bios_measurements`, with what it
/// has measured; TCG PC Client Platform Firmware Profile 1.05, section 10.
package struct FirmwareLog: Sendable {
    /// The log.
    package private(set) var bytes: [UInt8]
    private var values: [UInt32: [UInt8]] = [:]
    /// The digests extended into PCR 7, in order.
    package private(set) var digests: [[UInt8]] = []
    private let algorithm: UInt16

    /// A log without measurements.
    package static let empty = FirmwareLog(algorithm: 0x0b)
    /// The log of a machine that was started with secure boot.
    package static let secure = FirmwareLog(secureBoot: 1)

    private init(algorithm: UInt16) {
        self.algorithm = algorithm
        let size: UInt16 = algorithm == 0x0b ? 32 : 20
        var form = Array("Spec ID Event03".utf8) + [0]
        form += [0, 0, 0, 0, 0, 2, 0, 2, 1, 0, 0, 0]
        form += little(algorithm) + little(size) + [0]
        bytes = little(UInt32(0)) + little(UInt32(3)) + [UInt8](repeating: 0, count: 20)
        bytes += little(UInt32(form.count)) + form
    }

    /// The log of a machine with this value of the variable `SecureBoot`.
    package init(secureBoot: UInt8, algorithm: UInt16 = 0x0b) {
        self.init(algorithm: algorithm)
        measure(Array("firmware".utf8), type: 8, register: 0)
        measure(Self.variable(secureBoot: secureBoot), type: 0x8000_0001)
        measure([UInt8](repeating: 1, count: 900), type: 0x8000_0001)
        measure([UInt8](repeating: 2, count: 3_000), type: 0x8000_0001)
        measure([0, 0, 0, 0], type: 4)
        measure([0, 0, 0, 0], type: 4, register: 0)
        measure([UInt8](repeating: 3, count: 1_200), type: 0x8000_00e0)
    }

    /// Adds a measurement.
    package mutating func measure(_ content: [UInt8], type: UInt32, register: UInt32 = 7) {
        let digest = (try? SHA256.digest(content)) ?? []
        let shown = algorithm == 0x0b ? digest : Array(digest.prefix(20))
        bytes += little(register) + little(type) + little(UInt32(1)) + little(algorithm) + shown
        bytes += little(UInt32(content.count)) + content
        let before = values[register] ?? [UInt8](repeating: 0, count: 32)
        values[register] = try? SHA256.digest(before + digest)
        if register == 7 { digests.append(digest) }
    }

    /// The value of a PCR after all measurements.
    package func value(of register: UInt32) -> [UInt8] {
        values[register] ?? [UInt8](repeating: 0, count: 32)
    }

    /// The content that is measured for the variable `SecureBoot`.
    package static func variable(secureBoot value: UInt8) -> [UInt8] {
        [
            0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11, 0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03,
            0x2b, 0x8c, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        ] + Array("SecureBoot".utf8).flatMap { [$0, 0] } + [value]
    }
}

private func little(_ number: some FixedWidthInteger) -> [UInt8] {
    Array([UInt8](bigEndian: number).reversed())
}
