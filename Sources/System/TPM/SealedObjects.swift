// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import Posix
import TPMStructures

/// The two parts of an object as they are stored outside the TPM.
///
/// Neither part is secret: the private one is encrypted by the TPM and is of use only in that TPM,
/// under the same storage root key.
package struct ObjectParts: Equatable, Sendable {
    /// The public area, which the TPM binds to the private part.
    package let area: PublicArea
    /// The private part, encrypted by the TPM under its storage root key, without a length prefix.
    package let sealed: [UInt8]

    /// Creates a value from both parts.
    package init(area: PublicArea, sealed: [UInt8]) {
        self.area = area
        self.sealed = sealed
    }
}

/// A loaded object with a session whose policy is satisfied except for the authorisation value.
///
/// It can be prepared before the authorisation value is known. It serves exactly one command, which
/// proves the value and ends the session. The object is flushed when the last reference goes away.
package final class ReadyObject {
    fileprivate let object: TPMObject
    fileprivate let session: TPMSession

    fileprivate init(_ object: TPMObject, session: TPMSession) {
        self.object = object
        self.session = session
    }

    /// Whether the object can still be used for its one command.
    package var isUsable: Bool { session.isUsable }
}

extension TPMConnection {
    /// Creates a signing key under the root key: P-256, ECDSA with SHA-256, fixed to this TPM.
    ///
    /// The TPM generates the key, and it never leaves the TPM unencrypted. Its use requires the
    /// policy, and so the authorisation value. Throws `.malformed` if the TPM returned an object
    /// other than the requested one, and `.memory` for an authorisation value that
    /// `authorisationBytes` rejects.
    package func createSigner(
        policy: ObjectPolicy, authorisation: SecretBytes, root: StorageRoot
    ) throws(TPMFault) -> ObjectParts {
        let digest = try crypto { () throws(CryptoFault) in try policy.digest() }
        let parts = try create(
            .signer(policy: digest), data: nil, authorisation: authorisation, root: root)
        guard parts.area.signerPoint(policy: digest) != nil else { throw .malformed(.create) }
        return parts
    }

    /// Seals 1 to 128 bytes under the root key.
    ///
    /// Throws `.memory` for more bytes or for an authorisation value that `authorisationBytes`
    /// rejects, and `.malformed` if the TPM returned an object other than the requested one.
    package func seal(
        _ data: SecretBytes, policy: ObjectPolicy, authorisation: SecretBytes, root: StorageRoot
    ) throws(TPMFault) -> ObjectParts {
        let digest = try crypto { () throws(CryptoFault) in try policy.digest() }
        let parts = try create(
            .data(policy: digest), data: data, authorisation: authorisation, root: root)
        guard parts.area.isData(policy: digest) else { throw .malformed(.create) }
        return parts
    }

    /// Loads an object and satisfies its policy except for the authorisation value.
    ///
    /// This takes four commands, or five if the policy contains PCRs; it is the part that can run
    /// before the match. The session is salted but not bound: because of PolicyAuthValue, the
    /// authorisation value is part of the HMAC and encryption keys anyway (TPM 2.0 part 1, 19.6.5
    /// and 21.2), and it need not be known yet.
    ///
    /// - Throws: `.refused(.policyPCR, …)` with the meaning `.wrongValue` if the PCRs have changed.
    package func ready(
        _ parts: ObjectParts, policy: ObjectPolicy, root: StorageRoot
    ) throws(TPMFault) -> ReadyObject {
        let object = try load(parts, root: root)
        // With a bound policy session, tpm2-tss 3.2.1 would omit the value from the HMAC, but TPMs
        // include it.
        let session = try startSession(policy: true, salt: root.handle, bind: ESYS_TR_NONE)
        if !policy.registers.isEmpty { try meetRegisters(policy, session: session) }
        try run(.policyAuthValue) {
            unsafe Esys_PolicyAuthValue(
                context, session.handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE)
        }
        return ReadyObject(object, session: session)
    }

