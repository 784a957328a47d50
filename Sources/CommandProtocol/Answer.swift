// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// How an account's credential stands; the raw value is on the wire.
package enum CredentialState: UInt8, CaseIterable, Sendable {
    case none = 1
    case valid = 2
    case disabled = 3
    case invalidated = 4
}

/// Whether a touch opens the keyring, and why not; the raw value is on the wire.
package enum KeyringState: UInt8, CaseIterable, Sendable {
    /// Never turned on, or turned off.
    case off = 1
    /// The login password is kept for it.
    case on = 2
    /// The password was dropped: it is not the account's any more.
    case passwordChanged = 3
    /// The password was dropped: the fingers changed, and it was not given again.
    case fingersChanged = 4
    /// The password was dropped: it cannot be opened.
    case damaged = 5
}

/// Whether failed matches keep the finger out; the raw value is on the wire.
package enum LockState: UInt8, CaseIterable, Sendable {
    case open = 1
    case forNow = 2
    case untilPassword = 3
}

/// How things stand for an account.
package struct StatusAnswer: Equatable, Sendable {
    /// Whose status.
    package var account: Bytes
    /// Wait, if locked for now.
    package var seconds: UInt32?
    /// What made the credential unusable.
    package var cause: InvalidationCause?
    /// Since when the credential stands as it does, in seconds since 1970.
    package var since: UInt64?
    /// Why a configuration was refused, with file and line; the defaults are in force.
    package var configurationFault: Bytes?
    /// Why the fingers cannot be opened now; nil where they can.
    package var closed: Bytes?
    /// Fingers enrolled.
    package var prints: UInt8
    /// Prints that could not be read and are left out.
    package var damaged: UInt8
    /// How the credential stands.
    package var state: CredentialState
    /// The enrolment's generation.
    package var generation: UInt64
    /// Whether failed matches keep the finger out.
    package var lock: LockState
    /// The daemon's version.
    package var program: Bytes
    /// Which vault holds the key, `file` or `tpm`.
    package var vault: Bytes
    /// This machine's id, 16 bytes.
    package var device: Bytes
    /// Secrets that open to the present fingers; nil for none.
    package var secrets: UInt32?
    /// Whether a touch opens the keyring.
    package var keyring: KeyringState
    /// The setting that keeps the account out of fingerprint login; nil where none does.
    package var keptOut: Bytes?
    /// What a login would be denied with now, before a finger is asked for: reason and subject. Who
    /// asks, from where and for which service, only the login itself tells.
    package var refusal: Denial?

    /// All of it.
    package init(
        account: Bytes, seconds: UInt32? = nil, cause: InvalidationCause? = nil,
        since: UInt64? = nil, configurationFault: Bytes? = nil, closed: Bytes? = nil,
        prints: UInt8, damaged: UInt8, state: CredentialState, generation: UInt64,
        lock: LockState, program: Bytes, vault: Bytes, device: Bytes, secrets: UInt32? = nil,
        keyring: KeyringState = .off, keptOut: Bytes? = nil, refusal: Denial? = nil
    ) {
        self.account = account
        self.seconds = seconds
        self.cause = cause
        self.since = since
        self.configurationFault = configurationFault
        self.closed = closed
        self.prints = prints
        self.damaged = damaged
        self.state = state
        self.generation = generation
        self.lock = lock
        self.program = program
        self.vault = vault
        self.device = device
        self.secrets = secrets
        self.keyring = keyring
        self.keptOut = keptOut
        self.refusal = refusal
    }
}

/// One enrolled finger.
package struct PrintAnswer: Equatable, Sendable {
    /// Which finger; nil if the print is damaged and does not tell.
    package var finger: Finger?
    /// The print's id, 16 bytes.
    package var printID: Bytes
    /// The reader it was made on.
    package var readerID: Bytes
    /// When it was enrolled, in seconds since 1970.
    package var since: UInt64?
    /// Whether the seal on the template is intact.
    package var intact: Bool

    /// All of it.
    package init(
        finger: Finger?, printID: Bytes, readerID: Bytes, since: UInt64?, intact: Bool
    ) {
        self.finger = finger
        self.printID = printID
        self.readerID = readerID
        self.since = since
        self.intact = intact
    }
}

