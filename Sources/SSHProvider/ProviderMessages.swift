// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import Domain
import LoginMessages
import LoginProtocol
import SSHProtocol
import SignedFormats

extension ProviderFault {
    /// What happened, and what to do now, for the person who uses the key; in English, as ssh's own
    /// messages are.
    package func text(account: AccountName) -> Text {
        switch self {
        case .unsupported: "only keys of the type ecdsa-sk can be made, without options to require"
        case .badCall: "the call of the program that uses the key was not understood"
        case .away: "the fingerprint service is not running: see 'systemctl status signetd.socket'"
        case .silent: "the fingerprint service does not answer"
        case .untrusted: "the fingerprint service's answer was rejected as invalid"
        case .badName:
            """
            a key's name has letters and digits, and after the first also '.', '_', '-' and '@', 64 \
            in all
            """
        case .memory: "out of memory"
        case .noAccount: "your account was not found"
        case .denied(let denial): Self.text(denial, account: account)
        }
    }

    private static func text(_ denial: DenialOf<AnyReason>, account: AccountName) -> Text {
        if let reason = SSHDenialReason(rawValue: denial.reason.rawValue) {
            return reason.text(subject: denial.subject)
        }
        guard let reason = LoginDenialReason(rawValue: denial.reason.rawValue) else {
            return "the request is not possible now"
        }
        return LoginDenial(
            reason, cause: denial.cause, seconds: denial.seconds, since: denial.since,
            subject: denial.subject, finger: denial.finger, mismatches: denial.mismatches
        ).loginText(account: account)
    }
}

/// Writes lines to standard error, which OpenSSH's helper shares with the program that the user
/// runs.
enum StandardError {
    /// Writes `signet: ` and a text; nothing is done if that fails.
    static func show(_ text: Text) {
        let line = StaticString("signet: ").bytes + text.bytes + [UInt8(ascii: "\n")]
        _ = unsafe line.withUnsafeBytes { bytes in
            unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
