// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import JSONFormat
import SQLSupport
import ServerAPI
import SignedFormats
import TPM
import TPMStructures
import TestSupport
import Testing

@testable import RelyingParty

/// What the check of an attestation refuses, with a TPM that does what it is asked.
@Suite("What a TPM states of a key")
struct AttestationRefusalTests {
    @Test("is refused if it is altered, cut, signed by another key or about something else")
    func altered() async throws {
        let case_ = try await Checked()
        try case_.expect(nil)
        let parts = ["area", "registerDigest", "registers"]
        try case_.expect(.otherKey) { attestation in
            var area = try Checked.bytes(attestation, "area")
            area[area.count - 1] ^= 1
            attestation["area"] = base64(area)
        }
        // An area of weaker attributes: not fixedTPM, not fixedParent, not made by the TPM, usable
        // by a password, restricted.
        for (offset, bit) in [(7, UInt8(0x02)), (7, 0x10), (7, 0x20), (7, 0x40), (5, 0x01)] {
            try case_.expect(.otherKind) { attestation in
                var area = try Checked.bytes(attestation, "area")
                area[offset] ^= bit
                attestation["area"] = base64(area)
            }
        }
        // Another policy.
        try case_.expect(.otherKind) { attestation in
            attestation["registers"] = base64([0x80, 0, 0])
            attestation["registerDigest"] = base64([UInt8](repeating: 1, count: 32))
        }
        for part in parts {
            let whole = try Checked.bytes(case_.attestation, part)
            for count in 0..<whole.count {
                try case_.expectRefusal { $0[part] = base64(Array(whole.prefix(count))) }
            }
            try case_.expectRefusal { $0[part] = base64(whole + [0]) }
        }
        for part in ["certification", "quote"] {
            for member in ["statement", "signature"] {
                let signed = try #require(case_.attestation[part] as? [String: Any])
                let whole = try Checked.bytes(signed, member)
                for count in 0..<whole.count {
                    try case_.expectRefusal {
                        $0[part] = Checked.changed(signed, member, Array(whole.prefix(count)))
                    }
                }
                for offset in whole.indices {
                    var other = whole
                    other[offset] ^= 0x10
                    try case_.expectRefusal {
                        $0[part] = Checked.changed(signed, member, other)
                    }
                }
            }
        }
        // Both statements, each for the other.
        try case_.expect(.otherSubject("certification")) {
            $0["certification"] = $0["quote"]
        }
        try case_.expect(.otherSubject("quote")) { $0["quote"] = $0["certification"] }
        // What another attestation key of the same TPM has signed.
        let own = case_.device.attestationKey
        case_.device.attestationKey = try TPMAttester(case_.device.connection)
            .createAttestationKey(root: case_.device.root)
        let foreign = try case_.device.certification(of: case_.text)
        case_.device.attestationKey = own
        try case_.expect(.notSigned("certification")) { $0["certification"] = foreign }
        // A wrong secret, a part of it, and none.
        for secret in [[UInt8](repeating: 0, count: 32), Array(case_.secret.dropLast()), []] {
            try case_.expect(.wrongSecret) { $0["secret"] = base64(secret) }
        }
    }

    @Test("is refused for another key than the one that is registered")
    func otherKey() async throws {
        let case_ = try await Checked()
        let registered = try case_.device.point
        let area = case_.device.loginKey.area.bytes
        try case_.device.renewKey()
        let other = try case_.device.certification(of: case_.text)
        let otherArea = case_.device.loginKey.area.bytes
        #expect(registered != (try case_.device.point))
        // The certification of the other key with either area.
        try case_.expect(.otherSubject("certification")) { $0["certification"] = other }
        try case_.expect(.otherKey) {
            $0["certification"] = other
            $0["area"] = base64(otherArea)
        }
        try case_.expect(nil) { $0["area"] = base64(area) }
    }

    @Test("is refused of a key that its TPM would hand over, although the TPM certifies it")
    func duplicable() async throws {
        let case_ = try await Checked()
        try case_.device.makeDuplicable()
        let made = try case_.device.attestation(secret: case_.secret, of: case_.text)
        try case_.expect(.otherKind) { $0 = made }
    }

