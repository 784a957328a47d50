// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import LoginMessages
import LoginProtocol
import SignedFormats

/// What the daemon reports about one account.
package struct AccountView: Sendable {
    /// The account's name.
    package let name: Bytes
    /// The account's status.
    package let status: StatusAnswer
    /// The prints; empty if they cannot be listed.
    package let prints: [PrintAnswer]
    /// The secrets; empty if they cannot be listed.
    package let secrets: [SecretAnswer]
    /// The servers it is registered at; nil if that was not asked or cannot be determined.
    package let servers: [ServerAnswer]?

    /// Describes an account by its values.
    package init(
        name: Bytes, status: StatusAnswer, prints: [PrintAnswer], secrets: [SecretAnswer],
        servers: [ServerAnswer]? = nil
    ) {
        self.name = name
        self.status = status
        self.prints = prints
        self.secrets = secrets
        self.servers = servers
    }
}

/// What the daemon reports, as far as it could be asked.
///
/// The caller collects it over the socket; the doctor only draws conclusions. A nil or empty value
/// means "not known", and leads to no finding.
package struct DaemonView: Sendable {
    /// How the attempt to reach the daemon ended.
    package enum Reach: Equatable, Sendable {
        /// It answers.
        case answers
        /// There is no socket.
        case absent
        /// The process that listens does not run as root.
        case foreign(uid: UInt32)
        /// It does not answer as it should, for this reason.
        case silent(Text)
    }

    /// Whether it answers.
    package var reach: Reach
    /// The daemon's version; nil if it did not report it.
    package var version: Bytes?
    /// The accounts it reported on.
    package var accounts: [AccountView] = []
    /// The accounts it refused to report on, and why.
    package var denied: [(name: Bytes, reason: Text)] = []
    /// Whether there are more accounts than were asked about.
    package var isCut = false
    /// The readers; nil if it did not report them.
    package var readers: [ReaderAnswer]?
    /// The vaults.
    package var vaults: [VaultAnswer] = []
    /// The settings in use; nil if it did not report them.
    package var settings: [SettingAnswer]?
    /// Why it rejected its configuration; nil if it did not.
    package var configurationFault: Bytes?

    /// A daemon that has not been asked anything yet.
    package init(_ reach: Reach) { self.reach = reach }
}

extension DaemonView {
    /// Problems with the daemon's identity, version and settings.
    ///
    /// - Parameters:
    ///   - version: The version of the program that examines.
    ///   - files: Why the configuration files would be rejected now; nil if they would not.
    ///   - configuration: The configuration in the files, to compare with the settings in use.
    func serviceFindings(
        _ version: Bytes, files: ConfigurationFault?, configuration: Configuration?
    ) -> [Finding] {
        var findings: [Finding] = []
        switch reach {
        case .answers, .absent: break
        case .foreign(let uid): findings.append(.serviceForeign(uid: uid))
        case .silent(let reason): findings.append(.serviceSilent(reason))
        }
        if let running = self.version, running != version {
            findings.append(.versionDaemon(running, expected: version))
        }
        if let fault = files?.text.bytes ?? configurationFault {
            findings.append(.configurationRefused(fault))
        } else if let settings, let configuration {
            let differing = Settings.all.filter(\.isUsedByDaemon).filter { setting in
                let used = settings.first { $0.name == setting.name.bytes }?.value
                return used != nil && used != configuration.value(setting).text.bytes
            }
            if !differing.isEmpty {
                findings.append(
                    .configurationOld(differing.map(\.name).joined(separator: ", ").bytes))
            }
        }
        return findings
    }

