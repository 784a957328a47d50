// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Policy
import SignedFormats

/// What the daemon tells of an account.
package struct AccountView: Sendable {
    /// Whose.
    package let name: Bytes
    /// How things stand.
    package let status: StatusAnswer
    /// The prints; empty where they cannot be listed.
    package let prints: [PrintAnswer]
    /// The secrets; empty where they cannot be listed.
    package let secrets: [SecretAnswer]
    /// The servers that it is registered at; nil where that was not asked, or cannot be told.
    package let servers: [ServerAnswer]?

    /// All of it.
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

/// All that the daemon tells, as far as it could be asked.
package struct DaemonView: Sendable {
    /// How the daemon took it to be asked.
    package enum Reach: Equatable, Sendable {
        /// It answers.
        case answers
        /// There is no socket.
        case absent
        /// Who listens is not root.
        case foreign(uid: UInt32)
        /// It does not answer as it should, and how.
        case silent(Text)
    }

    /// Whether it answers.
    package var reach: Reach
    /// The daemon's version; nil where it did not say.
    package var version: Bytes?
    /// Accounts that it tells of.
    package var accounts: [AccountView] = []
    /// Accounts that it does not tell of, and why.
    package var denied: [(name: Bytes, reason: Text)] = []
    /// Whether there are more accounts than were asked about.
    package var isCut = false
    /// The readers; nil where it did not say.
    package var readers: [ReaderAnswer]?
    /// The vaults.
    package var vaults: [VaultAnswer] = []
    /// The settings; nil where it did not say.
    package var settings: [SettingAnswer]?
    /// Why it refused its configuration.
    package var configurationFault: Bytes?

    /// A daemon that nothing was asked yet.
    package init(_ reach: Reach) { self.reach = reach }
}

extension DaemonView {
    /// What is wrong with daemon and settings; `files` is why the files would be refused now.
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

    /// What is wrong with accounts, readers and vaults.
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

    /// Whether a login needs the vault, though new keys may be made in the other one.
    private func hasKeys(in vault: VaultAnswer) -> Bool {
        accounts.contains { $0.status.state == .valid && $0.status.vault == vault.vault }
    }
}

/// The fingers of an account that one reader made.
package struct FingerCount: Equatable, Sendable {
    /// Whose.
    package let account: Bytes
    /// Which reader.
    package let reader: Bytes
    /// How many that are intact.
    package let fingers: UInt8
    /// Whether the reader is there; nil where that is not known.
    package let isThere: Bool?
}

extension DaemonView {
    /// How many fingers there are, for each account and reader.
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

    /// Prints that no reader of these made.
    fileprivate func readerFindings(_ readers: [ReaderAnswer]?) -> [Finding] {
        // Without any reader that is what is told.
        guard let readers, !readers.isEmpty else { return [] }
        let known = Set(readers.map(\.readerID))
        let missing = Set(prints.filter(\.intact).map(\.readerID)).subtracting(known)
        return missing.sorted { $0.lexicographicallyPrecedes($1) }
            .map { .printsElsewhere(name, reader: $0) }
    }
}

extension Denial {
    /// Whether a finding about the machine or its readers tells it, for all accounts.
    fileprivate var isToldOfMachine: Bool { reason == .noReader || reason == .lidClosed }
}
