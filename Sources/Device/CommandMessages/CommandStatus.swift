// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The lines of `signet status`.
package enum CommandStatus {
    /// The start of the line: whose status it is.
    package static let account: Text = "account"
    /// The start of the line: whether fingerprint login is on.
    package static let login: Text = "login"
    /// The start of the line: how many fingers.
    package static let fingers: Text = "fingers"
    /// The start of the line: whether a touch opens the keyring.
    package static let keyring: Text = "keyring"
    /// The start of the line: how many secrets the fingers open.
    package static let secrets: Text = "secrets"
    /// The start of the lines: the servers at which the account is registered.
    package static let servers: Text = "servers"
    /// The start of the line: the key that signs files and challenges.
    package static let signing: Text = "signing"
    /// The start of the line: the readers.
    package static let readers: Text = "readers"
    /// The start of the line: whether the finger is locked out.
    package static let lock: Text = "lockout"
    /// The start of the line: which PAM services use the module.
    package static let usedBy: Text = "used by"
    /// The start of the line: the daemon.
    package static let service: Text = "service"
    /// The start of the line: the vault that contains the key.
    package static let vault: Text = "vault"
    /// The start of the line: this machine's id.
    package static let device: Text = "device"
    /// The start of the line: the mistake in the configuration.
    package static let configuration: Text = "settings"

    /// Whether fingerprint login is on, and why not.
    package static func login(_ status: StatusAnswer) -> Text {
        switch status.state {
        case .valid: since(status).map { "on since \($0)" } ?? "on"
        case .none where status.prints == 0: "off: no finger is enrolled"
        case .none: "off: it was never turned on"
        case .disabled:
            since(status).map { "off since \($0): it was turned off" } ?? "off: it was turned off"
        case .invalidated:
            since(status).map { "off since \($0): \(cause(status))" } ?? "off: \(cause(status))"
        }
    }

    private static func since(_ status: StatusAnswer) -> Text? { status.since.map(Text.date) }

    /// Why the key does not fit the fingers.
    package static func cause(_ status: StatusAnswer) -> Text {
        status.cause?.text ?? "the fingers have changed"
    }

    /// The administrator's lists exclude the account.
    package static func keptOut(_ account: AccountName, setting: Bytes) -> Text {
        "fingerprint login is turned off for \(account) by \(setting) in signet.conf"
    }

    /// How many fingers.
    package static func fingers(_ status: StatusAnswer) -> Text {
        let enrolled: Text =
            switch status.prints {
            case 0: "none"
            case 1: "1 enrolled"
            default: "\(number: status.prints) enrolled"
            }
        if let why = status.closed {
            return "\(enrolled), but they cannot be opened now: \(detail: why)"
        }
        guard status.damaged > 0 else { return enrolled }
        return "\(enrolled), \(number: status.damaged) damaged"
    }

    /// A damaged print, and what to do.
    package static func damaged(_ finger: Finger?) -> Text {
        guard let finger else {
            return "one is damaged, and it is unknown which finger it is"
        }
        return """
            \(finger.name.bytes) is damaged: enrol it again, or delete it with 'signet delete \
            \(finger.name.bytes)'
            """
    }

    /// Whether a touch opens the keyring, and why not.
    package static func keyring(_ status: StatusAnswer) -> Text {
        switch status.keyring {
        case .on: "opened by a touch at login"
        case .off: "not opened by a touch"
        case .passwordChanged, .fingersChanged, .damaged:
            "not opened by a touch: \(reason(status.keyring))"
        }
    }

    /// Why the login password was dropped, and what to do.
    static func reason(_ state: KeyringState) -> Text {
        switch state {
        case .passwordChanged:
            "the login password has changed. Run 'signet enable --keyring'"
        case .fingersChanged:
            """
            the fingers or the key have changed, and the password was not given. \
            Run 'signet enable --keyring'
            """
        case .damaged: "the stored password cannot be opened. Run 'signet enable --keyring'"
        case .on, .off: ""
        }
    }

    /// Whether failed scans have locked the finger.
    package static func lock(_ status: StatusAnswer) -> Text {
        switch status.lock {
        case .open: "none"
        case .forNow:
            """
            for another \(number: status.seconds ?? 0) s: too many failed scans. Wait, or use the \
            password
            """
        case .untilPassword:
            """
            until the password is entered: too many failed scans. Log in with the password, or run \
            'signet unlock'
            """
        }
    }

    /// Which readers there are.
    package static func reader(name: Bytes, readerID: Bytes) -> Text { "\(name) (\(readerID))" }
    /// There is no reader.
    package static let noReader: Text =
        "none found. Is one plugged in, and supported by libfprint?"
    /// No PAM service names the module.
    package static let unused: Text =
        "no service in /etc/pam.d uses pam_signet, so none asks for a touch"
    /// A service's stack names the module, but libpam does not find it.
    package static func moduleMissing(_ services: Bytes, path: Bytes) -> Text {
        "\(services): no touch is accepted, because the module \(path) does not exist"
    }
    /// The next command to run.
    package static func next(_ step: LoginStep, for account: AccountName?) -> Text? {
        guard let command = step.command(for: account) else { return nil }
        return step.isForRoot ? "next, run as root: \(command)" : "next, run: \(command)"
    }
    /// A server must approve logins, and the account is not registered there.
    package static func notRegistered(_ services: Bytes, url: ServerURL, account: AccountName)
        -> Text
    {
        """
        \(services): no touch is accepted, because \(url) must approve it, and \(account) is not \
        registered there. Run 'signet enable --server \(url)' with an activation code
        """
    }
    /// A server must approve logins, and the key for it no longer exists.
    package static func registrationEnded(
        _ services: Bytes, url: ServerURL, account: AccountName
    ) -> Text {
        """
        \(services): no touch is accepted, because \(url) must approve it, and the fingers have \
        changed since \(account) was registered there. Run 'signet enable --server \(url)' with a \
        new activation code
        """
    }
    /// A server must approve logins, but the file that names it cannot be used.
    package static func serverFile(_ services: Bytes, place: Bytes) -> Text {
        """
        \(services): no touch is accepted, because a server must approve it, and the file that \
        names the server has a mistake or is missing: \(place). Run 'signet doctor'
        """
    }
    /// The program that answers.
    // Untranslated: the program's name.
    package static func service(_ version: Bytes) -> Text { "signetd \(version)" }
    /// A configuration was refused.
    package static func refused(_ fault: Bytes) -> Text {
        "refused; the defaults are in force: \(fault)"
    }
    /// After a refused configuration.
    package static let checkHint: Text = "run 'signet config --check' after fixing it"
    /// The last line: whether fingerprint login works.
    package static func verdict(works: Bool, account: AccountName) -> Text {
        works
            ? "fingerprint login works for \(account)"
            : "fingerprint login does not work for \(account) now. The password works"
    }
}
