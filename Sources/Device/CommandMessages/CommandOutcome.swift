// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Messages of the command `signet` after success.
package enum CommandOutcome {
    /// A finger was added.
    package static func enrolled(_ finger: Bytes, account: AccountName, prints: UInt8) -> Text {
        "\(finger) is enrolled for \(account): \(fingers(prints)) in total"
    }
    /// One finger was removed, or all of them.
    package static func deleted(_ finger: Bytes?, account: AccountName, prints: UInt8) -> Text {
        guard let finger else {
            return "all fingers of \(account) were deleted: \(fingers(prints)) left"
        }
        return "\(finger) of \(account) was deleted: \(fingers(prints)) left"
    }
    /// The finger was recognised.
    package static func matched(_ finger: Bytes?) -> Text {
        guard let finger else { return "the finger matched" }
        return "the finger matched: \(finger)"
    }
    /// Fingerprint login was turned on.
    package static func enabled(_ account: AccountName) -> Text {
        "fingerprint login is on for \(account)"
    }
    /// The key was created, but no service asks for a finger.
    package static func readyUnused(_ account: AccountName) -> Text {
        """
        the key of \(account) is ready, but fingerprint login is not on yet: no service in \
        /etc/pam.d uses pam_signet
        """
    }
    /// The key was created, but the services that ask for a finger do not find the module.
    package static func readyMissing(_ account: AccountName) -> Text {
        """
        the key of \(account) is ready, but fingerprint login does not work: the services in \
        /etc/pam.d cannot find pam_signet.so
        """
    }
    /// A finger that a key was sealed to.
    package static func sealed(_ finger: Text, reader: Bytes) -> Text {
        "the key opens for \(finger), enrolled on \(reader)"
    }
    /// Before the fingers that a key is about to be sealed to.
    package static func sealing(_ account: AccountName) -> Text {
        """
        these fingers will open the key of \(account). Continue only if all of them are yours: \
        anyone with one of them can log in as \(account)
        """
    }
    /// Whether a touch opens the keyring now.
    package static func keyring(_ state: KeyringState, account: AccountName) -> Text {
        switch state {
        case .on: "a touch at login opens the keyring of \(account)"
        case .off: "a touch does not open the keyring of \(account)"
        case .passwordChanged, .fingersChanged, .damaged:
            "a touch no longer opens the keyring of \(account): \(CommandStatus.reason(state))"
        }
    }
    /// Fingerprint login was turned off.
    package static func disabled(_ account: AccountName) -> Text {
        "fingerprint login is off for \(account). Run 'signet enable' to turn it on again"
    }
    /// The key was moved to another vault.
    package static func migrated(_ vault: Bytes, account: AccountName) -> Text {
        "the key of \(account) is now in the vault '\(vault)', and the old one is gone"
    }
    /// The TPM's root key is now trusted.
    package static func trusted(_ root: Bytes) -> Text {
        """
        the TPM is now trusted, with the root key \(root). Accounts whose keys were in another TPM \
        must start again with 'signet delete --all' and 'signet enroll'
        """
    }
    /// The lockout was lifted.
    package static func unlocked(_ account: AccountName) -> Text {
        "fingerprint login is unlocked for \(account)"
    }
    /// After a change of fingers: whether fingerprint login is on.
    package static func login(_ state: CredentialState, account: AccountName) -> Text {
        switch state {
        case .valid: enabled(account)
        case .none: "fingerprint login is off for \(account). Run 'signet enable' to turn it on"
        case .disabled, .invalidated: disabled(account)
        }
    }

    /// Nothing to list.
    package static func noFingers(_ account: AccountName) -> Text {
        "no finger is enrolled for \(account). Run 'signet enroll' to add one"
    }
    /// Nothing to list.
    package static let noReaders: Text =
        "no fingerprint reader was found. Is one plugged in, and supported by libfprint?"
    /// `readers --prints`, without any prints.
    package static let noStoredPrints: Text =
        "no fingerprints are known to be stored on the readers"
    /// `readers --prints` and `--delete-foreign`: the reader stores prints but does not list them.
    package static func cannotList(_ reader: Bytes) -> Text {
        """
        \(reader) does not report which fingerprints it stores: those of other systems can be \
        deleted only together with all others, with 'signet readers --clear --force --reader \
        \(reader)'
        """
    }
    /// How many prints were deleted from readers.
    package static func deletedPrints(_ count: UInt8) -> Text {
        "fingerprints deleted from readers: \(number: count)"
    }
    /// Nothing to list.
    package static func noReceipts(_ account: AccountName) -> Text {
        "there are no receipts for \(account)"
    }

    /// `1 finger`, `3 fingers`
    package static func fingers(_ count: UInt8) -> Text {
        count == 1 ? "1 finger" : "\(number: count) fingers"
    }

    /// The configuration files have no mistakes.
    package static func noMistakes(_ files: Bytes) -> Text { "no mistakes in \(files)" }
    /// A list names an account that does not exist.
    package static func unknownAccount(
        _ setting: Bytes, name: Bytes, nearest: Bytes?
    ) -> Text {
        guard let nearest else {
            return "\(setting): there is no account \(name) on this machine"
        }
        return "\(setting): there is no account \(name) on this machine. Did you mean \(nearest)?"
    }
    /// A list names a group that does not exist.
    package static func unknownGroup(_ setting: Bytes, name: Bytes, nearest: Bytes?) -> Text {
        guard let nearest else {
            return "\(setting): there is no group \(name) on this machine"
        }
        return "\(setting): there is no group \(name) on this machine. Did you mean \(nearest)?"
    }
    /// A list names a service without a stack.
    package static func unknownService(
        _ setting: Bytes, name: Bytes, nearest: Bytes?
    ) -> Text {
        guard let nearest else {
            return "\(setting): there is no service \(name) in /etc/pam.d"
        }
        return "\(setting): there is no service \(name) in /etc/pam.d. Did you mean \(nearest)?"
    }
    /// A list of units contains an entry that is not a unit.
    package static func notUnit(_ setting: Bytes, name: Bytes, nearest: Bytes?) -> Text {
        guard let nearest else {
            return "\(setting): \(name) is not the name of a service unit"
        }
        return "\(setting): \(name) is not the name of a service unit. Did you mean \(nearest)?"
    }
    /// The daemon uses the settings in the files.
    package static let sameSettings: Text = "the running service uses these settings"
    /// The daemon uses other settings than those in the files.
    package static func otherSetting(
        _ name: Bytes, service: Bytes, origin: Bytes, files: Bytes
    ) -> Text {
        "\(name): the running service uses \(service) (\(origin)), but the files say \(files)"
    }
    /// How to make the daemon use them.
    package static let restart: Text =
        "run 'systemctl try-restart signetd' to make the service read the files again"
    /// It is unknown which settings the daemon uses.
    package static let serviceUnknown: Text =
        "the running service does not answer, so its settings are unknown"

    /// A receipt was written to files.
    package static func exported(_ number: UInt64, directory: Bytes) -> Text {
        "receipt #\(number: number) is in \(directory). To check it, run in that directory:"
    }
    /// The standard command that verifies it.
    package static func checkCommand(_ account: AccountName, namespace: Bytes) -> Text {
        // Untranslated: a command.
        """
        ssh-keygen -Y verify -f signers -I \(account) -n \(namespace) \
        -s statement.sig < statement
        """
    }
    /// The receipt does not exist.
    package static func noReceipt(_ number: UInt64, account: AccountName) -> Text {
        "there is no receipt #\(number: number) for \(account). See 'signet log'"
    }
    /// A file already exists.
    package static func exists(_ path: Bytes) -> Text {
        "\(path) already exists and is not overwritten. Name another directory"
    }
}
