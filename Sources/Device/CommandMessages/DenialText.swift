// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SSHProtocol
import SignedFormats

// What a denial says to the person at a command. Reasons that logins share have their text in
// `LoginDenial.loginText`, so they read the same everywhere. Texts of other programs (`subject`)
// are escaped.
extension Denial {
    /// What happened, why, and what to do now, for the person who asked about `account`.
    package func text(account: AccountName) -> Text {
        switch reason {
        case .enrolmentPaused: enrolmentPausedText
        case .enrolmentYielded:
            """
            the enrolment was stopped because another request was waiting for the reader. Run the \
            command again
            """
        case .enrolmentLocked:
            """
            too many enrolment attempts: only an administrator can enrol a finger for \(account) \
            now
            """
        case .wrongPassword: "the password was wrong"
        case .passwordCheckFailed:
            "the password could not be checked: see 'journalctl -t signetd'"
        case .accountNameUnusable: accountNameUnusableText(account)
        case .fingerNotEnrolled: "the finger was not enrolled"
        case .fingerKnown: fingerKnownText
        case .tooManyFingers: "no more fingers can be added. Delete one with 'signet delete'"
        case .unknownFinger: "no such finger is enrolled. See 'signet list'"
        case .readerFull:
            """
            the fingerprint reader has no room for another fingerprint. As root, run \
            'signet readers --prints' to see what it stores, and 'signet readers --delete-foreign' \
            to delete what other systems have left there
            """
        case .fingerOnReader:
            """
            the fingerprint reader already stores this finger, enrolled by another system. \
            As root, run 'signet readers --delete-foreign' to remove such fingerprints
            """
        case .secretExists: "the secret \(secretName) already exists. Use '--replace' to replace it"
        case .unknownSecret: "there is no secret \(secretName). See 'signet secret list'"
        case .secretStale:
            "the fingers have changed since the secret \(secretName) was stored: set it again"
        case .tooManySecrets:
            "no more secrets can be stored. Delete one with 'signet secret delete'"
        case .activationRefused:
            "the activation code is wrong, or no longer valid. Ask for a new one"
        case .knownServer: knownServerText
        case .tooManyServers:
            "too many servers are registered. Remove one with 'signet disable --server URL'"
        case .serverRefused: serverRefusedText
        case .notAttestable: notAttestableText
        case .noSigningKey:
            "\(account) has no signing key. Run 'signet enable --signing' to create one"
        case .signingKeyInvalidated: signingKeyInvalidatedText
        case .signingKeyExists: signingKeyExistsText(account)
        case .unknownMacToken: unknownMACTokenText
        case .tooManyMacTokens:
            "too many MAC tokens are stored. Remove one with 'signet mac-token remove NAME'"
        case .readingTokenWanted: readingTokenText
        case .unknownOperation: unknownOperationText
        case .operationOver: operationOverText
        case .printsDamaged: damagedText(account)
        case .noPassword: noPasswordText(account)
        case .accountExpired, .passwordExpired: expiredText(account)
        case .noPasswordKey: noPasswordKeyText
        case .passwordKeyStale: passwordKeyStaleText
        case .passwordElsewhere:
            """
            the password of \(account) is not stored on this machine, so no key can be bound to it. \
            Use a finger
            """
        case .passwordNotAccepted: "the server accepts only a touch for this, not a password"
        case .fingerNotAccepted:
            "the server accepts only the password for this, not a touch. Add '--password'"
        case .unknownSession: unknownSessionText
        case .sessionOver: sessionOverText
        case .sessionsUnknown: sessionsUnknownText
        case .sshHandleMalformed, .sshHandleOfOtherMachine, .sshHandleOfOtherAccount,
            .unknownSshKey, .sshKeyInvalidated, .sshKeyExists, .tooManySshKeys, .sshDataRefused,
            .sshOtherKey, .sshApplicationRefused:
            SSHDenialReason(rawValue: reason.rawValue)?.text(subject: subject)
                ?? "the request is not possible now"
        case .sshGrantsOff:
            """
            on this machine each ssh signature needs a touch of its own. An administrator can allow \
            grants with 'ssh.grants = allow' in signet.conf
            """
        // At a prompt, that there is none must do: the module is kept small.
        case .noReader where told != nil:
            "the fingerprint reader \(told ?? []) is not connected: connect it, or use the password"
        default: toLogin?.loginText(account: account) ?? "the request is not possible now"
        }
    }

    /// The daemon's detail, or the account that it concerns; nil if it gives none.
    private var told: Bytes? {
        guard let subject, !subject.isEmpty else { return nil }
        return subject
    }

    private var noPasswordKeyText: Text {
        """
        this device has no key for your password at \(told ?? []). If that server accepts \
        passwords, run 'signet enable --server \(Shell.word(told ?? [])) --password-key', which needs a touch
        """
    }

    private var passwordKeyStaleText: Text {
        """
        the password has changed since the key for it was made. Run 'signet enable --server \
        \(told ?? []) --password-key', which needs a touch
        """
    }

    private func noPasswordText(_ account: AccountName) -> Text {
        if told == Detail.passwordLocked.bytes {
            return """
                the password of \(account) is locked, so no password is accepted. An administrator \
                can unlock it with 'passwd -u \(account)', or run this command as root
                """
        }
        return """
            \(account) has no password on this machine, so no password is accepted. An \
            administrator can set one with 'passwd \(account)', or run this command as root
            """
    }

    private func expiredText(_ account: AccountName) -> Text {
        guard reason == .accountExpired else {
            return """
                the password of \(account) has expired. Set a new one with 'passwd', then run this \
                command again
                """
        }
        return """
            the account \(account) has expired, so its password is not accepted. An administrator \
            can extend it with 'chage -E DATE \(account)'
            """
    }

    private func damagedText(_ account: AccountName) -> Text {
        guard let finger else {
            return """
                a stored fingerprint of \(account) is damaged, so no key can be created. To start \
                again, run 'signet delete --all', then 'signet enroll'
                """
        }
        return """
            the stored fingerprint \(finger.name.bytes) of \(account) is damaged, so no key can be \
            created. Run 'signet enroll \(finger.name.bytes)' to enrol it again, or 'signet delete \
            \(finger.name.bytes)' to delete it
            """
    }

    private func accountNameUnusableText(_ account: AccountName) -> Text {
        """
        the account \(account) cannot have fingers: its name must be text of at most \
        \(number: UInt64(AccountName.longest)) bytes, must not begin with '-', and must not contain any of \
        *?!,:/ or a double quote. Use the password, or have the account renamed
        """
    }

    private var enrolmentPausedText: Text {
        guard let seconds else {
            return "too many enrolment attempts: wait a moment and try again"
        }
        return "too many enrolment attempts: wait \(number: seconds) s and try again"
    }

    private var secretName: Text { told.map { "\($0)" } ?? "with this name" }

    private var fingerKnownText: Text {
        guard let finger else { return "this finger is already enrolled" }
        return "this finger is already enrolled, as \(finger.name.bytes)"
    }
}