    /// Problems with accounts, readers and vaults; none unless the daemon answers.
    func standingFindings(hasTPM: Bool) -> [Finding] {
        guard reach == .answers else { return [] }
        var findings = accounts.flatMap { account in
            account.findings + account.readerFindings(readers)
        }
        findings += denied.map { .accountUnanswered($0.name, reason: $0.reason) }
        if isCut { findings.append(.manyAccounts(UInt64(Machine.mostAccounts))) }
        if readers?.isEmpty == true { findings.append(.noReader) }
        for vault in vaults where vault.isChosen || hasKeys(in: vault) {
            if let trouble = vault.trouble {
                findings.append(.vaultTrouble(vault.vault, reason: trouble))
            } else if vault.isChosen, vault.vault == "file".bytes, hasTPM {
                findings.append(.tpmUnused)
            }
        }
        return findings
    }

    /// Whether logins need the vault, even though new keys may be made in the other one.
    private func hasKeys(in vault: VaultAnswer) -> Bool {
        accounts.contains { $0.status.state == .valid && $0.status.vault == vault.vault }
    }
}

/// The number of an account's fingers that were enrolled on one reader.
package struct FingerCount: Equatable, Sendable {
    /// The account's name.
    package let account: Bytes
    /// The reader's id.
    package let reader: Bytes
    /// The number of intact prints.
    package let fingers: UInt8
    /// Whether the reader is present; nil if that is not known.
    package let isThere: Bool?
}

extension DaemonView {
    /// The number of fingers per account and reader.
    package var fingerCounts: [FingerCount] {
        let known = readers.map { Set($0.map(\.readerID)) }
        return accounts.flatMap { account in
            let byReader = Dictionary(grouping: account.prints.filter(\.intact), by: \.readerID)
            return byReader.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
                reader, prints in
                FingerCount(
                    account: account.name, reader: reader, fingers: UInt8(clamping: prints.count),
                    isThere: known?.contains(reader))
            }
        }
    }
}

extension AccountView {
    /// Problems with the account's status, keyring and secrets.
    fileprivate var findings: [Finding] {
        var findings: [Finding] = []
        if let why = status.closed { findings.append(.fingersClosed(name, reason: why, status)) }
        if status.damaged > 0 { findings.append(.printsDamaged(name, count: status.damaged)) }
        switch status.state {
        case .valid: break
        case .invalidated:
            findings.append(.credentialInvalid(name, status))
        case .disabled: findings.append(.loginDisabled(name, since: status.since.map(Text.date)))
        case .none where status.prints > 0: findings.append(.loginOff(name))
        case .none: findings.append(.noFinger(name))
        }
        if let setting = status.keptOut { findings.append(.keptOut(name, setting: setting)) }
        switch status.lock {
        case .open: break
        case .forNow: findings.append(.lockedForNow(name, seconds: status.seconds ?? 0))
        case .untilPassword: findings.append(.lockedOut(name))
        }
        if findings.isEmpty, let refusal = status.refusal, !refusal.isToldOfMachine {
            findings.append(.loginRefused(name, refusal))
        }
        switch status.keyring {
        case .on, .off: break
        case .passwordChanged, .fingersChanged, .damaged:
            findings.append(.keyringStale(name, reason: CommandStatus.keyring(status)))
        }
        let stale = secrets.filter { $0.state != .fits }.map(\.name)
        if !stale.isEmpty {
            findings.append(.secretsStale(name, names: Bytes(stale.joined(separator: ", ".bytes))))
        }
        return findings
    }

    /// Prints that were made on readers that are not among these.
    fileprivate func readerFindings(_ readers: [ReaderAnswer]?) -> [Finding] {
        // Without any reader, the missing reader is the finding.
        guard let readers, !readers.isEmpty else { return [] }
        let known = Set(readers.map(\.readerID))
        let missing = Set(prints.filter(\.intact).map(\.readerID)).subtracting(known)
        return missing.sorted { $0.lexicographicallyPrecedes($1) }
            .map { .printsElsewhere(name, reader: $0) }
    }
}

extension Denial {
    /// Whether a finding about the machine or its readers already covers this, for all accounts.
    fileprivate var isToldOfMachine: Bool { reason == .noReader || reason == .lidClosed }
}