    @Test("does not prove secure boot with a log or a quote of something else, or of another boot")
    func quotes() async throws {
        let case_ = try await Checked()
        try case_.expect(nil, properties: [.key, .secureBoot])
        // Without a quote, and with half of one.
        try case_.expect(nil, properties: [.key]) {
            $0["quote"] = nil
            $0["log"] = nil
        }
        try case_.expect(.malformed("quote")) { $0["quote"] = nil }
        try case_.expect(.malformed("log")) { $0["log"] = nil }
        // The log of another machine.
        let other = try #require(SecureBootLog(firmware: FirmwareLog(secureBoot: 0).bytes))
        try case_.expect(.otherLog) { $0["log"] = base64(other.encoded) }
        let log = try Checked.bytes(case_.attestation, "log")
        for count in 0..<log.count {
            try case_.expectRefusal { $0["log"] = base64(Array(log.prefix(count))) }
        }
        // Other registers, and more of them.
        for registers in [[0], [0, 7], [23]] {
            let quote = try case_.device.quote(of: case_.text, registers: registers)
            try case_.expect(.otherSubject("quote")) { $0["quote"] = quote }
        }
        // A later measurement changes the value.
        try case_.device.tpm.extend(pcr: 7)
        let extended = try case_.device.quote(of: case_.text)
        try case_.expect(.otherLog) { $0["quote"] = extended }
        // The same measurements, in the next boot.
        try case_.device.reboot()
        let rebooted = try case_.device.quote(of: case_.text)
        try case_.expect(.otherBoot) { $0["quote"] = rebooted }
        let certified = try case_.device.certification(of: case_.text)
        let afterwards = try case_.device.quote(of: case_.text)
        try case_.expect(nil, properties: [.key, .secureBoot]) {
            $0["quote"] = afterwards
            $0["certification"] = certified
        }
        // A quote of before, in the boot before or in this one.
        for before in [nil, rebooted] {
            try case_.expect(.otherBoot) {
                $0["quote"] = before ?? $0["quote"]
                $0["certification"] = certified
            }
        }
    }

    @Test("proves no secure boot where it was off, or claimed later")
    func insecure() async throws {
        var forged = FirmwareLog(secureBoot: 0)
        forged.measure(FirmwareLog.variable(secureBoot: 1), type: 0x8000_0001)
        forged.measure([0, 0, 0, 0], type: 4)
        for firmware in [FirmwareLog(secureBoot: 0), forged] {
            let case_ = try await Checked(firmware: firmware)
            try case_.expect(nil, properties: [.key])
        }
    }
}

/// An attestation that is good, for tests to change.
private final class Checked {
    let device: AttestingDevice
    let text: [UInt8]
    let secret: [UInt8]
    let attestation: [String: Any]
    private let begun: AttestationRecord
    private let signature: [UInt8]
    private let point: [UInt8]

    init(firmware: FirmwareLog = .secure) async throws {
        device = try AttestingDevice(firmware: firmware)
        text = device.statement(for: try fresh(), at: 1_800_000_000)
        secret = try freshBytes(32)
        begun = AttestationRecord(
            certificate: try device.certificate, keyArea: device.attestationKey.area.bytes,
            secretHash: try SHA256.digest(secret))
        attestation = try device.attestation(secret: secret, of: text)
        signature = try device.signature(of: text)
        point = try device.point
    }

    /// Expects a fault, or what is proven, after a change.
    func expect(
        _ fault: AttestationFault?, properties: [AttestedProperty]? = nil,
        _ change: (inout [String: Any]) throws -> Void = { _ in }
    ) throws {
        var changed = attestation
        try change(&changed)
        do throws(AttestationFault) {
            let key = try verify(changed)
            #expect(fault == nil)
            if let properties { #expect(key.properties == properties) }
        } catch { #expect(error == fault) }
    }

    /// Expects any fault after a change.
    func expectRefusal(_ change: (inout [String: Any]) throws -> Void) throws {
        var changed = attestation
        try change(&changed)
        #expect(throws: AttestationFault.self) { try verify(changed) }
    }

    static func bytes(_ object: [String: Any], _ member: String) throws -> [UInt8] {
        let text = try #require(object[member] as? String)
        return try #require(Base64.decode([UInt8](text.utf8), alphabet: .url))
    }

    static func changed(
        _ object: [String: Any], _ member: String, _ bytes: [UInt8]
    ) -> [String: Any] {
        var object = object
        object[member] = base64(bytes)
        return object
    }

    private func verify(_ changed: [String: Any]) throws(AttestationFault) -> AttestedKey {
        guard let bytes = try? JSONSerialization.data(withJSONObject: changed),
            let body = try? JSON.decode(KeyAttestation.self, from: [UInt8](bytes))
        else { throw .malformed("body") }
        return try AttestedKey.verify(
            body, begun: begun,
            proof: RegistrationProof(
                publicKey: Binary(point), statement: Binary(text), signature: Binary(signature)),
            at: 1_800_000_000)
    }
}
