// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What firmware has measured into PCR 7, as far as Secure Boot is concerned.
///
/// The form is that of the TCG's event log for SHA-256 alone (TCG PC Client Platform Firmware
/// Profile 1.05, section 10), with the events of PCR 7 only, so that tpm2_eventlog(1) reads it. The
/// content of an event is left out unless it is needed to understand the log; its digest stays, and
/// its type becomes `leftOut`. Types are in no digest, so nothing here trusts them.
package struct SecureBootLog: Equatable, Sendable {
    /// The PCR that firmware measures Secure Boot into.
    package static let register = 7
    /// The maximum length in bytes of a log that is read.
    package static let limit = 6_144

    /// One measurement.
    struct Event: Equatable, Sendable {
        let type: UInt32
        let digest: [UInt8]
        let content: [UInt8]
    }

    private let events: [Event]

    /// Parses a log in this one form; nil for any other bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= SecureBootLog.limit, bytes.starts(with: SecureBootLog.head) else {
            return nil
        }
        var reader = LittleEndianReader(bytes.dropFirst(SecureBootLog.head.count))
        var events: [Event] = []
        while !reader.isAtEnd {
            guard reader.uint32() == UInt32(SecureBootLog.register), let type = reader.uint32(),
                reader.uint32() == 1, reader.uint16() == Algorithm.sha256,
                let digest = reader.bytes(SHA256.digestCount), let count = reader.uint32(),
                count <= SecureBootLog.contentLimit, let content = reader.bytes(Int(count))
            else { return nil }
            events.append(Event(type: type, digest: digest, content: content))
        }
        self.events = events
    }

    /// Takes what matters from a whole event log of the firmware, as Linux shows it in
    /// `binary_bios_measurements`; nil if it is not one, or has no SHA-256 digests.
    package init?(firmware bytes: [UInt8]) {
        guard let events = firmwareEvents(bytes) else { return nil }
        self.events = events.map { event in
            let isNeeded =
                event.content == SecureBootLog.isOn || event.content == SecureBootLog.separator
            return isNeeded
                ? event : Event(type: SecureBootLog.leftOut, digest: event.digest, content: [])
        }
        guard encoded.count <= SecureBootLog.limit else { return nil }
    }

    /// The log's bytes.
    package var encoded: [UInt8] {
        events.reduce(into: SecureBootLog.head) { bytes, event in
            bytes += littleEndian(UInt32(SecureBootLog.register)) + littleEndian(event.type)
            bytes += littleEndian(UInt32(1)) + littleEndian(Algorithm.sha256) + event.digest
            bytes += littleEndian(UInt32(event.content.count)) + event.content
        }
    }

    /// The value that PCR 7 has after these measurements, 32 bytes; TPM 2.0 part 1, 17.
    package func replayed() throws(CryptoFault) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: SHA256.digestCount)
        for event in events { value = try SHA256.digest(value + event.digest) }
        return value
    }

    /// Whether the log says that Secure Boot was on.
    ///
    /// Firmware measures the variable first of all into PCR 7, and a separator when it hands over
    /// (the same profile, 3.3.4.8). Software that runs later can add measurements but put none
    /// before: so the first one must be the variable with the value 1. A firmware in debug mode
    /// measures that first, and is not accepted.
    package func saysSecureBoot() throws(CryptoFault) -> Bool {
        let separator = try SHA256.digest(SecureBootLog.separator)
        return events.first?.digest == (try SHA256.digest(SecureBootLog.isOn))
            && events.contains { $0.digest == separator }
    }

    /// The type of an event whose content was left out; the TCG assigns no such number.
    private static let leftOut: UInt32 = 0x7369_676e
    private static let contentLimit = 64

    /// The UEFI_VARIABLE_DATA of `SecureBoot` with the value 1: EFI_GLOBAL_VARIABLE, both lengths,
    /// name and value.
    private static let isOn: [UInt8] =
        [
            0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11, 0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03,
            0x2b, 0x8c,
        ] + littleEndian(UInt32(10)) + littleEndian(UInt32(0)) + littleEndian(UInt32(1))
        + littleEndian(UInt32(0)) + Array("SecureBoot".utf8).flatMap { [$0, 0] } + [1]
    /// The content of EV_SEPARATOR where nothing has failed.
    private static let separator: [UInt8] = [0, 0, 0, 0]

    /// The first event, which names the log's form: EV_NO_ACTION with a TCG_EfiSpecIDEvent.
    private static let head: [UInt8] = {
        let form =
            specification + littleEndian(UInt32(0)) + [0, 2, 0, 2] + littleEndian(UInt32(1))
            + littleEndian(Algorithm.sha256) + littleEndian(UInt16(SHA256.digestCount)) + [0]
        return littleEndian(UInt32(0)) + littleEndian(UInt32(3)) + [UInt8](repeating: 0, count: 20)
            + littleEndian(UInt32(form.count)) + form
    }()
    fileprivate static let specification = Array("Spec ID Event03".utf8) + [0]
}

