// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain

/// The values of one enrolled print that the enrolment state depends on.
package struct EnrolledPrint: Equatable, Sendable {
    /// The print's id.
    package let identifier: PrintID
    /// The finger's name, as in the print's record.
    package let finger: String
    /// The name of the reader that the finger was enrolled on.
    package let reader: String
    /// The SHA-256 of the template as libfprint serialised it, 32 bytes.
    package let templateDigest: [UInt8]

    /// Creates a description from its values.
    package init(identifier: PrintID, finger: String, reader: String, templateDigest: [UInt8]) {
        self.identifier = identifier
        self.finger = finger
        self.reader = reader
        self.templateDigest = templateDigest
    }
}

/// The set of enrolled fingers that a key or a secret is sealed to.
///
/// Two states are equal only if both the prints and the generation are equal. Deleting a finger and
/// enrolling it again therefore gives a different state, and an item that was sealed to the old
/// state does not open in the new one. The state enters the key derivation of every vault through
/// `SealingContext`.
package struct EnrolmentState: Equatable, Sendable {
    /// The number of changes made to the set of prints; it never returns to an earlier value.
    package let generation: UInt64
    /// The SHA-256 of the generation and all prints, 32 bytes.
    package let digest: [UInt8]

    /// Creates a state from stored values.
    ///
    /// Returns nil unless the digest is 32 bytes long.
    package init?(generation: UInt64, digest: [UInt8]) {
        guard digest.count == SHA256.digestCount else { return nil }
        self.generation = generation
        self.digest = digest
    }

    /// Computes the state of a set of prints.
    ///
    /// The digest is the SHA-256 of a length-prefixed encoding of the generation and of every
    /// print's id, finger, reader and template digest. The prints are sorted by id first, so their
    /// order does not matter.
    package init(generation: UInt64, prints: [EnrolledPrint]) throws(CryptoFault) {
        var fields = LengthPrefixed(label: "signet enrolment 1")
        fields.append(generation)
        let sorted = prints.sorted {
            $0.identifier.bytes.lexicographicallyPrecedes($1.identifier.bytes)
        }
        fields.append(UInt64(sorted.count))
        for print in sorted {
            fields.append(print.identifier.bytes)
            fields.append(Array(print.finger.utf8))
            fields.append(Array(print.reader.utf8))
            fields.append(print.templateDigest)
        }
        self.generation = generation
        digest = try SHA256.digest(fields.bytes)
    }
}
