#if !hasFeature(Embedded)
/// All that `signet doctor` can find; docs/DOCTOR.md tells of each.
package enum FindingCode: CaseIterable, Sendable {
    case passwordUnreachable, noPassword, stackOpen, includeMissing, includeLoop
    case passwordStackRecursive, passwordStackOpen, passwordStackMissing, passwordStackClosed
    case passwordLostAfterFault, gateSkipped, longJump, wrongType, moduleOption, stackBroken
    case moduleMissing, moduleMisspelt, passwordLostAfterMismatch, touchNotEnough, fingersCounted,
        moduleTwice
    case otherFingerprint, moduleUnused, failuresStay, socketElsewhere, stackTangled
    case passwordUnasked, passwordShadowed, touchBehindPassword, typingBlocked
    case directoryPasswordMissing, fprintdProfile, serverFile
    case serverFileAccount, serverFileGroup
    case releasedPassword, keyringRemote, keyringUnlisted, keyringMissing

    case fileOwner, fileWritable, fileExposed, stateFileSystem, fileUnreadable, fileKind
    case fileLinked, fileMissing, keyDamaged, keyOfAnother, keyOfNobody, keyHalfChanged
    case keyAndMark, counterMissing, fileForeign, stateVolatile, stateNone, needsRoot

    case serviceForeign, socketMissing, socketDisabled, serviceSilent, versionDaemon
    case versionModule, configurationRefused, configurationOld
    case serviceUnknown, accountUnknown, groupUnknown, deniedGroupUnknown, relayMissing
    case keyringServiceUnknown, unitMalformed, settingObsolete
    case othersAllowed, anyoneAllowed, terminalsAllowed, seatlessAllowed

    case credentialInvalid, fingersClosed, printsDamaged, loginRefused, accountUnanswered
    case loginOff, lockedOut
    case printsElsewhere, keyringStale, secretsStale, loginDisabled, keptOut, noFinger
    case lockedForNow, manyAccounts, serverUnregistered

    case noReader, readersMissing, readersDisabled, fprintdRunning, fprintdInstalled

    case vaultTrouble, tpmAccess, tpmUnused

    case clockBehind, clockUnsynchronised, lidClosed, secureBootOff, swapPlain, loginsClosed

    case journalAlert, journalFailures, journalUnread
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
#endif