/// What a reader can do, as bits on the wire.
package struct ReaderFeatures: OptionSet, Equatable, Sendable {
    package let rawValue: UInt32

    /// From the bits on the wire.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Finds a finger among several in one scan.
    package static let identify = ReaderFeatures(rawValue: 1)
    /// Keeps prints in its own storage.
    package static let storage = ReaderFeatures(rawValue: 2)
    /// Lists the prints in its own storage.
    package static let storageList = ReaderFeatures(rawValue: 4)
    /// Improves prints as they match.
    package static let update = ReaderFeatures(rawValue: 8)
    /// Images are compared on this machine.
    package static let hostMatching = ReaderFeatures(rawValue: 16)
}

/// One reader.
package struct ReaderAnswer: Equatable, Sendable {
    /// Stable as long as the reader stays where it is.
    package var readerID: Bytes
    /// How it wants the finger.
    package var scan: ScanType
    /// Stages of an enrolment.
    package var total: UInt8
    /// The name its driver gives.
    package var name: Bytes
    /// The driver.
    package var driver: Bytes
    /// What it can do.
    package var features: ReaderFeatures

    /// All of it.
    package init(
        readerID: Bytes, scan: ScanType, total: UInt8, name: Bytes, driver: Bytes,
        features: ReaderFeatures
    ) {
        self.readerID = readerID
        self.scan = scan
        self.total = total
        self.name = name
        self.driver = driver
        self.features = features
    }
}

/// One effective setting.
package struct SettingAnswer: Equatable, Sendable {
    /// `section.key`.
    package var name: Bytes
    /// As it would be written in the file.
    package var value: Bytes
    /// `default`, or the file and line.
    package var origin: Bytes

    /// All of it.
    package init(name: Bytes, value: Bytes, origin: Bytes) {
        self.name = name
        self.value = value
        self.origin = origin
    }
}

/// Whether a secret can be opened; the raw value is on the wire.
package enum SecretState: UInt8, CaseIterable, Sendable {
    /// The fingers have changed since it was kept.
    case stale = 0
    /// The fingers are those that it was sealed to.
    case fits = 1
    /// What is kept of it was damaged or altered, or is another's.
    case damaged = 2
}

/// One secret of an account, without its content.
package struct SecretAnswer: Equatable, Sendable {
    /// Its name; the file's name where it is damaged and does not tell.
    package var name: Bytes
    /// How many bytes it has; 0 where it is damaged.
    package var size: UInt32
    /// When it was kept, in seconds since 1970; 0 where it is damaged.
    package var since: UInt64
    /// The vault that opens it; empty where it is damaged.
    package var vault: Bytes
    /// Whether it can be opened.
    package var state: SecretState

    /// All of it.
    package init(name: Bytes, size: UInt32, since: UInt64, vault: Bytes, state: SecretState) {
        self.name = name
        self.size = size
        self.since = since
        self.vault = vault
        self.state = state
    }
}

/// A vault, for the administrator.
package struct VaultAnswer: Equatable, Sendable {
    /// `file` or `tpm`.
    package var vault: Bytes
    /// Whether new keys are made in it.
    package var isChosen: Bool
    /// Its TPM's manufacturer and firmware, or the library; empty where it cannot be used.
    package var maker: Bytes
    /// What opens a key, in words.
    package var policy: Bytes
    /// The PCRs that new keys are bound to, `7,11`; empty for none.
    package var registers: Bytes
    /// The Name of the storage root key, if there is one.
    package var root: Bytes
    /// Why it cannot be used now.
    package var trouble: Bytes?

    /// All of it.
    package init(
        vault: Bytes, isChosen: Bool, maker: Bytes = [], policy: Bytes = [],
        registers: Bytes = [], root: Bytes = [], trouble: Bytes? = nil
    ) {
        self.vault = vault
        self.isChosen = isChosen
        self.maker = maker
        self.policy = policy
        self.registers = registers
        self.root = root
        self.trouble = trouble
    }
}

