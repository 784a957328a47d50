// SPDX-License-Identifier: Apache-2.0
/// All that `signet doctor` can find; docs/admin/DOCTOR.md tells of each.
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
    case moduleMisspelt = "module-misspelt"
    case passwordLostAfterMismatch = "password-lost-after-mismatch"
    case touchNotEnough = "touch-not-enough"
    case fingersCounted = "fingers-counted"
    case moduleTwice = "module-twice"
    case otherFingerprint = "other-fingerprint"
    case moduleUnused = "module-unused"
    case failuresStay = "failures-stay"
    case socketElsewhere = "socket-elsewhere"
    case stackTangled = "stack-tangled"
    case passwordUnasked = "password-unasked"
    case passwordShadowed = "password-shadowed"
    case touchBehindPassword = "touch-behind-password"
    case typingBlocked = "typing-blocked"
    case directoryPasswordMissing = "directory-password-missing"
    case fprintdProfile = "fprintd-profile"
    case serverFile = "server-file"
    case serverFileAccount = "server-file-account"
    case serverFileGroup = "server-file-group"
    case releasedPassword = "released-password"
    case keyringRemote = "keyring-remote"
    case keyringUnlisted = "keyring-unlisted"
    case keyringMissing = "keyring-missing"

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
    case counterMissing = "counter-missing"
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
    case serviceUnknown = "service-unknown"
    case accountUnknown = "account-unknown"
    case groupUnknown = "group-unknown"
    case deniedGroupUnknown = "denied-group-unknown"
    case relayMissing = "relay-missing"
    case keyringServiceUnknown = "keyring-service-unknown"
    case unitMalformed = "unit-malformed"
    case settingObsolete = "setting-obsolete"
    case othersAllowed = "others-allowed"
    case anyoneAllowed = "anyone-allowed"
    case terminalsAllowed = "terminals-allowed"
    case seatlessAllowed = "seatless-allowed"

    case credentialInvalid = "credential-invalid"
    case fingersClosed = "fingers-closed"
    case printsDamaged = "prints-damaged"
    case loginRefused = "login-refused"
    case accountUnanswered = "account-unanswered"
    case loginOff = "login-off"
    case lockedOut = "locked-out"
    case printsElsewhere = "prints-elsewhere"
    case keyringStale = "keyring-stale"
    case secretsStale = "secrets-stale"
    case loginDisabled = "login-disabled"
    case keptOut = "kept-out"
    case noFinger = "no-finger"
    case lockedForNow = "locked-for-now"
    case manyAccounts = "many-accounts"
    case serverUnregistered = "server-unregistered"

    case noReader = "no-reader"
    case readersMissing = "readers-missing"
    case readersDisabled = "readers-disabled"
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
    case journalUnread = "journal-unread"
}

