// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What tests do to a TPM, and ask of it. Objects of the tests' own are made in the platform's
/// hierarchy, which the program under test leaves alone.
extension SoftwareTPM {
    // MARK: Trouble

    /// Clears it (TPM2_Clear): owner's objects, owner's seed and owner's password are gone.
    package func clear() throws(TestFault) {
        try run(TPMCommand(.clear, [TPMHandle.platform], passwords: [[]]))
        ownerPassword.withLock { $0 = [] }
    }

    /// Sets the owner's authorisation value: the hierarchy is not open to everybody any more.
    package func setOwnerAuth(_ password: [UInt8]) throws(TestFault) {
        let current = ownerPassword.withLock(\.self)
        try run(
            TPMCommand(
                .hierarchyChangeAuth, [TPMHandle.owner], passwords: [current],
                parameters: password.sized))
        ownerPassword.withLock { $0 = password }
    }

    /// Gives wrong passwords for an object of the tests' own until the whole TPM is locked.
    package func enterLockout() throws(TestFault) {
        let object = try sealObject(password: Array("right".utf8), isProtected: true)
        for _ in 0..<100 {
            let unseal = TPMCommand(.unseal, [object], passwords: [Array("wrong".utf8)])
            let code = try ask(unseal).code
            if code == TPMCode.lockout { return try flush(object) }
            guard TPMCode.base(of: code) == TPMCode.authorisationFailed else {
                throw .refused(command: "\(unseal.code)", code: code)
            }
        }
        throw .closed(awaited: "a lockout of the TPM", transcript: "100 wrong passwords")
    }

    /// Ends a lockout (TPM2_DictionaryAttackLockReset).
    package func leaveLockout() throws(TestFault) {
        try run(
            TPMCommand(.dictionaryAttackLockReset, [TPMHandle.lockout], passwords: [[]]))
    }

    /// Loads objects until there is no room for one more; gives their handles.
    @discardableResult
    package func fillSlots() throws(TestFault) -> [UInt32] {
        var handles: [UInt32] = []
        while true {
            do throws(TestFault) {
                try handles.append(sealObject())
            } catch .refused(_, TPMCode.objectMemory) {
                return handles
            }
        }
    }

    /// Starts sessions until there is no room for one more; gives their handles.
    @discardableResult
    package func fillSessions() throws(TestFault) -> [UInt32] {
        var handles: [UInt32] = []
        let nonce = [UInt8](repeating: 7, count: 16)
        // No salt, HMAC session, no symmetric algorithm, SHA-256.
        let parameters = nonce.sized + [0, 0, 0, 0, 0x10, 0, 0x0B]
        let start = TPMCommand(
            .startAuthSession, [TPMHandle.none, TPMHandle.none], parameters: parameters)
        while true {
            let response = try ask(start)
            if response.code == TPMCode.sessionMemory { return handles }
            guard response.code == TPMCode.success, let handle = response.handle else {
                throw .refused(command: "\(start.code)", code: response.code)
            }
            handles.append(handle)
        }
    }

    /// Takes an object or a session out.
    package func flush(_ handle: UInt32) throws(TestFault) {
        try run(TPMCommand(.flushContext, parameters: [UInt8](bigEndian: handle)))
    }

    /// Takes objects or sessions out.
    package func flush(_ handles: [UInt32]) throws(TestFault) {
        for handle in handles { try flush(handle) }
    }

    /// Extends a PCR of the SHA-256 bank with 32 equal bytes, as an update of the firmware would.
    package func extend(pcr: Int, with byte: UInt8 = 1) throws(TestFault) {
        try extend(pcr: pcr, by: [UInt8](repeating: byte, count: 32))
    }

    /// Extends a PCR of the SHA-256 bank with a digest of 32 bytes.
    package func extend(pcr: Int, by digest: [UInt8]) throws(TestFault) {
        let digests: [UInt8] = [0, 0, 0, 1, 0, 0x0B] + digest
        try run(TPMCommand(.pcrExtend, [UInt32(pcr)], passwords: [[]], parameters: digests))
    }

    /// Measures what a firmware's log says into PCR 7, as the firmware would at the start.
    package func boot(with log: FirmwareLog) throws(TestFault) {
        for digest in log.digests { try extend(pcr: 7, by: digest) }
    }

    // MARK: Keys

    /// A storage root key as TCG's profile has it (P-256, AES-128-CFB); `unique` other than nothing
    /// gives another key of the same kind. Gives a transient handle.
    package func makeStorageRootKey(unique: [UInt8] = []) throws(TestFault) -> UInt32 {
        // ECC, SHA-256; fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA, restricted,
        // decrypt; no policy; AES-128-CFB, no scheme, P-256, no KDF.
        var area: [UInt8] = [0, 0x23, 0, 0x0B, 0, 3, 4, 0x72, 0, 0]
        area += [0, 0x06, 0, 0x80, 0, 0x43, 0, 0x10, 0, 0x03, 0, 0x10]
        area += unique.sized + [0, 0]
        return try createPrimary(
            in: TPMHandle.owner, password: ownerPassword.withLock(\.self), secret: [0, 0, 0, 0],
            area: area)
    }

