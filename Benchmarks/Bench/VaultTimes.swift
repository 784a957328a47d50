// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Gate
import Posix
import Sealing
import StateSupport
import Synchronization
import TestSupport

/// What the operations of a vault take in this process, run by run.
struct VaultTimes {
    /// One figure.
    enum Operation: CaseIterable {
        case create
        case seal
        case readyAfterRest
        case ready
        case sign
        case unseal

        /// How the table calls it.
        var name: String {
            switch self {
            case .create: "key creation"
            case .seal: "seal 32 bytes"
            case .readyAfterRest: "ready, as the first after idle time"
            case .ready: "ready (load, session, policy)"
            case .sign: "sign"
            case .unseal: "unseal 32 bytes"
            }
        }
    }

    private(set) var samples: [Operation: Samples] = [:]
    /// Commands that the TPM was sent in the last run.
    private(set) var commands: [Operation: Int] = [:]

    private static let message = [UInt8](repeating: 0x6d, count: 600)
    /// What everything is sealed to.
    let context: SealingContext
    private let host: HostSecret

    /// With a machine's secret and a context of its own.
    init() throws {
        let prints = [
            EnrolledPrint(
                identifier: .sample(repeating: 1), finger: "right-index",
                reader: "bench", templateDigest: [UInt8](repeating: 2, count: 32))
        ]
        let context = SealingContext(
            account: "alice", uid: 1000,
            item: CredentialID.sample(repeating: 3), relyingParty: "local",
            enrolment: try EnrolmentState(generation: 1, prints: prints))
        guard let context, let host = HostSecret(try SecretBytes.random(HostSecret.count)) else {
            throw BenchFault.unexpected("no context to seal to")
        }
        self.context = context
        self.host = host
    }

    /// A file vault of this machine's.
    func fileVault() -> FileVault { FileVault(host: host) }

    /// A vault of this machine's in a TPM.
    func tpmVault(_ tcti: String) throws -> TPMVault {
        try TPMVault(host: host, tcti: tcti, pin: Pin())
    }

    /// Runs every operation of a vault once more.
    mutating func measure(_ vault: any Vault) throws {
        let context = context
        let touch = try PlayedTouch.of(context.uid)
        let made = try take(.create, vault) { try vault.create(context) }
        let secret = try SecretBytes.random(32)
        let sealed = try take(.seal, vault) { try vault.seal(secret, context: context) }
        vault.rest()
        try take(.readyAfterRest, vault) { try vault.ready(key: made.sealed, context: context) }
            .release()
        let key = try take(.ready, vault) { try vault.ready(key: made.sealed, context: context) }
        _ = try take(.sign, vault) {
            try key.sign(Self.message, context: context, for: touch.match)
        }
        key.release()
        let data = try vault.ready(data: sealed, context: context)
        let opened = try take(.unseal, vault) { try data.open(context, for: touch.match) }
        data.release()
        guard opened.equals(secret) else { throw BenchFault.unexpected("it opened as another") }
    }

    /// The same by the library that the file vault uses, with keys in the open.
    mutating func measureLibrary() throws {
        let key = try time(.create) { try P256PrivateKey.generate() }
        let sealing = try SecretBytes.random(AESGCM.keyCount)
        let secret = try SecretBytes.random(32)
        let sealed = try time(.seal) { try AESGCM.seal(secret, key: sealing, additional: []) }
        _ = try time(.sign) { try key.sign(Self.message) }
        _ = try time(.unseal) { try AESGCM.open(sealed, key: sealing, additional: []) }
    }

    /// Takes what somebody else measured.
    mutating func take(_ operation: Operation, milliseconds: Double) {
        samples[operation, default: Samples()].take { milliseconds }
    }

    private mutating func take<Result>(
        _ operation: Operation, _ vault: any Vault, _ body: () throws -> Result
    ) throws -> Result {
        let before = (vault as? TPMVault)?.commands
        let result = try time(operation, body)
        if let before, let after = (vault as? TPMVault)?.commands {
            commands[operation] = after - before
        }
        return result
    }

    private mutating func time<Result>(
        _ operation: Operation, _ body: () throws -> Result
    ) rethrows -> Result {
        try samples[operation, default: Samples()].time(body)
    }

    /// A pinned Name in memory.
    private final class Pin: RootPin {
        private let name = Mutex<[UInt8]?>(nil)

        func load() throws -> [UInt8]? { name.withLock(\.self) }

        func save(_ name: [UInt8]) throws { self.name.withLock { $0 = name } }
    }
}
