// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// The texts of a desktop notice: that a touch is requested, and for what.
package enum NotificationText {
    /// The name of the program that shows it.
    package static let program: Text = "Signet"
    /// The heading of the notice.
    package static let heading: Text = "Use the fingerprint reader to confirm"

    /// Who asks, and for what.
    package static func body(_ event: EventAnswer) -> Text {
        let isForOther = !event.requester.isEmpty && event.requester != event.account
        switch (event.purpose.isEmpty, isForOther) {
        case (true, false):
            return "\(event.service) asks for a fingerprint of \(event.account)"
        case (true, true):
            return """
                \(event.service) asks for a fingerprint of \(event.account), on behalf of \
                \(event.requester)
                """
        case (false, false):
            return "\(event.service) asks for a fingerprint of \(event.account): \(event.purpose)"
        case (false, true):
            return """
                \(event.service) asks for a fingerprint of \(event.account), on behalf of \
                \(event.requester): \(event.purpose)
                """
        }
    }

    /// The session has no bus, or it has ended.
    package static func noBus(_ why: Bytes) -> Text {
        "the session bus cannot be used: \(why)"
    }
    /// The session's bus has ended.
    package static let busEnded: Text = "the session bus was closed"
    /// No program on the bus showed the notice.
    package static func unshown(_ why: Bytes) -> Text {
        "the desktop did not show a notice: \(why)"
    }
    /// The daemon cannot be reached.
    package static func absent(_ why: Bytes) -> Text {
        "the fingerprint service cannot be watched: \(why)"
    }
    /// The program at the daemon's socket does not run as root.
    package static let foreign: Text =
        "the program at the fingerprint service's socket does not run as root"
    /// There is no account to watch for.
    package static let noAccount: Text = "there is no account with this uid"
    /// The program cannot be started.
    package static func notInstalled(_ path: Bytes) -> Text {
        "the program \(path) cannot be started: is Signet completely installed?"
    }
}
