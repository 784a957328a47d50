// SPDX-License-Identifier: Apache-2.0
import CTSS
import TPMStructures

// The endorsement key: the key that the TPM's maker has certified. It cannot sign; it proves the TPM
// by decrypting what was made for another object of the same TPM (`Attestation.swift`).

/// The certificate of an endorsement key, as the TPM's maker has stored it in the TPM.
package struct EndorsementCertificate: Equatable, Sendable {
    /// The template that recreates the key.
    package let template: EndorsementTemplate
    /// The certificate in DER; only its length was checked.
    package let der: [UInt8]
}

extension TPMAttester {
    /// Reads the certificate of the endorsement key; nil if the TPM has none for a template that is
    /// known here.
    ///
    /// RSA comes first, because nearly all TPMs have it. Changes nothing in the TPM.
    package func endorsementCertificate() throws(TPMFault) -> EndorsementCertificate? {
        for template in EndorsementTemplate.allCases {
            guard let memory = try nvMemory(template.certificateIndex),
                let der = certificate(in: memory)
            else { continue }
            return EndorsementCertificate(template: template, der: der)
        }
        return nil
    }

    /// Returns the endorsement key: the persistent one if it is of the template, otherwise one that
    /// is created again from the TPM's seed, which takes seconds for RSA.
    ///
    /// Throws `.notPermitted` if the endorsement hierarchy has an authorisation value.
    func endorsementKey(_ template: EndorsementTemplate) throws(TPMFault) -> EndorsementKey {
        if let handle = try handle(of: template.persistentHandle) {
            let key = EndorsementKey(persistent: handle, connection: connection)
            if template.fits(try area(of: handle)) { return key }
        }
        do throws(TPMFault) {
            return EndorsementKey(try createEndorsementKey(template))
        } catch .refused(let operation, let code) where code.meaning == .wrongAuthorisation {
            throw endorsementIsOwned(operation)
        }
    }

