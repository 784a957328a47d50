// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The lines of `signet status`.
package enum CommandStatus {
    /// In front of the line: whose status it is.
    package static let account: Text = "account"
    /// In front of the line: whether login is on.
    package static let login: Text = "login"
    /// In front of the line: how many fingers.
    package static let fingers: Text = "fingers"
    /// In front of the line: whether a touch opens the keyring.
    package static let keyring: Text = "keyring"
    /// In front of the line: how many secrets the fingers open.
    package static let secrets: Text = "secrets"
    /// In front of the lines: the servers that the account is registered at.
    package static let servers: Text = "servers"
    /// In front of the line: the key that signs files and challenges.
    package static let signing: Text = "signing"
    /// In front of the line: which readers.
    package static let readers: Text = "readers"
    /// In front of the line: whether the finger is kept out.
    package static let lock: Text = "lockout"
    /// In front of the line: which PAM services use the module.
    package static let usedBy: Text = "used by"
    /// In front of the line: the daemon.
    package static let service: Text = "service"
    /// In front of the line: what keeps the key.
    package static let vault: Text = "vault"
    /// In front of the line: this machine's id.
    package static let device: Text = "device"
    /// In front of the line: what was wrong with the configuration.
    package static let configuration: Text = "settings"

    /// Whether login is on, and why not.
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

    /// The administrator's lists keep the account out.
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

    /// A print that is damaged, and what to do.
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

    /// Whether failed matches keep the finger out.
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
    /// There is none.
    package static let noReader: Text =
        "none found. Is one plugged in, and supported by libfprint?"
    /// No PAM service names the module.
    package static let unused: Text =
        "no service in /etc/pam.d uses pam_signet, so none asks for a touch"
    /// A service's stack names the module, and libpam does not find it.
    package static func moduleMissing(_ services: Bytes, path: Bytes) -> Text {
        "\(services): no touch is accepted, because the module \(path) does not exist"
    }
    /// The one command that is left to run.
    package static func next(_ step: LoginStep, for account: AccountName?) -> Text? {
        guard let command = step.command(for: account) else { return nil }
        return step.isForRoot ? "next, run as root: \(command)" : "next, run: \(command)"
    }
    /// A server has to say yes to logins, and does not know the account.
    package static func notRegistered(_ services: Bytes, url: ServerURL, account: AccountName)
        -> Text
    {
        """
        \(services): no touch is accepted, because \(url) must approve it, and \(account) is not \
        registered there. Run 'signet enable --server \(url)' with an activation code
        """
    }
    /// The same where the key for it is gone.
    package static func registrationEnded(
        _ services: Bytes, url: ServerURL, account: AccountName
    ) -> Text {
        """
        \(services): no touch is accepted, because \(url) must approve it, and the fingers have \
        changed since \(account) was registered there. Run 'signet enable --server \(url)' with a \
        new activation code
        """
    }
    /// A server has to say yes to logins, and nobody knows which.
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
    /// The last line.
    package static func verdict(works: Bool, account: AccountName) -> Text {
        works
            ? "fingerprint login works for \(account)"
            : "fingerprint login does not work for \(account) now. The password works"
    }
}
