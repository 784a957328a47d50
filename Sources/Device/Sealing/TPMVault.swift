// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix
import Synchronization
import TPM
import TPMStructures

/// Why the settings of a TPM vault cannot be used; the text is for the administrator.
package struct TPMSettingFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// One line without a full stop.
    package let description: String
}

/// A vault whose private keys exist in the clear only inside the TPM.
///
/// The caller stores the sealed objects. The authorisation value of an object is HKDF-SHA256 (RFC
/// 5869) of the host secret, with the credential's id as salt and the encoded context as info, 32
/// bytes. An HMAC session proves to the TPM that the vault knows the value; the value itself is not
/// sent when an object is used. An object therefore does not open in another context, on another
/// machine, or under another host secret. If PCRs are configured, new objects also require the PCR
/// values at the time they are created.
///
/// All uses share one connection behind a mutex, and each call may block until the TPM has
/// answered.
package final class TPMVault: RootedVault {
    package let kind = VaultKind.tpm

    private let host: HostSecret
    private let registers: RegisterSelection
    private let activity = TPMActivity()
    fileprivate let line: Mutex<TPMVaultSession>

    /// Creates a vault whose keys open only with this host secret and one TPM.
    ///
    /// It does not connect to the TPM yet.
    ///
    /// - Parameters:
    ///   - tcti: How to reach the TPM: `auto`, `device:/dev/…`, `swtpm:…` or `tabrmd:…`.
    ///   - pcrs: The registers of the SHA-256 bank, 0 to 23, that new objects are bound to.
    ///   - pin: Stores the Name of the storage root key.
    /// - Throws: `TPMSettingFault` for a TCTI that is not allowed, or for numbers that are not
    ///   PCRs.
    package init(
        host: HostSecret, tcti: String = "auto", pcrs: [Int] = [], pin: any RootPin
    ) throws(TPMSettingFault) {
        let name: TCTIName
        do throws(TCTINameFault) {
            name = try TCTIName.parse(tcti)
        } catch { throw TPMSettingFault(description: "the TCTI cannot be used: \(error)") }
        guard let registers = RegisterSelection(pcrs) else {
            throw TPMSettingFault(description: "PCRs are numbers from 0 to 23, each once")
        }
        self.host = host
        self.registers = registers
        line = Mutex(TPMVaultSession(name: name, pin: pin, activity: activity))
    }

    package func create(_ context: SealingContext) throws(VaultError) -> NewCredential {
        let sealed = try make(.key, context: context) {
            (connection, root, policy, authorisation) throws(TPMFault) in
            try connection.createSigner(policy: policy, authorisation: authorisation, root: root)
        }
        guard let point = try sealed.publicPoint() else { throw .malformed }
        return NewCredential(publicPoint: point, sealed: try sealed.bytes())
    }

    package func seal(
        _ data: SecretBytes, context: SealingContext
    ) throws(VaultError) -> [UInt8] {
        guard (1...VaultLimit.data).contains(data.count) else { throw .malformed }
        return try make(.data, context: context) {
            (connection, root, policy, authorisation) throws(TPMFault) in
            try connection.seal(data, policy: policy, authorisation: authorisation, root: root)
        }.bytes()
    }

    /// Loads the key and starts its policy session.
    ///
    /// The context is not used before the match.
    package func ready(
        key sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyKey {
        TPMReadyKey(try TPMReady(self, sealed: try TPMSealed(sealed, as: .key)))
    }

    /// Loads the data and starts their policy session.
    ///
    /// The context is not used before the match.
    package func ready(
        data sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyData {
        TPMReadyData(try TPMReady(self, sealed: try TPMSealed(sealed, as: .data)))
    }

    /// Whether the data are bound to the PCRs that are configured now.
    ///
    /// Does not ask the TPM.
    package func isUnderPresentPolicy(data sealed: [UInt8]) -> Bool {
        (try? TPMSealed(sealed, as: .data))?.policy.registers == registers
    }

    /// Changes the authorisation value of the key with TPM2_ObjectChangeAuth.
    ///
    /// The key stays the same, and so does its PCR policy. Throws `.doesNotOpen` if the old context
    /// is not the one that the key was sealed to.
    package func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext,
        by permission: borrowing ResealPermission
    ) throws(VaultError) -> [UInt8] {
        let before = try TPMSealed(sealed, as: .key)
        let from = try authorisation(old)
        let to = try authorisation(new)
        let parts = try line.withLock { line throws(VaultError) in
            try line.attempt(.named(before.root)) { connection, root throws(TPMFault) in
                try connection.changeAuthorisation(
                    of: before.parts, from: from, to: to, root: root)
            }
        }
        return try TPMSealed(
            content: .key, root: before.root, policy: before.policy, parts: parts
        ).bytes()
    }

    /// Describes the TPM and the policy for new keys.
    ///
    /// Changes nothing in the TPM; throws as `TPMVaultSession.description` does.
    package func describe() throws(VaultError) -> VaultDescription {
        let (properties, root) = try line.withLock { line throws(VaultError) in
            try line.description()
        }
        let numbers = registers.numbers
        let before = numbers.map { "PCR \($0), " }.joined()
        return VaultDescription(
            kind: .tpm, maker: "\(properties.maker), firmware \(properties.firmware)",
            policy: before + "an HMAC under the host secret and the fingers", registers: numbers,
            root: root)
    }

    package var lastAnswer: SuspendingClock.Instant? { activity.lastAnswer }

    package func rest() {
        line.withLock { $0.rest() }
    }

    package func close() {
        line.withLock { $0.close() }
    }

    /// Pins the TPM's present storage root key, without comparing it with the previous one.
    ///
    /// Only root may request this, after the TPM was cleared or replaced. Objects under the
    /// previous root key can never be opened again.
    package func trust() throws(VaultError) -> RootChange {
        try line.withLock { line throws(VaultError) in try line.trust() }
    }

    /// Prevents the TPM library from writing to standard error.
    ///
    /// Call it at the start of `main`.
    package static func keepLibraryQuiet() throws(SystemFault) {
        try TPM.keepLibraryQuiet()
    }

    /// The number of commands sent to the TPM since the vault was created.
    package var commands: Int { line.withLock { $0.commands } }

    /// Creates an object under the pinned root key, bound to the present values of the configured
    /// PCRs.
    private func make(
        _ content: TPMSealed.Content, context: SealingContext,
        _ body:
            @Sendable (TPMConnection, StorageRoot, ObjectPolicy, SecretBytes)
            throws(TPMFault) -> ObjectParts
    ) throws(VaultError) -> TPMSealed {
        let authorisation = try authorisation(context)
        return try line.withLock { line throws(VaultError) in
            try line.attempt(.pinned) { connection, root throws(TPMFault) in
                let digest = try registers.digest(over: connection, root: root)
                guard let policy = ObjectPolicy(registers: registers, registerDigest: digest)
                else { throw .unfitRegisters(registers.numbers) }
                return TPMSealed(
                    content: content, root: root.name, policy: policy,
                    parts: try body(connection, root, policy, authorisation))
            }
        }
    }

    /// Runs `body` with a verified root key; see `TPMVaultSession.attempt`.
    func attempt<Result: Sendable>(
        _ expectation: TPMVaultSession.Expectation,
        _ body: @Sendable (TPMConnection, StorageRoot) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result {
        try line.withLock { line throws(VaultError) in try line.attempt(expectation, body) }
    }

    func authorisation(_ context: SealingContext) throws(VaultError) -> SecretBytes {
        try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: host.secret, salt: context.item,
                info: context.encoded(label: "signet tpm vault 1"), count: 32)
        }
    }
}

