// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The state of an account's credential; the raw value is on the wire.
package enum CredentialState: UInt8, CaseIterable, Sendable {
    case none = 1
    case valid = 2
    case disabled = 3
    case invalidated = 4
}

/// Whether a touch unlocks the keyring, and if not, why; the raw value is on the wire.
package enum KeyringState: UInt8, CaseIterable, Sendable {
    /// Never enabled, or disabled.
    case off = 1
    /// The login password is stored for it.
    case on = 2
    /// The stored password was deleted because it is no longer the account's.
    case passwordChanged = 3
    /// The stored password was deleted because the fingers changed and it was not entered again.
    case fingersChanged = 4
    /// The stored password was deleted because it could not be opened.
    case damaged = 5
}

/// Whether the account is locked out; the raw value is on the wire.
package enum LockState: UInt8, CaseIterable, Sendable {
    case open = 1
    case forNow = 2
    case untilPassword = 3
}

/// The status of an account.
package struct StatusAnswer: Equatable, Sendable {
    /// The account.
    package var account: Bytes
    /// The remaining lockout in seconds, if `lock` is `forNow`.
    package var seconds: UInt32?
    /// Why the credential was invalidated.
    package var cause: InvalidationCause?
    /// When the credential entered its state, in seconds since 1970.
    package var since: UInt64?
    /// Why a configuration file was rejected, with file and line; the defaults are then in force.
    package var configurationFault: Bytes?
    /// Why the templates cannot be opened at present; nil if they can.
    package var closed: Bytes?
    /// The number of enrolled fingers.
    package var prints: UInt8
    /// The number of prints that could not be read, which `prints` does not include.
    package var damaged: UInt8
    /// The state of the credential.
    package var state: CredentialState
    /// The enrolment's generation.
    package var generation: UInt64
    /// Whether the account is locked out.
    package var lock: LockState
    /// The daemon's version.
    package var program: Bytes
    /// The vault that holds the key, `file` or `tpm`.
    package var vault: Bytes
    /// This machine's id, 16 bytes.
    package var device: Bytes
    /// The number of secrets sealed to the present fingers; nil for none.
    package var secrets: UInt32?
    /// Whether a touch unlocks the keyring.
    package var keyring: KeyringState
    /// The setting that excludes the account from fingerprint login; nil if none does.
    package var keptOut: Bytes?
    /// The denial, with reason and subject, that any login would receive before a touch; nil for
    /// none.
    ///
    /// A login may be denied for other reasons too, which depend on the requester, place and
    /// service.
    package var refusal: Denial?

    /// Creates an answer.
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
    /// The finger; nil if the print is damaged and does not say.
    package var finger: Finger?
    /// The print's id, 16 bytes.
    package var printID: Bytes
    /// The id of the reader that it was made on.
    package var readerID: Bytes
    /// When it was enrolled, in seconds since 1970; nil if unknown.
    package var since: UInt64?
    /// Whether the sealed template is authentic.
    package var intact: Bool

    /// Creates an answer.
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

/// A reader's capabilities, as bits on the wire.
package struct ReaderFeatures: OptionSet, Equatable, Sendable {
    package let rawValue: UInt32

    /// Creates a set from the bits on the wire.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Identifies a finger among several in one scan.
    package static let identify = ReaderFeatures(rawValue: 1)
    /// Stores prints itself.
    package static let storage = ReaderFeatures(rawValue: 2)
    /// Can list the prints that it stores.
    package static let storageList = ReaderFeatures(rawValue: 4)
    /// Improves prints when they match.
    package static let update = ReaderFeatures(rawValue: 8)
    /// Images are compared on this machine rather than in the reader.
    package static let hostMatching = ReaderFeatures(rawValue: 16)
}

/// One reader.
package struct ReaderAnswer: Equatable, Sendable {
    /// The id; it changes only if the reader is plugged in elsewhere.
    package var readerID: Bytes
    /// How it scans a finger.
    package var scan: ScanType
    /// The number of stages of an enrolment.
    package var total: UInt8
    /// The name that its driver reports.
    package var name: Bytes
    /// The name of the driver.
    package var driver: Bytes
    /// The capabilities.
    package var features: ReaderFeatures

    /// Creates an answer.
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
    /// The value as it would be written in a file.
    package var value: Bytes
    /// `default`, or the file and line that set it.
    package var origin: Bytes

    /// Creates an answer.
    package init(name: Bytes, value: Bytes, origin: Bytes) {
        self.name = name
        self.value = value
        self.origin = origin
    }
}

/// Whether a secret can be opened; the raw value is on the wire.
package enum SecretState: UInt8, CaseIterable, Sendable {
    /// The fingers changed after it was stored.
    case stale = 0
    /// It is sealed to the present fingers.
    case fits = 1
    /// The stored data is damaged or altered, or belongs to another account.
    case damaged = 2
}

/// One secret of an account, without its contents.
package struct SecretAnswer: Equatable, Sendable {
    /// The name; the file's name if the secret is damaged and does not say.
    package var name: Bytes
    /// The length in bytes; 0 if it is damaged.
    package var size: UInt32
    /// When it was stored, in seconds since 1970; 0 if it is damaged.
    package var since: UInt64
    /// The vault that opens it; empty if it is damaged.
    package var vault: Bytes
    /// Whether it can be opened.
    package var state: SecretState

    /// Creates an answer.
    package init(name: Bytes, size: UInt32, since: UInt64, vault: Bytes, state: SecretState) {
        self.name = name
        self.size = size
        self.since = since
        self.vault = vault
        self.state = state
    }
}

/// A vault, as described to the administrator.
package struct VaultAnswer: Equatable, Sendable {
    /// `file` or `tpm`.
    package var vault: Bytes
    /// Whether it is the vault in which new keys are made.
    package var isChosen: Bool
    /// The TPM's manufacturer and firmware, or the library; empty if the vault is not usable.
    package var maker: Bytes
    /// What is required to open a key, in words.
    package var policy: Bytes
    /// The PCRs that new keys are bound to, `7,11`; empty for none.
    package var registers: Bytes
    /// The Name of the storage root key; empty if there is none. TPM 2.0 part 1, 16.
    package var root: Bytes
    /// Why it is not usable at present; nil if it is.
    package var trouble: Bytes?

    /// Creates an answer.
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

/// The beginning or end of a touch that is asked for without a terminal; sent to clients that
/// watch.
package struct EventAnswer: Equatable, Sendable {
    /// The account whose finger is awaited.
    package var account: Bytes
    /// The PAM service that asks.
    package var service: Bytes
    /// PAM_RUSER, empty if there is none.
    package var requester: Bytes
    /// The command or action that the touch authorises, empty if unknown.
    package var purpose: Bytes
    /// Whether the touch has ended: confirmed, refused or given up.
    package var isOver: Bool
    /// The number of the touch, equal at its beginning and its end.
    package var number: UInt64

    /// Creates an answer.
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

/// The end of a successful request, with its results.
///
/// Only the fields that apply to the request are set.
package struct DoneAnswer: Equatable, Sendable {
    /// The finger that matched, was added or was deleted.
    package var finger: Finger?
    /// The number of fingers now enrolled.
    package var prints: UInt8?
    /// The state of the credential after the request.
    package var state: CredentialState?
    /// The number of secrets that a change of fingers ends or has just ended.
    package var secrets: UInt32?
    /// Whether a touch unlocks the keyring now; nil if it was never enabled.
    package var keyring: KeyringState?
    /// The setting that excludes the account from fingerprint login; nil if none does.
    package var keptOut: Bytes?

    /// Creates an answer; set only the fields that apply.
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
    /// The SSHSIG blob of its signature, without armour.
    package var signature: Bytes
    /// Whether the log records that the daemon confirmed the proof.
    package var isGranted: Bool

    /// Creates an answer.
    package init(statement: Bytes, signature: Bytes, isGranted: Bool) {
        self.statement = statement
        self.signature = signature
        self.isGranted = isGranted
    }
}

/// One frame from the daemon to a client; `AnswerKind` describes each.
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
    /// The counter and SHA-256 digest of the newest receipt that the daemon has recorded.
    case chainHead(counter: UInt64, digest: Bytes)
    case secretPart(Bytes)
    case secret(SecretAnswer)
    case vault(VaultAnswer)
    case secretWanted
    case event(EventAnswer)
    case importedPrint(ImportedPrintAnswer)
    case storedPrint(StoredPrintAnswer)
    /// The touch is still valid. With the login password, if it was requested and released.
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