/// A touch that is asked for without a terminal, for whoever watches.
package struct EventAnswer: Equatable, Sendable {
    /// Whose finger.
    package var account: Bytes
    /// The PAM service that asks.
    package var service: Bytes
    /// PAM_RUSER, empty if there is none.
    package var requester: Bytes
    /// What is to be confirmed, empty if there is nothing to say.
    package var purpose: Bytes
    /// Whether the touch is over: confirmed, refused or given up.
    package var isOver: Bool
    /// The same for the beginning and the end of one touch, another for each.
    package var number: UInt64

    /// All of it.
    package init(
        account: Bytes, service: Bytes, requester: Bytes = [], purpose: Bytes = [],
        isOver: Bool, number: UInt64
    ) {
        self.account = account
        self.service = service
        self.requester = requester
        self.purpose = purpose
        self.isOver = isOver
        self.number = number
    }
}

/// What a finished request tells besides being finished.
package struct DoneAnswer: Equatable, Sendable {
    /// The finger that matched, was added or was deleted.
    package var finger: Finger?
    /// Fingers that are enrolled now.
    package var prints: UInt8?
    /// Whether a credential for the present fingers is there now.
    package var state: CredentialState?
    /// Secrets that a change of fingers ends, or has just ended.
    package var secrets: UInt32?
    /// Whether a touch opens the keyring now; nil where it was never turned on.
    package var keyring: KeyringState?
    /// The setting that keeps the account out of fingerprint login; nil where none does.
    package var keptOut: Bytes?

    /// What applies.
    package init(
        finger: Finger? = nil, prints: UInt8? = nil, state: CredentialState? = nil,
        keyring: KeyringState? = nil, secrets: UInt32? = nil, keptOut: Bytes? = nil
    ) {
        self.finger = finger
        self.prints = prints
        self.state = state
        self.keyring = keyring
        self.secrets = secrets
        self.keptOut = keptOut
    }
}

/// One receipt.
package struct ReceiptAnswer: Equatable, Sendable {
    /// The statement's canonical text.
    package var statement: Bytes
    /// The SSHSIG blob over it, not armoured.
    package var signature: Bytes
    /// Whether the log says that the daemon confirmed the proof.
    package var isGranted: Bool

    /// All of it.
    package init(statement: Bytes, signature: Bytes, isGranted: Bool) {
        self.statement = statement
        self.signature = signature
        self.isGranted = isGranted
    }
}

/// One frame from the daemon to a client.
package enum Answer: Equatable, Sendable {
    case notice(Notice)
    case assertion(Assertion)
    case denial(Denial)
    case passwordWanted(account: Bytes)
    case done(DoneAnswer)
    case status(StatusAnswer)
    case print(PrintAnswer)
    case reader(ReaderAnswer)
    case receipt(ReceiptAnswer)
    case refusal(Refusal)
    /// A line of an OpenSSH allowed_signers file.
    case signer(Bytes)
    case setting(SettingAnswer)
    /// The counter and SHA-256 digest of the newest receipt that the daemon knows of.
    case chainHead(counter: UInt64, digest: Bytes)
    case secretPart(Bytes)
    case secret(SecretAnswer)
    case vault(VaultAnswer)
    case secretWanted
    case event(EventAnswer)
    case importedPrint(ImportedPrintAnswer)
    case storedPrint(StoredPrintAnswer)
    /// The touch is still valid; with the login password, where it was wanted and is released.
    case confirmed(password: Bytes?)
    case serverEnabled(ServerEnabledAnswer)
    case token(TokenAnswer)
    case server(ServerAnswer)
    case signed(SignedAnswer)
    case signedFile(SignedFileAnswer)
    case signingKey(SigningKeyAnswer)
    case macToken(MACTokenAnswer)
    /// The value of the header `Authorization`.
    case authorization(Bytes)
    case operation(OperationAnswer)
    case serverTrouble(ServerTroubleAnswer)
    case decided(OperationState)
}
