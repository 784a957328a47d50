// SPDX-License-Identifier: Apache-2.0
import Crypto

/// One enrolled print as far as the enrolment state depends on it.
package struct EnrolledPrint: Equatable, Sendable {
    /// The print's id, 16 bytes.
    package let identifier: [UInt8]
    /// The finger's name, as the store writes it.
    package let finger: String
    /// The reader it was enrolled on.
    package let reader: String
    /// The SHA-256 of the template as the reader's library wrote it, 32 bytes.
    package let templateDigest: [UInt8]

    /// Describes a print by its values.
    package init(identifier: [UInt8], finger: String, reader: String, templateDigest: [UInt8]) {
        self.identifier = identifier
        self.finger = finger
        self.reader = reader
        self.templateDigest = templateDigest
    }
}

/// What a credential is sealed to: exactly these fingers, in this generation.
package struct EnrolmentState: Equatable, Sendable {
    /// How often the set of prints was changed; it never comes back to an earlier value.
    package let generation: UInt64
    /// A digest of the generation and all prints, 32 bytes.
    package let digest: [UInt8]

    /// Nil unless the digest has 32 bytes.
    package init?(generation: UInt64, digest: [UInt8]) {
        guard digest.count == SHA256.digestCount else { return nil }
        self.generation = generation
        self.digest = digest
    }

    /// Computes the state of a set of prints, in whatever order they come.
    package init(generation: UInt64, prints: [EnrolledPrint]) throws(CryptoFault) {
        var fields = LengthPrefixed(label: "signet enrolment 1")
        fields.append(generation)
        let sorted = prints.sorted { $0.identifier.lexicographicallyPrecedes($1.identifier) }
        fields.append(UInt64(sorted.count))
        for print in sorted {
            fields.append(print.identifier)
            fields.append(Array(print.finger.utf8))
            fields.append(Array(print.reader.utf8))
            fields.append(print.templateDigest)
        }
        self.generation = generation
        digest = try SHA256.digest(fields.bytes)
    }
}
