// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What one reader keeps in its own storage, as far as the enrolment state depends on it.
package struct ReaderStorage: Equatable, Sendable {
    /// The most prints of one reader that can be covered.
    package static let limit = 1_000

    /// The reader's driver, as libfprint names it.
    package let driver: String
    /// libfprint's id of the device, `0` for many.
    package let device: String
    /// The unit's serial number on its bus; nil where it has none, or which unit it is is not known.
    package let serial: String?
    /// A SHA-256 of each print that is covered, 32 bytes, sorted, none twice.
    package let prints: [[UInt8]]

    /// Describes what a reader keeps; the prints may come in any order.
    package init(driver: String, device: String, serial: String?, prints: some Sequence<[UInt8]>) {
        self.driver = driver
        self.device = device
        self.serial = serial
        self.prints = Set(prints).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Whether both are of the same unit, as far as that can be told.
    package func isSameUnit(as other: ReaderStorage) -> Bool {
        isSameKind(as: other) && serial == other.serial
    }

    /// Whether prints that fit the one reader fit the other.
    package func isSameKind(as other: ReaderStorage) -> Bool {
        driver == other.driver && device == other.device
    }

    fileprivate var encoded: [UInt8] {
        var fields = LengthPrefixed(label: "reader")
        fields.append(Array(driver.utf8))
        fields.append(Array(device.utf8))
        fields.append(UInt64(serial == nil ? 0 : 1))
        fields.append(Array((serial ?? "").utf8))
        fields.append(UInt64(prints.count))
        for print in prints { fields.append(print) }
        return fields.bytes
    }
}

extension EnrolmentState {
    /// The state of these fingers together with what their readers keep, in whatever order it comes.
    ///
    /// Without any such reader it is the state itself, as version 0.1.0 had it.
    package func covering(_ storage: [ReaderStorage]) throws(CryptoFault) -> EnrolmentState {
        guard !storage.isEmpty else { return self }
        var fields = LengthPrefixed(label: "signet enrolment on readers 1")
        fields.append(generation)
        fields.append(digest)
        fields.append(UInt64(storage.count))
        for reader in storage.map(\.encoded).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            fields.append(reader)
        }
        return EnrolmentState(
            generation: generation, covered: try SHA256.digest(fields.bytes))
    }

    private init(generation: UInt64, covered digest: [UInt8]) {
        self.generation = generation
        self.digest = digest
    }
}
