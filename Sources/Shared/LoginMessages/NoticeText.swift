// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

// What the user is told while a request waits. A notice changes nothing and decides nothing; what
// another program contributed to it (`subject`) is escaped.
extension Notice {
    /// What to tell the user while the request is in progress; nil if it is not worth a line.
    package var text: Text? {
        switch kind {
        case .touch: touchText
        case .waiting: "waiting: \(subject ?? []) is using the reader"
        case .retry: retryText
        case .noMatch: noMatchText
        case .stage: "stage \(number: done ?? 0) of \(number: total ?? 0)"
        case .fingerPresent, .fingerGone: nil
        case .passwordStale: "the login password has changed: run 'signet enable --keyring'"
        case .askingServer: askingText
        case .preparing: "preparing the fingerprint reader"
        case .tpm: "waiting for the TPM"
        case .printLost:
            "the reader has lost a fingerprint (\(subject ?? [])): enrol it again with 'signet enroll'"
        case .offer: "no finger is enrolled: run 'signet enroll' to log in with a finger"
        case .contended: "another request has arrived: \(subject ?? [])"
        }
    }

    /// Not used by the PAM module, which is never told this.
    private var askingText: Text? {
        return "asking \(subject ?? [])"
    }

    private var touchText: Text {
        switch scan {
        case .swipe: "swipe your finger across the reader"
        case .press, nil: "touch the reader"
        }
    }

    private var retryText: Text {
        switch retry {
        case .tooShort where scan == .press: "the finger was lifted too soon: try again"
        case .tooShort: "the swipe was too short: try again"
        case .offCentre: "the finger was off centre: try again"
        case .removeFinger where scan == .swipe:
            "lift the finger and swipe it across the reader again"
        case .removeFinger: "lift the finger and touch the reader again"
        case .restarted: "the reader had to be restarted: try again"
        case .unplugged: "the reader was unplugged: plug it in again"
        case .tooFast: "the finger moved too fast: try again"
        case .unclear, nil: "the scan was not clear: try again"
        }
    }

    private var noMatchText: Text {
        switch triesLeft {
        case 0, nil: "the finger did not match"
        case 1: "the finger did not match: one try left"
        case let left?: "the finger did not match: \(number: left) tries left"
        }
    }
}

/// The messages of the PAM module about a touch.
package enum Prompt {
    /// What to do at the reader, depending on the reader.
    package static func action(_ notice: Notice) -> Text { notice.text ?? "touch the reader" }

    /// The reader waits; `purpose` is what is confirmed, empty if only `service` is known of it, and
    /// `warning` is where the request comes from, nil if there is nothing to warn of.
    package static func touch(
        _ notice: Notice, purpose: Bytes, service: ServiceName, who: Text,
        warning: TerminalPosition? = nil
    ) -> Text {
        let action = action(notice)
        let touch: Text =
            purpose.isEmpty
            ? "\(action) for \(service) (\(who))" : "\(action) to confirm: \(purpose) (\(who))"
        switch warning {
        case .foreground, nil: return touch
        case .background: return "a request from the background: \(touch)"
        case .noTerminal: return "a request without a terminal: \(touch)"
        }
    }

    /// The requester: account and terminal, without `/dev/`.
    package static func who(account: AccountName, terminal: Bytes) -> Text {
        let device = StaticString("/dev/").bytes
        let short = terminal.starts(with: device) ? Bytes(terminal.dropFirst(5)) : terminal
        return short.isEmpty ? "\(account)" : "\(account), \(short)"
    }

    /// The requester, if it is not the account itself: `alice, asked by bob, pts/1`.
    package static func who(account: AccountName, terminal: Bytes, requester: AccountName?) -> Text
    {
        guard let requester else { return who(account: account, terminal: terminal) }
        return "\(account), asked by \(who(account: requester, terminal: terminal))"
    }

    /// What would be confirmed is too long to be read at the prompt.
    package static var tooLong: Text {
        "this request is too long to be shown whole: use the password"
    }

    /// The command line does not show clearly what would be confirmed.
    package static var unclear: Text {
        "it is unclear what a fingerprint would confirm here: use the password"
    }

    /// There is no terminal to show the request on.
    package static var unseen: Text {
        "a fingerprint cannot be asked for here, because the request cannot be shown: use the password"
    }

    /// The prompt at which a password may be typed instead of a touch.
    package static var orPassword: Text { "or type the password: " }

    /// The daemon did not answer in time.
    package static var silent: Text {
        "the fingerprint service does not answer: use the password"
    }

    /// The proof is invalid.
    package static var refused: Text {
        "the fingerprint service's answer was rejected as invalid: use the password"
    }
}
