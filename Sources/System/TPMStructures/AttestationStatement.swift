// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What a TPM has stated about itself, as a parsed TPMS_ATTEST; TPM 2.0 part 2, 10.12.8.
///
/// The statement proves something only with the signature of a restricted key, which signs no bytes
/// that begin like one unless the TPM has made them.
package struct AttestationStatement: Equatable, Sendable {
    /// The maximum length in bytes of a statement that is read.
    package static let limit = 512

    /// What the statement is about.
    package enum Subject: Equatable, Sendable {
        /// An object with this Name is loaded; TPM2_Certify.
        case object(name: [UInt8])
        /// These PCRs have values whose concatenation has this SHA-256; TPM2_Quote.
        case registers(RegisterSelection, digest: [UInt8])
    }

    /// The TPM's clock; TPM 2.0 part 2, 10.11.1 (TPMS_CLOCK_INFO).
    ///
    /// For a key of the owner hierarchy, the TPM adds a constant of the key to both counters, so
    /// they can be compared between statements of one key only.
    package struct Clock: Equatable, Sendable {
        /// Milliseconds for which the TPM has had power.
        package let milliseconds: UInt64
        /// How often the TPM was reset.
        package let resets: UInt32
        /// How often it was restarted or resumed since the last reset.
        package let restarts: UInt32

        /// Whether another clock is of the same boot, and at most `limit` milliseconds later.
        package func precedes(_ later: Clock, within limit: UInt64) -> Bool {
            resets == later.resets && restarts == later.restarts
                && milliseconds <= later.milliseconds
                && later.milliseconds - milliseconds <= limit
        }
    }

    /// The caller's qualifying data.
    package let qualifier: [UInt8]
    /// When the statement was made.
    package let clock: Clock
    /// What it is about.
    package let subject: Subject

    /// Parses a statement of one of the two kinds; nil for any other bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= AttestationStatement.limit else { return nil }
        var reader = WireReader(bytes)
        guard reader.uint32() == AttestationStatement.magic, let kind = reader.uint16(),
            reader.sized(limit: AttestationStatement.nameLimit) != nil,
            let qualifier = reader.sized(limit: AttestationStatement.nameLimit),
            let milliseconds = reader.uint64(), let resets = reader.uint32(),
            let restarts = reader.uint32(), let safe = reader.bytes(1), safe[0] <= 1,
            reader.uint64() != nil
        else { return nil }
        switch kind {
        case AttestationStatement.certify:
            guard let name = reader.sized(limit: AttestationStatement.nameLimit),
                reader.sized(limit: AttestationStatement.nameLimit) != nil
            else { return nil }
            subject = .object(name: name)
        case AttestationStatement.quote:
            guard let selection = reader.registerSelection(),
                let digest = reader.sized(limit: SHA256.digestCount),
                digest.count == SHA256.digestCount
            else { return nil }
            subject = .registers(selection, digest: digest)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
        self.qualifier = qualifier
        clock = Clock(milliseconds: milliseconds, resets: resets, restarts: restarts)
    }

    /// TPM_GENERATED_VALUE; TPM 2.0 part 2, table 7.
    private static let magic: UInt32 = 0xff54_4347
    /// TPM_ST_ATTEST_CERTIFY and TPM_ST_ATTEST_QUOTE; TPM 2.0 part 2, table 20.
    private static let certify: UInt16 = 0x8017
    private static let quote: UInt16 = 0x8018
    /// The length of a Name with the longest hash.
    private static let nameLimit = 66
}

extension WireReader {
    /// Reads a TPML_PCR_SELECTION of the SHA-256 bank; nil for any other.
    fileprivate mutating func registerSelection() -> RegisterSelection? {
        guard let count = uint32(), count == 1, let bank = uint16(), let size = bytes(1),
            let bitmap = bytes(Int(size[0]))
        else { return nil }
        return RegisterSelection(
            wire: bigEndian(count) + bigEndian(bank) + size + bitmap)
    }
}

extension P256Signature {
    /// The maximum length in bytes of a TPMT_SIGNATURE that is read.
    package static let tpmLimit = 72

    /// Parses a TPMT_SIGNATURE of ECDSA with SHA-256; nil for any other bytes; TPM 2.0 part 2,
    /// 11.3.4.
    package init?(tpm bytes: [UInt8]) {
        guard bytes.count <= P256Signature.tpmLimit else { return nil }
        var reader = WireReader(bytes)
        guard reader.uint16() == Algorithm.ecdsa, reader.uint16() == Algorithm.sha256,
            let r = reader.sized(limit: 32), let s = reader.sized(limit: 32), reader.isAtEnd
        else { return nil }
        self.init(r: padded(r), s: padded(s))
    }
}