    /// Signs a digest of 32 bytes with one command, which ends the session; returns r and s, 32
    /// bytes each.
    ///
    /// The command's parameter is encrypted. Throws `.refused` with the meaning
    /// `.wrongAuthorisation` for another authorisation value, and `.malformed` for an answer that
    /// is not an ECDSA signature with SHA-256.
    package func sign(
        _ digest: [UInt8], with ready: ReadyObject, authorisation: SecretBytes
    ) throws(TPMFault) -> (r: [UInt8], s: [UInt8]) {
        guard let bytes = sized(digest) else { throw .memory }
        let digest = try unsafe Unmarshalled(bytes, Tss2_MU_TPM2B_DIGEST_Unmarshal)
        let scheme = try unsafe Unmarshalled(
            bigEndian(Algorithm.ecdsa) + bigEndian(Algorithm.sha256),
            Tss2_MU_TPMT_SIG_SCHEME_Unmarshal)
        // An unrestricted key signs any digest, so the ticket is an empty one of the null
        // hierarchy.
        let ticket = try unsafe Unmarshalled(
            [0x80, 0x24, 0x40, 0, 0, 0x07, 0, 0], Tss2_MU_TPMT_TK_HASHCHECK_Unmarshal)
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try ready.session.set(.encryptsCommand)
        try use(ready, operation: .sign, authorisation: authorisation) {
            unsafe Esys_Sign(
                context, ready.object.handle, ready.session.handle, ESYS_TR_NONE, ESYS_TR_NONE,
                digest.pointer, scheme.pointer, ticket.pointer, &signature)
        }
        guard let answer = unsafe TPMAllocation(signature) else { throw .malformed(.sign) }
        var reader = WireReader(try unsafe answer.bytes(Tss2_MU_TPMT_SIGNATURE_Marshal))
        guard reader.uint16() == Algorithm.ecdsa, reader.uint16() == Algorithm.sha256,
            let r = reader.sized(limit: 32), let s = reader.sized(limit: 32), reader.isAtEnd
        else { throw .malformed(.sign) }
        return (padded(r), padded(s))
    }

    /// Opens sealed data with one command, which ends the session; the answer is encrypted.
    ///
    /// The copy of the answer is wiped. Throws `.refused` with the meaning `.wrongAuthorisation`
    /// for another authorisation value, and `.malformed` for an empty answer.
    package func unseal(
        _ ready: ReadyObject, authorisation: SecretBytes
    ) throws(TPMFault) -> SecretBytes {
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try ready.session.set(.encryptsAnswer)
        try use(ready, operation: .unseal, authorisation: authorisation) {
            unsafe Esys_Unseal(
                context, ready.object.handle, ready.session.handle, ESYS_TR_NONE, ESYS_TR_NONE,
                &data)
        }
        guard let answer = unsafe TPMAllocation(data) else { throw .malformed(.unseal) }
        var bytes = try unsafe answer.bytes(Tss2_MU_TPM2B_SENSITIVE_DATA_Marshal)
        defer { wipe(&bytes) }
        guard bytes.count > 2 else { throw .malformed(.unseal) }
        return try secretBytes(droppingLength: bytes)
    }

    /// Changes the authorisation value of an object; returns the same public part with a new
    /// private part.
    ///
    /// The old private part still works with the old value, so the caller must destroy it.
    /// TPM2_ObjectChangeAuth requires the ADMIN role. These objects grant it to any caller who
    /// knows the value, through an HMAC session bound to the object, without the policy. It takes
    /// four commands.
    package func changeAuthorisation(
        of parts: ObjectParts, from old: SecretBytes, to new: SecretBytes, root: StorageRoot
    ) throws(TPMFault) -> ObjectParts {
        var bytes = try authorisationBytes(new)
        defer { wipe(&bytes) }
        let value = try unsafe Unmarshalled(bytes, Tss2_MU_TPM2B_DIGEST_Unmarshal)
        let object = try load(parts, root: root)
        var sealed: UnsafeMutablePointer<TPM2B_PRIVATE>?
        try object.withAuthorisation(old) { () throws(TPMFault) in
            let session = try startSession(salt: root.handle, bind: object.handle)
            try session.set([.encryptsCommand, .encryptsAnswer])
            try run(.objectChangeAuth) {
                unsafe Esys_ObjectChangeAuth(
                    context, object.handle, root.handle, session.handle, ESYS_TR_NONE,
                    ESYS_TR_NONE, value.pointer, &sealed)
            }
            session.end()
        }
        guard let answer = unsafe TPMAllocation(sealed) else { throw .malformed(.objectChangeAuth) }
        let again = try unsafe answer.bytes(Tss2_MU_TPM2B_PRIVATE_Marshal)
        return ObjectParts(area: parts.area, sealed: Array(again.dropFirst(2)))
    }
}