/// An object that is loaded in the TPM and ready for one command.
///
/// It occupies a slot of the TPM, under a number in the `TPMVaultSession`, until it is released. If
/// the connection is lost meanwhile, the object is loaded again when it is used.
private final class TPMReady: Sendable {
    let vault: TPMVault
    private let sealed: TPMSealed
    private let number: UInt64
    private let isHeld = Mutex(true)

    init(_ vault: TPMVault, sealed: TPMSealed) throws(VaultError) {
        self.vault = vault
        self.sealed = sealed
        number = try vault.line.withLock { line throws(VaultError) in
            try line.makeReady(sealed)
        }
    }

    deinit { release() }

    /// Releases the object.
    ///
    /// Only the first call waits for the TPM, so that `deinit` after it does not block.
    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { vault.line.withLock { $0.giveBack(number) } }
    }

    /// Runs the single command that the object is ready for.
    ///
    /// The authorisation value is derived here, after the match, from the context that the caller
    /// passes.
    func use<Result: Sendable>(
        _ context: SealingContext,
        _ body: @Sendable (TPMConnection, ReadyObject, SecretBytes) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result {
        let authorisation = try vault.authorisation(context)
        return try vault.line.withLock { line throws(VaultError) in
            try line.use(number, sealed: sealed) { connection, ready throws(TPMFault) in
                try body(connection, ready, authorisation)
            }
        }
    }
}

/// A signing key of the TPM vault.
private final class TPMReadyKey: ReadyKey {
    private let ready: TPMReady

    init(_ ready: TPMReady) {
        self.ready = ready
    }

    func sign(
        _ message: [UInt8], context: SealingContext, by permission: borrowing SigningPermission
    ) throws(VaultError) -> P256Signature {
        let digest = try crypto { () throws(CryptoFault) in try SHA256.digest(message) }
        let pair = try ready.use(context) { connection, ready, value throws(TPMFault) in
            try connection.sign(digest, with: ready, authorisation: value)
        }
        guard let signature = P256Signature(r: pair.r, s: pair.s) else { throw .malformed }
        return signature
    }

    func release() { ready.release() }
}

/// Sealed data of the TPM vault.
private final class TPMReadyData: ReadyData {
    private let ready: TPMReady

    init(_ ready: TPMReady) {
        self.ready = ready
    }

    func lift(_ context: SealingContext) throws(VaultError) -> LiftedData {
        LiftedData(
            content: try ready.use(context) { connection, ready, value throws(TPMFault) in
                try connection.unseal(ready, authorisation: value)
            })
    }

    func release() { ready.release() }
}
