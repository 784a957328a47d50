// SPDX-License-Identifier: Apache-2.0
import Crypto

/// The prints in one reader's own storage, as far as an enrolment state depends on them.
///
/// Match-on-chip readers compare fingers themselves, with whatever prints they store. A credential
/// is therefore sealed to the recorded contents of that storage too. With any other contents its
/// context is different, so that a print which someone else put on the reader invalidates it.
package struct ReaderStorage: Equatable, Sendable {
    /// The maximum number of prints of one reader that can be covered.
    package static let limit = 1_000

    /// The name of the reader's libfprint driver.
    package let driver: String
    /// libfprint's id of the device, which is `0` for many drivers.
    package let device: String
    /// The unit's serial number on its bus; nil if it has none, or if the unit is not known.
    package let serial: String?
    /// The SHA-256 of each covered print, 32 bytes each, sorted and without duplicates.
    package let prints: [[UInt8]]

    /// Creates a description of a reader's storage; sorts the prints and removes duplicates.
    package init(driver: String, device: String, serial: String?, prints: some Sequence<[UInt8]>) {
        self.driver = driver
        self.device = device
        self.serial = serial
        self.prints = Set(prints).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Whether both describe the same unit: the same kind of reader and the same serial number,
    /// where a missing serial number equals only another missing one.
    package func isSameUnit(as other: ReaderStorage) -> Bool {
        isSameKind(as: other) && serial == other.serial
    }

    /// Whether both readers have the same driver and device id, so that a print of one could be on
    /// the other.
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
    /// Returns the state of these fingers together with the contents of their readers' storage.
    ///
    /// The order of the readers does not matter. Without any reader the state is unchanged, as
    /// version 0.1.0 computed it.
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