extension TPMConnection {
    /// Creates an object under the root key with two commands.
    ///
    /// Without an authorisation value, the object has an empty one. Only the form of the answer is
    /// checked; the caller must compare the public part with the template.
    func create(
        _ template: PublicArea, data: SecretBytes?, authorisation: SecretBytes?,
        root: StorageRoot
    ) throws(TPMFault) -> ObjectParts {
        guard let wanted = sized(template.bytes) else { throw .memory }
        let area = try unsafe Unmarshalled(wanted, Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        var secrets = try sensitive(authorisation, data: data)
        defer { wipe(&secrets) }
        let sensitive = try unsafe Unmarshalled(secrets, Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal)
        let outside = Unmarshalled<TPM2B_DATA>()
        let registers = Unmarshalled<TPML_PCR_SELECTION>()
        var sealed: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var made: UnsafeMutablePointer<TPM2B_PUBLIC>?
        let session = try rootSession(root)
        try run(.create) {
            unsafe Esys_Create(
                context, root.handle, session.handle, ESYS_TR_NONE, ESYS_TR_NONE,
                sensitive.pointer, area.pointer, outside.pointer, registers.pointer, &sealed,
                &made, nil, nil, nil)
        }
        session.end()
        guard let sealed = unsafe TPMAllocation(sealed), let made = unsafe TPMAllocation(made)
        else {
            throw .malformed(.create)
        }
        let privatePart = try unsafe sealed.bytes(Tss2_MU_TPM2B_PRIVATE_Marshal)
        let publicPart = try unsafe made.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal)
        return ObjectParts(
            area: PublicArea(bytes: Array(publicPart.dropFirst(2))),
            sealed: Array(privatePart.dropFirst(2)))
    }

    /// Loads an object under the root key with two commands.
    func load(_ parts: ObjectParts, root: StorageRoot) throws(TPMFault) -> TPMObject {
        guard let area = sized(parts.area.bytes), let sealed = sized(parts.sealed) else {
            throw .malformed(.load)
        }
        let publicPart = try unsafe Unmarshalled(area, Tss2_MU_TPM2B_PUBLIC_Unmarshal)
        let privatePart = try unsafe Unmarshalled(sealed, Tss2_MU_TPM2B_PRIVATE_Unmarshal)
        let session = try rootSession(root)
        var handle: ESYS_TR = ESYS_TR_NONE
        try run(.load) {
            unsafe Esys_Load(
                context, root.handle, session.handle, ESYS_TR_NONE, ESYS_TR_NONE,
                privatePart.pointer, publicPart.pointer, &handle)
        }
        session.end()
        return TPMObject(self, handle: handle)
    }

    /// Starts a session for one command under the root key: salted and bound to it, encrypted both
    /// ways.
    func rootSession(_ root: StorageRoot) throws(TPMFault) -> TPMSession {
        let session = try startSession(salt: root.handle, bind: root.handle)
        try session.set([.encryptsCommand, .encryptsAnswer])
        return session
    }

    /// Extends the policy session by the PCRs; the TPM reports a wrong value if they have changed.
    private func meetRegisters(
        _ policy: ObjectPolicy, session: TPMSession
    ) throws(TPMFault) {
        guard let bytes = sized(policy.registerDigest) else { throw .memory }
        let digest = try unsafe Unmarshalled(bytes, Tss2_MU_TPM2B_DIGEST_Unmarshal)
        let selection = try unsafe Unmarshalled(
            policy.registers.wire, Tss2_MU_TPML_PCR_SELECTION_Unmarshal)
        try run(.policyPCR) {
            unsafe Esys_PolicyPCR(
                context, session.handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
                digest.pointer, selection.pointer)
        }
    }

    /// Runs the one command that a session was prepared for; the session counts as ended if it
    /// succeeds.
    private func use(
        _ ready: ReadyObject, operation: TPMOperation, authorisation: SecretBytes,
        _ command: () -> TSS2_RC
    ) throws(TPMFault) {
        try ready.object.withAuthorisation(authorisation) { () throws(TPMFault) in
            try run(operation, command)
        }
        ready.session.end()
    }
}

/// Returns a TPM2B_SENSITIVE_CREATE with authorisation value and data, which the caller must wipe.
private func sensitive(
    _ authorisation: SecretBytes?, data: SecretBytes?
) throws(TPMFault) -> [UInt8] {
    var value: [UInt8] = [0, 0]
    if let authorisation { value = try authorisationBytes(authorisation) }
    defer { wipe(&value) }
    let count = data?.count ?? 0
    guard count <= 128 else { throw .memory }
    // The capacity is reserved first, because an array that grows leaves its old bytes in memory.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + value.count + count)
    bytes += bigEndian(UInt16(value.count + 2 + count))
    bytes += value
    bytes += bigEndian(UInt16(count))
    data?.withBytes { span in unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
    return bytes
}

/// Copies the bytes after a two-byte length to secret memory.
private func secretBytes(droppingLength bytes: [UInt8]) throws(TPMFault) -> SecretBytes {
    do throws(SystemFault) {
        return try SecretBytes(
            copying: unsafe bytes.span.bytes.extracting(2..<bytes.count))
    } catch { throw .memory }
}
