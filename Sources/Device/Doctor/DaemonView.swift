// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// The daemon's report about one account.
package struct AccountView: Sendable {
    /// The account's name.
    package let name: AccountName
    /// The account's status.
    package let status: StatusAnswer
    /// The prints; empty if they cannot be listed.
    package let prints: [PrintAnswer]
    /// The secrets; empty if they cannot be listed.
    package let secrets: [SecretAnswer]
    /// The servers that the account is registered at; nil if that was not asked or cannot be
    /// determined.
    package let servers: [ServerAnswer]?

    /// Describes an account by its values.
    package init(
        name: AccountName, status: StatusAnswer, prints: [PrintAnswer], secrets: [SecretAnswer],
        servers: [ServerAnswer]? = nil
    ) {
        self.name = name
        self.status = status
        self.prints = prints
        self.secrets = secrets
        self.servers = servers
    }
}

/// The daemon's report, as far as it could be asked.
///
/// The caller collects it over the socket; the doctor only draws conclusions from it. A nil or
/// empty value means "not known", and leads to no finding.
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

    /// Whether the daemon answers.
    package var reach: Reach
    /// The daemon's version; nil if it did not report it.
    package var version: Bytes?
    /// The accounts that it reported on.
    package var accounts: [AccountView] = []
    /// The accounts that it refused to report on, and why.
    package var denied: [(name: AccountName, reason: Text)] = []
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
    /// Whether it asks for no touch, because it rejected its configuration and stores no earlier
    /// settings.
    package var permitsNoTouch = false

    /// Creates the view of a daemon that has not reported anything yet.
    package init(_ reach: Reach) { self.reach = reach }
}

/// The number of an account's fingers that were enrolled on one reader.
package struct FingerCount: Equatable, Sendable {
    /// The account's name.
    package let account: AccountName
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
