// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import Sealing
import StateSupport
import Synchronization
import TestSupport
import Testing

/// A TPM of a test's own and a vault in it.
struct TPMFixture {
    let tpm: SoftwareTPM
    let pin: MemoryPin
    let host: HostSecret
    let vault: TPMVault

    init(pcrs: [Int] = [], certifiedBy authority: TPMAuthority? = nil) throws {
        tpm = try SoftwareTPM(certifiedBy: authority)
        pin = MemoryPin()
        host = try machine()
        vault = try TPMVault(host: host, tcti: tpm.tcti, pcrs: pcrs, pin: pin)
    }

    /// Another process on the same machine: it knows host secret and pin, and has its own connection.
    func another(pcrs: [Int] = []) throws -> TPMVault {
        try TPMVault(host: host, tcti: tpm.tcti, pcrs: pcrs, pin: pin)
    }

    /// What is in the TPM beside the storage root key; empty when nothing was left behind.
    func leftovers() throws -> [UInt32] {
        try tpm.transientHandles + tpm.loadedSessions + tpm.savedSessions
    }
}

/// A pinned Name in memory.
final class MemoryPin: RootPin {
    private let name = Mutex<[UInt8]?>(nil)

    func load() throws -> [UInt8]? { name.withLock(\.self) }

    func save(_ name: [UInt8]) throws { self.name.withLock { $0 = name } }

    /// What only root could do: the pin is gone.
    func forget() { name.withLock { $0 = nil } }
}

/// What a key or secret is sealed to, alice's unless said otherwise.
func sealing(
    account: String = "alice", uid: UInt32 = 1000, credential: UInt8 = 1,
    relyingParty: String = "local", use: SealingUse = .credential, generation: UInt64 = 7,
    prints: [EnrolledPrint] = [print(1), print(2)]
) throws -> SealingContext {
    try #require(
        SealingContext(
            account: AccountName(account), uid: uid,
            item: CredentialID.sample(repeating: credential), relyingParty: relyingParty,
            use: use, enrolment: try EnrolmentState(generation: generation, prints: prints)))
}

/// Every way in which one part of a context can differ from alice's.
func otherContexts() throws -> [SealingContext] {
    [
        try sealing(account: "bob"), try sealing(uid: 1001), try sealing(credential: 2),
        try sealing(relyingParty: "server"), try sealing(use: .keyring),
        try sealing(use: .secret(name: [])), try sealing(use: .secret(name: [1])),
        try sealing(generation: 8), try sealing(generation: 6), try sealing(prints: [print(1)]),
        try sealing(prints: [print(1), print(2), print(3)]),
        try sealing(prints: [print(1), print(2, template: 9)]),
        try sealing(prints: [print(1), print(2, finger: "left-thumb")]),
        try sealing(prints: [print(1), print(2, reader: "other")]),
    ]
}

extension Vault {
    /// Signs as a login does.
    func sign(
        _ sealed: [UInt8], _ context: SealingContext, _ message: [UInt8] = [1, 2, 3]
    ) throws -> P256Signature {
        let key = try ready(key: sealed, context: context)
        defer { key.release() }
        return try key.sign(message, context)
    }

    /// Opens data as a release of a secret does.
    func open(_ sealed: [UInt8], _ context: SealingContext) throws -> [UInt8] {
        let data = try ready(data: sealed, context: context)
        defer { data.release() }
        return try bytes(of: data.open(context))
    }
}

/// A new machine's host secret.
func machine() throws -> HostSecret { try host() }

/// Secret bytes in the open.
func bytes(of secret: SecretBytes) -> [UInt8] {
    secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
}

/// Secret bytes from plain ones.
func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    var bytes = bytes
    return try SecretBytes(moving: &bytes)
}

/// A signature as stock programs read it: ECDSA-Sig-Value, RFC 3279.
func der(_ signature: P256Signature) -> [UInt8] {
    func integer(_ number: [UInt8]) -> [UInt8] {
        var digits = Array(number.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [2, UInt8(digits.count)] + digits
    }
    let body = integer(signature.r) + integer(signature.s)
    return [0x30, UInt8(body.count)] + body
}