/// The events of PCR 7 in a whole log with their SHA-256 digests, in order; nil if it has another
/// form.
private func firmwareEvents(_ bytes: [UInt8]) -> [SecureBootLog.Event]? {
    var reader = LittleEndianReader(bytes[...])
    guard reader.bytes(28) != nil, let count = reader.uint32(),
        let form = reader.bytes(Int(count)), let sizes = digestSizes(form)
    else { return nil }
    var events: [SecureBootLog.Event] = []
    while !reader.isAtEnd {
        guard let register = reader.uint32(), let type = reader.uint32(),
            let digests = reader.uint32(), digests <= sizes.count
        else { return nil }
        var found: [UInt8]?
        for _ in 0..<digests {
            guard let algorithm = reader.uint16(), let size = sizes[algorithm],
                let digest = reader.bytes(size)
            else { return nil }
            if algorithm == Algorithm.sha256 { found = digest }
        }
        guard let size = reader.uint32(), let content = reader.bytes(Int(size)) else { return nil }
        // EV_NO_ACTION informs the reader; it is not measured.
        guard register == UInt32(SecureBootLog.register), type != 3 else { continue }
        guard let found, found.count == SHA256.digestCount else { return nil }
        events.append(SecureBootLog.Event(type: type, digest: found, content: content))
    }
    return events
}

/// The sizes of the digests that a TCG_EfiSpecIDEvent announces, by algorithm; nil for another
/// event.
private func digestSizes(_ form: [UInt8]) -> [UInt16: Int]? {
    var reader = LittleEndianReader(form[...])
    guard reader.bytes(16) == SecureBootLog.specification, reader.bytes(8) != nil,
        let count = reader.uint32(), (1...16).contains(count)
    else { return nil }
    var sizes: [UInt16: Int] = [:]
    for _ in 0..<count {
        guard let algorithm = reader.uint16(), let size = reader.uint16() else { return nil }
        sizes[algorithm] = Int(size)
    }
    return sizes
}

/// Reads the little-endian structures of an event log; every length is checked first.
private struct LittleEndianReader {
    private var reader: WireReader

    init(_ bytes: ArraySlice<UInt8>) {
        reader = WireReader(Array(bytes))
    }

    var isAtEnd: Bool { reader.isAtEnd }

    mutating func bytes(_ count: Int) -> [UInt8]? { reader.bytes(count) }
    mutating func uint16() -> UInt16? { reader.uint16()?.byteSwapped }
    mutating func uint32() -> UInt32? { reader.uint32()?.byteSwapped }
}

private func littleEndian(_ number: UInt16) -> [UInt8] { bigEndian(number.byteSwapped) }

private func littleEndian(_ number: UInt32) -> [UInt8] { bigEndian(number.byteSwapped) }
