// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The next command on the way to working fingerprint login.
package enum LoginStep: Equatable, Sendable {
    case enroll
    /// A stored print is damaged.
    case enrollAgain(Finger)
    case enable
    /// The stored data can no longer be used.
    case startAnew
    case unlock
    case seeVault
    /// The TPM is not the one used before.
    case trustVault
    case seeSettings
    case seeDoctor
    /// Makes services ask for a touch; nil if no tool of this machine does that.
    case activate(Bytes?)
    /// Installs the module's package; nil if no tool of this machine does that.
    case install(Bytes?)
    /// Registers at a server.
    case register(ServerURL)

    /// The command as typed; with `account` if it must be named.
    package func command(for account: AccountName?) -> Bytes? {
        let named = account.map { Bytes(" --account ".utf8) + $0.bytes } ?? []
        switch self {
        case .enroll: return Bytes("signet enroll".utf8) + named
        case .enrollAgain(let finger):
            return Bytes("signet enroll ".utf8) + finger.name.bytes + named
        case .enable: return Bytes("signet enable".utf8) + named
        case .startAnew: return Bytes("signet delete --all".utf8) + named
        case .unlock: return Bytes("signet unlock".utf8) + named
        case .seeVault: return Bytes("signet vault".utf8)
        case .trustVault: return Bytes("signet vault trust".utf8)
        case .seeSettings: return Bytes("signet config".utf8)
        case .seeDoctor: return Bytes("signet doctor".utf8)
        case .activate(let command), .install(let command): return command
        case .register(let url): return Bytes("signet enable --server ".utf8) + url.bytes + named
        }
    }

    /// What is left to do where what is stored cannot be opened, for this reason of the vault's: only
    /// where the vault itself is in trouble does looking at it tell more.
    package static func closed(because reason: Bytes, cause: InvalidationCause?) -> LoginStep {
        if cause == .tpmExchanged { return .startAnew }
        if reason == Detail.anotherRoot.bytes { return .trustVault }
        return reason == Detail.doesNotOpen.bytes ? .startAnew : .seeVault
    }

    /// The commands as `signet doctor` shows them: for root, and all at once.
    package func mend(of account: AccountName) -> Text {
        switch self {
        case .startAnew:
            // Untranslated: a command
            """
            signet delete --all --account \(Shell.word(account)) && signet enroll --account \
            \(Shell.word(account))
            """
        case .trustVault:
            // Untranslated: a command
            "signet vault trust"
        case .seeVault, .enroll, .enrollAgain, .enable, .unlock, .seeSettings, .seeDoctor,
            .activate, .install, .register:
            // Untranslated: a command
            "signet vault"
        }
    }

    /// Whether only root can do it.
    package var isForRoot: Bool {
        switch self {
        case .activate, .install, .trustVault: true
        case .enroll, .enrollAgain, .enable, .startAnew, .unlock, .seeVault, .seeSettings,
            .seeDoctor, .register:
            false
        }
    }
}
