// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import TPMStructures

/// The TPM's storage root key: the parent of all our objects, to which sessions are salted.
///
/// It is persistent and shared by all software that uses the TPM. Its Name identifies the TPM until
/// the TPM is cleared. Callers compare it with the pinned Name before they send anything secret, so
/// that neither another TPM nor a device on the bus can take its place.
package final class StorageRoot {
    /// The handle that the TCG's Provisioning Guidance reserves for the storage root key.
    package static let persistentHandle: UInt32 = 0x8100_0001

    /// The Name, computed here from the public area that sessions are salted to; 34 bytes.
    package let name: [UInt8]

    let connection: TPMConnection
    let handle: ESYS_TR

    fileprivate init(_ connection: TPMConnection, handle: ESYS_TR, name: [UInt8]) {
        self.connection = connection
        self.handle = handle
        self.name = name
    }

    deinit { connection.close(handle) }
}

extension TPMConnection {
    /// Returns the TPM's storage root key; nil if there is none at `persistentHandle`.
    ///
    /// - Throws: `.unfitRoot` if the key there does not protect its children as required;
    ///   `.anotherRoot` if the Name that the TPM claims is not that of the public area.
    package func findRoot() throws(TPMFault) -> StorageRoot? {
        var handle: ESYS_TR = ESYS_TR_NONE
        do throws(TPMFault) {
            try run(.readPublic) {
                unsafe Esys_TR_FromTPMPublic(
                    context, StorageRoot.persistentHandle, ESYS_TR_NONE, ESYS_TR_NONE,
                    ESYS_TR_NONE, &handle)
            }
        } catch .refused(.readPublic, let code) where code.meaning == .absent {
            return nil
        }
        do throws(TPMFault) {
            let (claimed, area) = try resource(handle)
            let name = try crypto { () throws(CryptoFault) in try area.name() }
            if let unfitness = area.unfitness { throw .unfitRoot(unfitness) }
            guard claimed == name else { throw .anotherRoot }
            return StorageRoot(self, handle: handle, name: name)
        } catch {
            close(handle)
            throw error
        }
    }

    /// Returns the TPM's storage root key, and creates a persistent one if there is none.
    ///
    /// - Parameter expected: The Name that it must have; nil for any.
    /// - Throws: `.anotherRoot` if the Name differs, in which case nothing persistent was changed
    ///   in the TPM; `.notPermitted` if a key must be created and the owner hierarchy has an
    ///   authorisation value.
    package func root(expecting expected: [UInt8]?) throws(TPMFault) -> StorageRoot {
        guard let root = try findRoot() else { return try makeRoot(expecting: expected) }
        guard expected == nil || root.name == expected else { throw .anotherRoot }
        return root
    }

    /// Like `root(expecting:)`, but makes nothing persistent in the TPM.
    ///
    /// Returns nil if the TPM has no storage root key but would create the expected one. Throws
    /// `.anotherRoot` if it has, or would create, another one.
    package func findRoot(expecting expected: [UInt8]) throws(TPMFault) -> StorageRoot? {
        if let root = try findRoot() {
            guard root.name == expected else { throw .anotherRoot }
            return root
        }
        let owner = try startSession(salt: ESYS_TR_NONE, bind: ESYS_TR_RH_OWNER)
        let (_, area) = try createPrimary(owner)
        let name = try crypto { () throws(CryptoFault) in try area.name() }
        guard name == expected else { throw .anotherRoot }
        return nil
    }

    /// Creates a storage root key from the TCG's template and makes it persistent.
    ///
    /// The Name is compared before the key is made persistent; throws `.anotherRoot` if it differs.
    private func makeRoot(expecting expected: [UInt8]?) throws(TPMFault) -> StorageRoot {
        do throws(TPMFault) {
            // No key exists yet that the session could be salted to; nothing in these commands is
            // secret.
            let owner = try startSession(salt: ESYS_TR_NONE, bind: ESYS_TR_RH_OWNER)
            try owner.set(.continues)
            let (primary, area) = try createPrimary(owner)
            let name = try crypto { () throws(CryptoFault) in try area.name() }
            guard expected == nil || expected == name else { throw .anotherRoot }
            try persist(primary, owner: owner)
        } catch .refused(let operation, let code) where code.meaning == .wrongAuthorisation {
            throw .notPermitted(
                "the TPM's owner hierarchy requires an authorisation (\(operation.rawValue))")
        }
        guard let root = try findRoot() else { throw .malformed(.evictControl) }
        return root
    }

    private func createPrimary(
        _ owner: TPMSession
    ) throws(TPMFault) -> (TPMObject, PublicArea) {
        guard let template = sized(PublicArea.root.bytes) else { throw .memory }
        let area = try unsafe Unmarshalled(template, Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let empty = try unsafe Unmarshalled(
            [0, 4, 0, 0, 0, 0], Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal)
        let data = Unmarshalled<TPM2B_DATA>()
        let registers = Unmarshalled<TPML_PCR_SELECTION>()
        var handle: ESYS_TR = ESYS_TR_NONE
        var made: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try run(.createPrimary) {
            unsafe Esys_CreatePrimary(
                context, ESYS_TR_RH_OWNER, owner.handle, ESYS_TR_NONE, ESYS_TR_NONE,
                empty.pointer, area.pointer, data.pointer, registers.pointer, &handle, &made,
                nil, nil, nil)
        }
        let object = TPMObject(self, handle: handle)
        guard let answer = unsafe TPMAllocation(made) else { throw .malformed(.createPrimary) }
        let bytes = try unsafe answer.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal)
        return (object, PublicArea(bytes: Array(bytes.dropFirst(2))))
    }

    private func persist(_ object: TPMObject, owner: TPMSession) throws(TPMFault) {
        var handle: ESYS_TR = ESYS_TR_NONE
        try run(.evictControl) {
            unsafe Esys_EvictControl(
                context, ESYS_TR_RH_OWNER, object.handle, owner.handle, ESYS_TR_NONE,
                ESYS_TR_NONE, StorageRoot.persistentHandle, &handle)
        }
        close(handle)
    }

    /// Returns the Name that the TPM claims for an object, and the public area that salts are
    /// encrypted to.
    ///
    /// Both are visible only in the library's serialised form of the handle.
    private func resource(_ handle: ESYS_TR) throws(TPMFault) -> ([UInt8], PublicArea) {
        var buffer: UnsafeMutablePointer<UInt8>?
        var count = 0
        let code = unsafe Esys_TR_Serialize(context, handle, &buffer, &count)
        guard code == TSS2_RC_SUCCESS, let buffer = unsafe buffer else {
            throw .refused(.prepare, ReturnCode(code))
        }
        defer { unsafe Esys_Free(buffer) }
        var reader = WireReader(
            unsafe Array(UnsafeBufferPointer(start: buffer, count: count)))
        guard reader.uint32() == StorageRoot.persistentHandle,
            let name = reader.sized(limit: PublicArea.nameCount), reader.uint32() != nil,
            let area = reader.sized(limit: PublicArea.limit), reader.isAtEnd
        else { throw .malformed(.readPublic) }
        return (name, PublicArea(bytes: area))
    }
}
