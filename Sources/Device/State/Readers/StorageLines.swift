// SPDX-License-Identifier: Apache-2.0
import Crypto
import Sealing
import SignedFormats

// The lines for the contents of readers' storage, in the records of credentials and of pending
// work.
extension LineWriter {
    /// Writes the contents of some readers.
    mutating func put(storage: [ReaderStorage]) {
        put("readers", number: UInt64(storage.count))
        for reader in storage {
            put("driver", Array(reader.driver.utf8))
            put("device", Array(reader.device.utf8))
            put("serial", Array((reader.serial ?? "").utf8))
            put("stored", Base64.encode(reader.prints.flatMap(\.self), alphabet: .url))
        }
    }
}

extension ReaderStorage {
    /// The maximum number of readers in a record.
    fileprivate static let readerLimit = 16

    /// Whether these contents fit into a record.
    static func isRecordable(_ storage: [ReaderStorage]) -> Bool {
        storage.count <= readerLimit && storage.allSatisfy { $0.prints.count <= limit }
    }
}

extension LineReader {
    /// Reads the contents of some readers.
    ///
    /// Throws unless they are in canonical form.
    mutating func storage() throws(LineFault) -> [ReaderStorage] {
        let count = try number("readers")
        guard count <= ReaderStorage.readerLimit else { throw .tooLong }
        var found: [ReaderStorage] = []
        for _ in 0..<count {
            let driver = try string("driver")
            let device = try string("device")
            let serial = try string("serial")
            found.append(
                ReaderStorage(
                    driver: driver, device: device, serial: serial.isEmpty ? nil : serial,
                    prints: try digests("stored")))
        }
        return found
    }

    private mutating func string(_ name: StaticString) throws(LineFault) -> String {
        guard let text = String(validating: try value(name, cap: 512), as: UTF8.self) else {
            throw .malformed
        }
        return text
    }

    /// Reads SHA-256 digests in one line, which must be in ascending order without duplicates.
    private mutating func digests(_ name: StaticString) throws(LineFault) -> [[UInt8]] {
        let size = SHA256.digestCount
        let bytes = try bytes(name, cap: ReaderStorage.limit * size)
        guard bytes.count.isMultiple(of: size) else { throw .malformed }
        var digests: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let digest = Array(bytes[start..<start + size])
            let isNext = digests.last.map { $0.lexicographicallyPrecedes(digest) }
            guard isNext ?? true else { throw .malformed }
            digests.append(digest)
        }
        return digests
    }
}