    private func createEndorsementKey(
        _ template: EndorsementTemplate
    ) throws(TPMFault) -> TPMObject {
        guard let bytes = sized(template.area.bytes) else { throw .memory }
        let area = try unsafe Unmarshalled(bytes, Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let empty = try unsafe Unmarshalled(
            [0, 4, 0, 0, 0, 0], Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal)
        let data = Unmarshalled<TPM2B_DATA>()
        let registers = Unmarshalled<TPML_PCR_SELECTION>()
        var handle: ESYS_TR = ESYS_TR_NONE
        try connection.run(.createPrimary) {
            unsafe Esys_CreatePrimary(
                connection.context, ESYS_TR_RH_ENDORSEMENT, ESYS_TR_PASSWORD, ESYS_TR_NONE,
                ESYS_TR_NONE,
                empty.pointer, area.pointer, data.pointer, registers.pointer, &handle, nil, nil,
                nil, nil)
        }
        return TPMObject(connection, handle: handle)
    }

    /// Starts a session that satisfies the endorsement key's policy: PolicySecret of the
    /// endorsement hierarchy, whose authorisation value is empty.
    func endorsementSession(_ root: StorageRoot) throws(TPMFault) -> TPMSession {
        let session = try connection.startSession(
            policy: true, salt: root.handle, bind: ESYS_TR_NONE)
        let nonce = Unmarshalled<TPM2B_NONCE>()
        let parameters = Unmarshalled<TPM2B_DIGEST>()
        let reference = Unmarshalled<TPM2B_NONCE>()
        do throws(TPMFault) {
            try connection.run(.policySecret) {
                unsafe Esys_PolicySecret(
                    connection.context, ESYS_TR_RH_ENDORSEMENT, session.handle, ESYS_TR_PASSWORD,
                    ESYS_TR_NONE, ESYS_TR_NONE, nonce.pointer, parameters.pointer,
                    reference.pointer, 0, nil, nil)
            }
        } catch .refused(let operation, let code) where code.meaning == .wrongAuthorisation {
            throw endorsementIsOwned(operation)
        }
        return session
    }

    /// All bytes of an index of the TPM's memory, at most 8 KiB; nil if there is no such index.
    ///
    /// It is read with the index's own empty authorisation value, as the TCG's profile allows for
    /// certificates.
    private func nvMemory(_ index: UInt32) throws(TPMFault) -> [UInt8]? {
        guard let handle = try handle(of: index) else { return nil }
        defer { connection.close(handle) }
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try connection.run(.readPublicNV) {
            unsafe Esys_NV_ReadPublic(
                connection.context, handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &area, nil)
        }
        guard let answer = unsafe TPMAllocation(area),
            let size = try unsafe answer.bytes(Tss2_MU_TPM2B_NV_PUBLIC_Marshal).suffix(2).size,
            size <= 8_192
        else { throw .malformed(.readPublicNV) }
        var memory: [UInt8] = []
        while memory.count < size {
            let part = min(size - memory.count, 512)
            memory += try nvBytes(of: handle, from: memory.count, count: part)
        }
        return memory
    }

    private func nvBytes(
        of handle: ESYS_TR, from offset: Int, count: Int
    ) throws(TPMFault) -> [UInt8] {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        try connection.run(.readNV) {
            unsafe Esys_NV_Read(
                connection.context, handle, handle, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
                UInt16(count), UInt16(offset), &data)
        }
        guard let answer = unsafe TPMAllocation(data) else { throw .malformed(.readNV) }
        let bytes = try unsafe answer.bytes(Tss2_MU_TPM2B_MAX_NV_BUFFER_Marshal).dropFirst(2)
        guard bytes.count == count else { throw .malformed(.readNV) }
        return Array(bytes)
    }

    /// The library's handle for one of the TPM; nil if there is nothing at it.
    private func handle(of number: UInt32) throws(TPMFault) -> ESYS_TR? {
        var handle: ESYS_TR = ESYS_TR_NONE
        do throws(TPMFault) {
            try connection.run(.readPublic) {
                unsafe Esys_TR_FromTPMPublic(
                    connection.context, number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &handle)
            }
        } catch .refused(.readPublic, let code) where code.meaning == .absent {
            return nil
        }
        return handle
    }

    private func area(of handle: ESYS_TR) throws(TPMFault) -> PublicArea {
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try connection.run(.readPublic) {
            unsafe Esys_ReadPublic(
                connection.context, handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &area, nil,
                nil)
        }
        guard let answer = unsafe TPMAllocation(area) else { throw .malformed(.readPublic) }
        let bytes = try unsafe answer.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal)
        return PublicArea(bytes: Array(bytes.dropFirst(2)))
    }
}

/// An endorsement key that can be used; what holds it in the TPM ends with this object.
final class EndorsementKey {
    let handle: ESYS_TR
    private let object: TPMObject?
    private let connection: TPMConnection

    /// Takes over the library's handle for a persistent key.
    init(persistent handle: ESYS_TR, connection: TPMConnection) {
        self.handle = handle
        self.connection = connection
        object = nil
    }

    init(_ object: TPMObject) {
        handle = object.handle
        connection = object.connection
        self.object = object
    }

    deinit { if object == nil { connection.close(handle) } }
}

private func endorsementIsOwned(_ operation: TPMOperation) -> TPMFault {
    .notPermitted(
        "the TPM's endorsement hierarchy requires an authorisation (\(operation.rawValue))")
}

/// The certificate at the beginning of an index, which may be longer; nil if there is none.
///
/// A certificate is a SEQUENCE with a length of two bytes.
private func certificate(in memory: [UInt8]) -> [UInt8]? {
    guard memory.starts(with: [0x30, 0x82]), let count = Array(memory.dropFirst(2).prefix(2)).size,
        memory.count >= 4 + count
    else { return nil }
    return Array(memory.prefix(4 + count))
}

extension Collection<UInt8> {
    /// The number that exactly two bytes stand for.
    fileprivate var size: Int? {
        count == 2 ? reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
