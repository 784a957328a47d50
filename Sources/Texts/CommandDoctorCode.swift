#if !hasFeature(Embedded)
/// All that `signet doctor` can find; the raw value is for programs. docs/DOCTOR.md tells of each.
package enum FindingCode: String, CaseIterable, Sendable {
    case passwordUnreachable = "password-unreachable"
    case noPassword = "no-password"
    case stackOpen = "stack-open"
    case includeMissing = "include-missing"
    case includeLoop = "include-loop"
    case passwordStackRecursive = "password-stack-recursive"
    case passwordStackOpen = "password-stack-open"
    case passwordStackMissing = "password-stack-missing"
    case passwordStackClosed = "password-stack-closed"
    case passwordLostAfterFault = "password-lost-after-fault"
    case gateSkipped = "gate-skipped"
    case longJump = "long-jump"
    case wrongType = "wrong-type"
    case moduleOption = "module-option"
    case stackBroken = "stack-broken"
    case moduleMissing = "module-missing"
    case passwordLostAfterMismatch = "password-lost-after-mismatch"
    case touchNotEnough = "touch-not-enough"
    case fingersCounted = "fingers-counted"
    case moduleTwice = "module-twice"
    case otherFingerprint = "other-fingerprint"
    case moduleUnused = "module-unused"
    case failuresStay = "failures-stay"
    case socketElsewhere = "socket-elsewhere"
    case stackTangled = "stack-tangled"

    case fileOwner = "file-owner"
    case fileWritable = "file-writable"
    case fileExposed = "file-exposed"
    case stateFileSystem = "state-file-system"
    case fileUnreadable = "file-unreadable"
    case fileKind = "file-kind"
    case fileLinked = "file-linked"
    case fileMissing = "file-missing"
    case keyDamaged = "key-damaged"
    case keyOfAnother = "key-of-another"
    case keyOfNobody = "key-of-nobody"
    case keyHalfChanged = "key-half-changed"
    case keyAndMark = "key-and-mark"
    case fileForeign = "file-foreign"
    case stateVolatile = "state-volatile"
    case stateNone = "state-none"
    case needsRoot = "needs-root"

    case serviceForeign = "service-foreign"
    case socketMissing = "socket-missing"
    case socketDisabled = "socket-disabled"
    case serviceSilent = "service-silent"
    case versionDaemon = "version-daemon"
    case versionModule = "version-module"
    case configurationRefused = "configuration-refused"
    case configurationOld = "configuration-old"

    case credentialInvalid = "credential-invalid"
    case fingersClosed = "fingers-closed"
    case printsDamaged = "prints-damaged"
    case accountUnanswered = "account-unanswered"
    case loginOff = "login-off"
    case lockedOut = "locked-out"
    case printsElsewhere = "prints-elsewhere"
    case keyringStale = "keyring-stale"
    case secretsStale = "secrets-stale"
    case loginDisabled = "login-disabled"
    case noFinger = "no-finger"
    case lockedForNow = "locked-for-now"
    case manyAccounts = "many-accounts"

    case noReader = "no-reader"
    case fprintdRunning = "fprintd-running"
    case fprintdInstalled = "fprintd-installed"

    case vaultTrouble = "vault-trouble"
    case tpmAccess = "tpm-access"
    case tpmUnused = "tpm-unused"

    case clockBehind = "clock-behind"
    case clockUnsynchronised = "clock-unsynchronised"
    case lidClosed = "lid-closed"
    case secureBootOff = "secure-boot-off"
    case swapPlain = "swap-plain"
    case loginsClosed = "logins-closed"

    case journalAlert = "journal-alert"
    case journalFailures = "journal-failures"
}

extension FindingCode {
    /// How bad it is.
    package var level: FindingLevel {
        switch self {
        case .passwordUnreachable, .noPassword, .stackOpen, .includeMissing, .includeLoop,
            .passwordStackRecursive, .passwordStackOpen, .fileOwner, .fileWritable, .fileExposed,
            .stateFileSystem, .serviceForeign:
            .danger
        case .passwordStackMissing, .passwordStackClosed, .passwordLostAfterFault, .gateSkipped,
            .longJump, .wrongType, .moduleOption, .stackBroken, .moduleMissing, .fileUnreadable,
            .fileKind, .fileLinked, .fileMissing, .keyDamaged, .keyOfAnother, .socketMissing,
            .socketDisabled, .serviceSilent, .versionDaemon, .versionModule,
            .configurationRefused, .credentialInvalid, .fingersClosed, .printsDamaged,
            .accountUnanswered, .noReader, .vaultTrouble, .clockBehind:
            .fault
        case .passwordLostAfterMismatch, .touchNotEnough, .fingersCounted, .moduleTwice,
            .otherFingerprint, .moduleUnused, .keyOfNobody, .keyHalfChanged, .keyAndMark,
            .fileForeign, .configurationOld, .loginOff, .lockedOut, .printsElsewhere,
            .keyringStale, .secretsStale, .fprintdRunning, .tpmAccess, .journalAlert:
            .warning
        case .failuresStay, .socketElsewhere, .stackTangled, .stateVolatile, .stateNone,
            .needsRoot, .loginDisabled, .noFinger, .lockedForNow, .manyAccounts,
            .fprintdInstalled, .tpmUnused, .clockUnsynchronised, .lidClosed, .secureBootOff,
            .swapPlain, .loginsClosed, .journalFailures:
            .note
        }
    }

    /// What it is about.
    package var area: FindingArea {
        switch self {
        case .passwordUnreachable, .noPassword, .stackOpen, .includeMissing, .includeLoop,
            .passwordStackRecursive, .passwordStackOpen, .passwordStackMissing,
            .passwordStackClosed, .passwordLostAfterFault, .gateSkipped, .longJump, .wrongType,
            .moduleOption, .stackBroken, .moduleMissing, .passwordLostAfterMismatch,
            .touchNotEnough, .fingersCounted, .moduleTwice, .otherFingerprint, .moduleUnused,
            .failuresStay, .socketElsewhere, .stackTangled:
            .stacks
        case .fileOwner, .fileWritable, .fileExposed, .stateFileSystem, .fileUnreadable,
            .fileKind, .fileLinked, .fileMissing, .keyDamaged, .keyOfAnother, .keyOfNobody,
            .keyHalfChanged, .keyAndMark, .fileForeign, .stateVolatile, .stateNone, .needsRoot:
            .files
        case .serviceForeign, .socketMissing, .socketDisabled, .serviceSilent, .versionDaemon,
            .versionModule, .configurationRefused, .configurationOld:
            .service
        case .credentialInvalid, .fingersClosed, .printsDamaged, .accountUnanswered, .loginOff,
            .lockedOut, .printsElsewhere, .keyringStale, .secretsStale, .loginDisabled,
            .noFinger, .lockedForNow, .manyAccounts:
            .accounts
        case .noReader, .fprintdRunning, .fprintdInstalled: .reader
        case .vaultTrouble, .tpmAccess, .tpmUnused: .vault
        case .clockBehind, .clockUnsynchronised, .lidClosed, .secureBootOff, .swapPlain,
            .loginsClosed:
            .machine
        case .journalAlert, .journalFailures: .journal
        }
    }
}
#endif