extension FindingCode {
    /// How bad it is.
    package var level: FindingLevel {
        switch self {
        case .passwordUnreachable, .noPassword, .stackOpen, .includeMissing, .includeLoop,
            .passwordStackRecursive, .passwordStackOpen, .fileOwner, .fileWritable, .fileExposed,
            .stateFileSystem, .serviceForeign, .passwordUnasked, .passwordShadowed,
            .releasedPassword, .keyringRemote, .anyoneAllowed:
            .danger
        case .passwordStackMissing, .passwordStackClosed, .passwordLostAfterFault, .gateSkipped,
            .longJump, .wrongType, .moduleOption, .stackBroken, .moduleMissing, .moduleMisspelt,
            .serverFile,
            .serverFileAccount, .serverFileGroup, .fileUnreadable, .fileKind, .fileLinked,
            .fileMissing, .keyDamaged, .keyOfAnother,
            .socketMissing,
            .socketDisabled, .serviceSilent, .versionDaemon, .versionModule,
            .configurationRefused, .credentialInvalid, .fingersClosed, .printsDamaged,
            .loginRefused, .accountUnanswered, .noReader, .readersMissing, .readersDisabled,
            .vaultTrouble,
            .clockBehind, .deniedGroupUnknown,
            .relayMissing:
            .fault
        case .passwordLostAfterMismatch, .touchNotEnough, .fingersCounted, .moduleTwice,
            .otherFingerprint, .moduleUnused, .keyOfNobody, .keyHalfChanged, .keyAndMark,
            .counterMissing, .fileForeign, .configurationOld, .loginOff, .lockedOut,
            .printsElsewhere, .touchBehindPassword, .typingBlocked, .directoryPasswordMissing,
            .fprintdProfile, .serviceUnknown, .accountUnknown, .groupUnknown,
            .keyringStale, .secretsStale, .fprintdRunning, .tpmAccess, .journalAlert,
            .serverUnregistered, .keyringUnlisted, .othersAllowed, .terminalsAllowed,
            .seatlessAllowed, .keyringServiceUnknown, .unitMalformed, .settingObsolete:
            .warning
        case .failuresStay, .socketElsewhere, .stackTangled, .stateVolatile, .stateNone,
            .needsRoot, .loginDisabled, .keptOut, .noFinger, .lockedForNow, .manyAccounts,
            .fprintdInstalled, .tpmUnused, .clockUnsynchronised, .lidClosed, .secureBootOff,
            .swapPlain, .loginsClosed, .journalFailures, .journalUnread, .keyringMissing:
            .note
        }
    }

    /// What it is about.
    package var area: FindingArea {
        switch self {
        case .passwordUnreachable, .noPassword, .stackOpen, .includeMissing, .includeLoop,
            .passwordStackRecursive, .passwordStackOpen, .passwordStackMissing,
            .passwordStackClosed, .passwordLostAfterFault, .gateSkipped, .longJump, .wrongType,
            .moduleOption, .stackBroken, .moduleMissing, .moduleMisspelt,
            .passwordLostAfterMismatch,
            .touchNotEnough, .fingersCounted, .moduleTwice, .otherFingerprint, .moduleUnused,
            .failuresStay, .socketElsewhere, .stackTangled, .passwordUnasked, .passwordShadowed,
            .touchBehindPassword, .typingBlocked, .directoryPasswordMissing, .fprintdProfile,
            .serverFile, .serverFileAccount, .serverFileGroup, .releasedPassword, .keyringRemote,
            .keyringUnlisted, .keyringMissing:
            .stacks
        case .fileOwner, .fileWritable, .fileExposed, .stateFileSystem, .fileUnreadable,
            .fileKind, .fileLinked, .fileMissing, .keyDamaged, .keyOfAnother, .keyOfNobody,
            .keyHalfChanged, .keyAndMark, .counterMissing, .fileForeign, .stateVolatile, .stateNone,
            .needsRoot:
            .files
        case .serviceForeign, .socketMissing, .socketDisabled, .serviceSilent, .versionDaemon,
            .versionModule, .configurationRefused, .configurationOld, .serviceUnknown,
            .accountUnknown, .groupUnknown, .deniedGroupUnknown, .relayMissing, .othersAllowed,
            .anyoneAllowed, .terminalsAllowed, .seatlessAllowed, .keyringServiceUnknown,
            .unitMalformed, .settingObsolete:
            .service
        case .credentialInvalid, .fingersClosed, .printsDamaged, .loginRefused,
            .accountUnanswered, .loginOff, .lockedOut, .printsElsewhere, .keyringStale,
            .secretsStale, .loginDisabled, .keptOut,
            .noFinger, .lockedForNow, .manyAccounts, .serverUnregistered:
            .accounts
        case .noReader, .readersMissing, .readersDisabled, .fprintdRunning, .fprintdInstalled:
            .reader
        case .vaultTrouble, .tpmAccess, .tpmUnused: .vault
        case .clockBehind, .clockUnsynchronised, .lidClosed, .secureBootOff, .swapPlain,
            .loginsClosed:
            .machine
        case .journalAlert, .journalFailures, .journalUnread: .journal
        }
    }
}
