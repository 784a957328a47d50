// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPMStructures

/// What a device sends to a server as its TPM's statements, signatures and measurements.
enum Attestations: Harness {
    static let name = "attestations"

    static var seeds: [[UInt8]] {
        let name = sized([0, 0x0b] + [UInt8](repeating: 7, count: 32)) ?? []
        let head: [UInt8] = [0xff, 0x54, 0x43, 0x47]
        let middle = name + (sized([UInt8](repeating: 1, count: 32)) ?? [])
        let clock = [UInt8](repeating: 0, count: 16) + [1] + [UInt8](repeating: 2, count: 8)
        let selection: [UInt8] = [0, 0, 0, 1, 0, 0x0b, 3, 0x80, 0, 0]
        let digest = sized([UInt8](repeating: 9, count: 32)) ?? []
        return [
            head + [0x80, 0x17] + middle + clock + name + name,
            head + [0x80, 0x18] + middle + clock + selection + digest,
            [0, 0x18, 0, 0x0b] + digest + digest,
            PublicArea.attestation.bytes, EndorsementTemplate.rsa2048.area.bytes,
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        if let statement = AttestationStatement(bytes) {
            require(statement.qualifier.count <= 66, "qualifying data of any length")
        }
        if let signature = P256Signature(tpm: bytes) {
            require(signature.r.count == 32 && signature.s.count == 32, "a number of any length")
        }
        if let point = PublicArea(bytes: bytes).attestationPoint {
            require(point.count == 65, "an attestation key without a point")
        }
        if let log = SecureBootLog(bytes) {
            require(log.encoded == bytes, "a log has a second form")
        }
        if let log = SecureBootLog(firmware: bytes) {
            require(SecureBootLog(log.encoded) == log, "a reduced log is not read")
        }
        _ = try? Certificate(der: bytes)
    }
}
