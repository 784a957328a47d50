// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import TPMStructures

// Reads PCR values over an audited session, so that an attacker on the bus cannot have keys bound
// to values of the attacker's choice.
extension RegisterSelection {
    /// Returns the SHA-256 of the concatenated PCR values, 32 bytes; empty for an empty selection.
    ///
    /// An audit session that is salted to the root key authenticates the answers, so an attacker on
    /// the bus cannot have objects sealed to other values. A TPM returns at most eight values at a
    /// time, so several reads may be needed.
    ///
    /// - Throws: `.unfitRegisters` if the TPM has no SHA-256 value of a PCR; `.refused` with the
    ///   meaning `.registersChanged` if a PCR changed between two reads.
    package func digest(
        over connection: TPMConnection, root: StorageRoot
    ) throws(TPMFault) -> [UInt8] {
        guard !isEmpty else { return [] }
        let audit = try connection.startSession(salt: root.handle, bind: ESYS_TR_NONE)
        try audit.set([.continues, .audits])
        var values: [UInt8] = []
        var counter: UInt32?
        var rest = self
        while !rest.isEmpty {
            let (read, found, bytes) = try rest.read(over: connection, audit: audit)
            guard !found.isEmpty, found.subtracting(rest).isEmpty else {
                throw .unfitRegisters(rest.numbers)
            }
            guard counter == nil || counter == read else {
                throw .refused(.readRegisters, ReturnCode(0x128))
            }
            counter = read
            rest = rest.subtracting(found)
            values += bytes
        }
        return try crypto { () throws(CryptoFault) in try SHA256.digest(values) }
    }
}

extension RegisterSelection {
    /// Reads as many of the PCRs as the TPM returns at once; TPM2_PCR_Read.
    ///
    /// Returns the PCR update counter, the PCRs that were read, and their concatenated values.
    fileprivate func read(
        over connection: TPMConnection, audit: TPMSession
    ) throws(TPMFault) -> (UInt32, RegisterSelection, [UInt8]) {
        let wanted = try unsafe Unmarshalled(wire, Tss2_MU_TPML_PCR_SELECTION_Unmarshal)
        var counter: UInt32 = 0
        var read: UnsafeMutablePointer<TPML_PCR_SELECTION>?
        var digests: UnsafeMutablePointer<TPML_DIGEST>?
        try connection.run(.readRegisters) {
            unsafe Esys_PCR_Read(
                connection.context, audit.handle, ESYS_TR_NONE, ESYS_TR_NONE, wanted.pointer,
                &counter,
                &read, &digests)
        }
        guard let read = unsafe TPMAllocation(read), let digests = unsafe TPMAllocation(digests)
        else {
            throw .malformed(.readRegisters)
        }
        let selected = try unsafe read.bytes(Tss2_MU_TPML_PCR_SELECTION_Marshal)
        let values = try unsafe digests.bytes(Tss2_MU_TPML_DIGEST_Marshal)
        guard let found = RegisterSelection(wire: selected),
            let bytes = registerValues(values, count: found.numbers.count)
        else { throw .malformed(.readRegisters) }
        return (counter, found, bytes)
    }
}

/// Concatenates the values of a TPML_DIGEST; nil unless there are `count` values of 32 bytes each.
private func registerValues(_ wire: [UInt8], count: Int) -> [UInt8]? {
    var reader = WireReader(wire)
    guard reader.uint32() == UInt32(count) else { return nil }
    var values: [UInt8] = []
    for _ in 0..<count {
        guard let value = reader.sized(limit: 32), value.count == 32 else { return nil }
        values += value
    }
    return reader.isAtEnd ? values : nil
}