    /// Makes a transient object persistent (TPM2_EvictControl).
    package func persist(_ object: UInt32, at handle: UInt32) throws(TestFault) {
        let password = ownerPassword.withLock(\.self)
        try run(
            TPMCommand(
                .evictControl, [TPMHandle.owner, object], passwords: [password],
                parameters: [UInt8](bigEndian: handle)))
    }

    /// Removes a persistent object (TPM2_EvictControl).
    package func evict(_ handle: UInt32) throws(TestFault) { try persist(handle, at: handle) }

    /// The public area and the Name of an object.
    package func readPublic(_ handle: UInt32) throws(TestFault) -> (area: [UInt8], name: [UInt8]) {
        let response = try run(TPMCommand(.readPublic, [handle]))
        var fields = TPMReader(response.parameters)
        guard let area = fields.sized(), let name = fields.sized() else {
            throw .closed(awaited: "a public area", transcript: "\(response.bytes)")
        }
        return (area, name)
    }

    /// Loads a small secret of the tests' own; gives a transient handle. If `isProtected`, wrong
    /// passwords count.
    package func sealObject(
        password: [UInt8] = [], isProtected: Bool = false
    ) throws(TestFault) -> UInt32 {
        // Data, SHA-256; fixedTPM, fixedParent, userWithAuth, and noDA or not; no policy, no scheme.
        let area: [UInt8] = [0, 8, 0, 0x0B, 0, 0, isProtected ? 0 : 4, 0x52, 0, 0, 0, 0x10, 0, 0]
        let secret = password.sized + Array("a secret".utf8).sized
        return try createPrimary(in: TPMHandle.platform, password: [], secret: secret, area: area)
    }

    private func createPrimary(
        in hierarchy: UInt32, password: [UInt8], secret: [UInt8], area: [UInt8]
    ) throws(TestFault) -> UInt32 {
        // No outside information, no PCRs of the creation.
        let parameters = secret.sized + area.sized + [0, 0, 0, 0, 0, 0]
        let response = try run(
            TPMCommand(
                .createPrimary, [hierarchy], passwords: [password], parameters: parameters))
        guard let handle = response.handle else {
            throw .closed(awaited: "a handle", transcript: "\(response.bytes)")
        }
        return handle
    }

    // MARK: What is in it

    /// Objects that are loaded and not persistent.
    package var transientHandles: [UInt32] {
        get throws(TestFault) { try handles(from: TPMHandle.firstTransient) }
    }

    /// Objects that survive a restart.
    package var persistentHandles: [UInt32] {
        get throws(TestFault) { try handles(from: TPMHandle.firstPersistent) }
    }

    /// Sessions in the TPM.
    package var loadedSessions: [UInt32] {
        get throws(TestFault) { try handles(from: TPMHandle.firstLoadedSession) }
    }

    /// Sessions whose contexts were saved, and that still count.
    package var savedSessions: [UInt32] {
        get throws(TestFault) { try handles(from: TPMHandle.firstSavedSession) }
    }

    /// A PCR of the SHA-256 bank: 32 bytes.
    package func read(pcr: Int) throws(TestFault) -> [UInt8] {
        var selected: [UInt8] = [0, 0, 0]
        selected[pcr / 8] = 1 << UInt8(pcr % 8)
        let selection: [UInt8] = [0, 0, 0, 1, 0, 0x0B, 3] + selected
        let response = try run(TPMCommand(.pcrRead, parameters: selection))
        // The counter of updates, the selection as it was asked, the number of digests, and those.
        guard response.parameters.count == 4 + selection.count + 4 + 2 + 32 else {
            throw .closed(awaited: "PCR \(pcr)", transcript: "\(response.bytes)")
        }
        return response.parameters.suffix(32)
    }

    /// SHA-256 of at most 1024 bytes, computed by the TPM.
    package func digest(_ bytes: [UInt8]) throws(TestFault) -> [UInt8] {
        let parameters = bytes.sized + [0, 0x0B] + [UInt8](bigEndian: TPMHandle.none)
        let response = try run(TPMCommand(.hash, parameters: parameters))
        var fields = TPMReader(response.parameters)
        guard let digest = fields.sized(), digest.count == 32 else {
            throw .closed(awaited: "a digest", transcript: "\(response.bytes)")
        }
        return digest
    }

    /// Asks for up to 254 handles of the kind that begins here (TPM_CAP_HANDLES).
    private func handles(from first: UInt32) throws(TestFault) -> [UInt32] {
        let question: [UInt8] = [0, 0, 0, 1] + [UInt8](bigEndian: first) + [0, 0, 0, 254]
        let response = try run(TPMCommand(.getCapability, parameters: question))
        var fields = TPMReader(response.parameters)
        guard fields.number(UInt8.self) == 0, fields.number(UInt32.self) == 1,
            let count = fields.number(UInt32.self)
        else { throw .closed(awaited: "handles", transcript: "\(response.bytes)") }
        return (0..<count).compactMap { _ in fields.number(UInt32.self) }
    }
}
