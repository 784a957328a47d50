// SPDX-License-Identifier: Apache-2.0
import CTSS
import Posix
import TPMStructures

/// A statement that the TPM has made and signed, in the forms of TPM 2.0 part 2.
package struct SignedStatement: Equatable, Sendable {
    /// The TPMS_ATTEST; `AttestationStatement` reads it.
    package let statement: [UInt8]
    /// The TPMT_SIGNATURE over it.
    package let signature: [UInt8]
}

/// Proves to others what is in a TPM: by its endorsement key, which the TPM's maker has certified,
/// and by an attestation key, which signs nothing but the TPM's own statements.
///
/// It uses a connection that others may use as well, and keeps nothing in the TPM between calls.
package struct TPMAttester {
    let connection: TPMConnection

    /// Uses this connection.
    package init(_ connection: TPMConnection) {
        self.connection = connection
    }

    /// Creates an attestation key under the root key: it signs nothing but the TPM's own
    /// statements.
    ///
    /// It has an empty authorisation value, because what it signs is true for any caller. Throws
    /// `.malformed` if the TPM returned an object other than the requested one.
    package func createAttestationKey(root: StorageRoot) throws(TPMFault) -> ObjectParts {
        let parts = try connection.create(.attestation, data: nil, authorisation: nil, root: root)
        guard parts.area.attestationPoint != nil else { throw .malformed(.create) }
        return parts
    }

    /// Opens a secret that was protected for this TPM's endorsement key and an attestation key.
    ///
    /// The answer is encrypted on its way. Throws `.refused` with the meaning `.notIntact` or
    /// `.wrongValue` for a secret that was made for another TPM or another key, and
    /// `.notPermitted` if the endorsement hierarchy has an authorisation value.
    package func activate(
        _ credential: ProtectedCredential, for attestation: ObjectParts,
        endorsement template: EndorsementTemplate, root: StorageRoot
    ) throws(TPMFault) -> [UInt8] {
        guard let blob = sized(credential.blob), let seed = sized(credential.seed) else {
            throw .malformed(.activateCredential)
        }
        let identity = try unsafe Unmarshalled(blob, Tss2_MU_TPM2B_ID_OBJECT_Unmarshal)
        let secret = try unsafe Unmarshalled(seed, Tss2_MU_TPM2B_ENCRYPTED_SECRET_Unmarshal)
        let key = try connection.load(attestation, root: root)
        let endorsement = try endorsementKey(template)
        let policy = try endorsementSession(root)
        let session = try connection.startSession(salt: root.handle, bind: ESYS_TR_NONE)
        try session.set([.encryptsAnswer])
        try policy.set([])
        var found: UnsafeMutablePointer<TPM2B_DIGEST>?
        try connection.run(.activateCredential) {
            unsafe Esys_ActivateCredential(
                connection.context, key.handle, endorsement.handle, session.handle, policy.handle,
                ESYS_TR_NONE, identity.pointer, secret.pointer, &found)
        }
        session.end()
        policy.end()
        guard let answer = unsafe TPMAllocation(found) else {
            throw .malformed(.activateCredential)
        }
        return Array(try unsafe answer.bytes(Tss2_MU_TPM2B_DIGEST_Marshal).dropFirst(2))
    }

    /// Has the TPM state that a key with this Name is in it, signed by an attestation key.
    ///
    /// TPM2_Certify requires the ADMIN role of the key, which its authorisation value gives, as for
    /// `changeAuthorisation`. Throws `.refused` with the meaning `.wrongAuthorisation` for another
    /// authorisation value.
    package func certify(
        _ parts: ObjectParts, authorisation: SecretBytes, by attestation: ObjectParts,
        qualifier: [UInt8], root: StorageRoot
    ) throws(TPMFault) -> SignedStatement {
        let data = try qualifyingData(qualifier)
        let scheme = try nullScheme()
        let object = try connection.load(parts, root: root)
        let key = try connection.load(attestation, root: root)
        var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try object.withAuthorisation(authorisation) { () throws(TPMFault) in
            let session = try connection.startSession(salt: root.handle, bind: object.handle)
            try session.set([])
            try connection.run(.certify) {
                unsafe Esys_Certify(
                    connection.context, object.handle, key.handle, session.handle, ESYS_TR_PASSWORD,
                    ESYS_TR_NONE, data.pointer, scheme.pointer, &statement, &signature)
            }
            session.end()
        }
        return try unsafe signed(statement, signature: signature, operation: .certify)
    }

    /// Has the TPM state the values of PCRs, signed by an attestation key.
    package func quote(
        _ registers: RegisterSelection, by attestation: ObjectParts, qualifier: [UInt8],
        root: StorageRoot
    ) throws(TPMFault) -> SignedStatement {
        let data = try qualifyingData(qualifier)
        let scheme = try nullScheme()
        let selection = try unsafe Unmarshalled(
            registers.wire, Tss2_MU_TPML_PCR_SELECTION_Unmarshal)
        let key = try connection.load(attestation, root: root)
        var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try connection.run(.quote) {
            unsafe Esys_Quote(
                connection.context, key.handle, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
                data.pointer,
                scheme.pointer, selection.pointer, &statement, &signature)
        }
        return try unsafe signed(statement, signature: signature, operation: .quote)
    }

    private func qualifyingData(
        _ bytes: [UInt8]
    ) throws(TPMFault) -> Unmarshalled<TPM2B_DATA> {
        guard let wire = sized(bytes) else { throw .memory }
        return try unsafe Unmarshalled(wire, Tss2_MU_TPM2B_DATA_Unmarshal)
    }

    /// The scheme that leaves the choice to the key's own.
    private func nullScheme() throws(TPMFault) -> Unmarshalled<TPMT_SIG_SCHEME> {
        try unsafe Unmarshalled(bigEndian(Algorithm.none), Tss2_MU_TPMT_SIG_SCHEME_Unmarshal)
    }

    private func signed(
        _ statement: UnsafeMutablePointer<TPM2B_ATTEST>?,
        signature: UnsafeMutablePointer<TPMT_SIGNATURE>?, operation: TPMOperation
    ) throws(TPMFault) -> SignedStatement {
        guard let statement = unsafe TPMAllocation(statement),
            let signature = unsafe TPMAllocation(signature)
        else { throw .malformed(operation) }
        return SignedStatement(
            statement: Array(
                try unsafe statement.bytes(Tss2_MU_TPM2B_ATTEST_Marshal).dropFirst(2)),
            signature: try unsafe signature.bytes(Tss2_MU_TPMT_SIGNATURE_Marshal))
    }
}
