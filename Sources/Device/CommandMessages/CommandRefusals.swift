// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The lines of `signet log` about refused attempts.
package enum CommandRefusals {
    /// Identical refused attempts.
    package static func line(_ refusal: Refusal, of account: AccountName) -> Text {
        let terminal = CommandLog.short(refusal.terminal)
        let what = what(refusal)
        let words: Text = what.isEmpty ? aLogin : "\(what)"
        let at: Text = terminal.isEmpty ? "" : " \(terminal)"
        let isOwn = refusal.requester == account
        let asker: Text = isOwn ? "" : ", asked by \(refusal.requester)"
        let often: Text = refusal.count > 1 ? ", \(times(refusal))" : ""
        return """
            - \(CommandLog.time(refusal.until)) \(words)\(at) refused: \
            \(reason(refusal.reason, account: account))\(asker)\(often)
            """
    }

    /// The service that asked, or the command; empty if neither is known.
    package static func what(_ refusal: Refusal) -> Bytes {
        guard refusal.service.isEmpty else { return refusal.service.bytes }
        let command = Request.type(kind: refusal.verb.rawValue)?.loggedCommand ?? ""
        return Bytes(command.utf8)
    }

    /// In place of an unknown service.
    private static let aLogin: Text = "login"

    /// How often, and since when.
    private static func times(_ refusal: Refusal) -> Text {
        "\(number: refusal.count) times since \(CommandLog.time(refusal.since))"
    }

    private static func reason(_ reason: DenialReason, account: AccountName) -> Text {
        switch reason {
        case .lockedForNow, .lockedUntilPassword:
            "too many failed scans"
        case .remoteSession: "the session was remote"
        case .notPermitted, .otherRequester: "only \(account) may ask for this"
        case .inBackground: "the request came from the background"
        case .notAtMachine: "nothing showed that the user was at this machine"
        case .answerTooLate: "the touch was not confirmed in time"
        case .changedMeanwhile: "the fingers, the key or the session changed after the touch"
        case .lidClosed: "the lid was closed"
        case .otherSeat: "the reader was at another seat"
        default: Denial(reason).text(account: account)
        }
    }
}
