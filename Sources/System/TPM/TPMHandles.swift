// SPDX-License-Identifier: Apache-2.0
import CTSS
import Posix
import TPMStructures

/// A transient object in the TPM, flushed on deinitialisation.
package final class TPMObject {
    let connection: TPMConnection
    let handle: ESYS_TR

    init(_ connection: TPMConnection, handle: ESYS_TR) {
        self.connection = connection
        self.handle = handle
        connection.hold(handle)
    }

    deinit { connection.flush(handle) }

    /// Runs `body` while the library knows the object's authorisation value, and overwrites it
    /// afterwards.
    ///
    /// TPMs remove trailing zeros from authorisation values, so they are removed here too; TPM 2.0
    /// part 1, 19.6.4.3.
    ///
    /// - Throws: `.memory` for a value of only zeros or of more than 32 bytes.
    func withAuthorisation<Result>(
        _ value: SecretBytes, _ body: () throws(TPMFault) -> Result
    ) throws(TPMFault) -> Result {
        var bytes = try authorisationBytes(value)
        defer { wipe(&bytes) }
        let structure = try unsafe Unmarshalled(bytes, Tss2_MU_TPM2B_DIGEST_Unmarshal)
        try set(structure)
        defer { try? set(Unmarshalled()) }
        return try body()
    }

    private func set(_ value: Unmarshalled<TPM2B_AUTH>) throws(TPMFault) {
        let code = unsafe Esys_TR_SetAuth(connection.context, handle, value.pointer)
        guard code == TSS2_RC_SUCCESS else { throw .refused(.prepare, ReturnCode(code)) }
    }
}

/// Returns an authorisation value as a TPM2B_AUTH, without trailing zeros; the caller must wipe it.
///
/// Throws `.memory` for a value of only zeros or of more than 32 bytes.
func authorisationBytes(_ value: SecretBytes) throws(TPMFault) -> [UInt8] {
    guard value.count <= 32 else { throw .memory }
    var bytes = value.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    defer { wipe(&bytes) }
    let count = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    guard count > 0 else { throw .memory }
    var result: [UInt8] = []
    result.reserveCapacity(2 + count)
    result += bigEndian(UInt16(count))
    result += bytes[..<count]
    return result
}

/// A session in the TPM, flushed on deinitialisation unless a command has ended it.
package final class TPMSession {
    let connection: TPMConnection
    let handle: ESYS_TR
    private var isEnded = false

    init(_ connection: TPMConnection, handle: ESYS_TR) {
        self.connection = connection
        self.handle = handle
        connection.hold(handle)
    }

    deinit {
        if isEnded { connection.close(handle) } else { connection.flush(handle) }
    }

    /// Whether the session can still authorise a command.
    package var isUsable: Bool { !isEnded && !connection.isLost }

    /// The effects of the session on the next commands; TPM 2.0 part 2, 8.4 (TPMA_SESSION).
    struct Attributes: OptionSet {
        let rawValue: UInt8
        static let continues = Attributes(rawValue: 0x01)
        static let encryptsCommand = Attributes(rawValue: 0x20)
        static let encryptsAnswer = Attributes(rawValue: 0x40)
        static let audits = Attributes(rawValue: 0x80)
    }

    /// Replaces all attributes; without `continues`, the next command ends the session.
    func set(_ attributes: Attributes) throws(TPMFault) {
        let code = unsafe Esys_TRSess_SetAttributes(
            connection.context, handle, attributes.rawValue, 0xff)
        guard code == TSS2_RC_SUCCESS else { throw .refused(.prepare, ReturnCode(code)) }
    }

    /// Records that the TPM ended the session with the last command, so that it need not be
    /// flushed.
    func end() { isEnded = true }
}

extension TPMConnection {
    /// Starts an HMAC or policy session with SHA-256, and AES-128-CFB for parameter encryption.
    ///
    /// - Parameters:
    ///   - policy: Whether it is a policy session.
    ///   - salt: The key that the salt is encrypted to, or `ESYS_TR_NONE`.
    ///   - bind: The object that the session is bound to, or `ESYS_TR_NONE`.
    func startSession(
        policy: Bool = false, salt: ESYS_TR, bind: ESYS_TR
    ) throws(TPMFault) -> TPMSession {
        let symmetric = try unsafe Unmarshalled(
            [Algorithm.aes, 128, Algorithm.cfb].flatMap { bigEndian($0) },
            Tss2_MU_TPMT_SYM_DEF_Unmarshal)
        var handle: ESYS_TR = ESYS_TR_NONE
        try run(.startAuthSession) {
            unsafe Esys_StartAuthSession(
                context, salt, bind, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, nil,
                TPM2_SE(policy ? 1 : 0), symmetric.pointer, Algorithm.sha256, &handle)
        }
        return TPMSession(self, handle: handle)
    }
}
