// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// The exit status of the command `signet`; the raw value is what the shell sees.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    case denied = 1
    case usage = 2
    case noService = 3
    case fault = 4
    case wrongPassword = 5
    case faultFound = 6
    case dangerFound = 7
    case interrupted = 130

    /// The heading above all of them in the help.
    package static let heading: Text = "exit codes:"

    /// What it means, for `signet help`.
    package var text: Text {
        switch self {
        case .done: "done; for status: fingerprint login works; for doctor: nothing to fix"
        case .denied:
            """
            refused, and the message says why; for status: fingerprint login does not work; for \
            doctor: warnings
            """
        case .usage: "the command was not understood"
        case .noService: "the fingerprint service is not running, or is not accepting requests"
        case .fault: "an unexpected failure"
        case .wrongPassword: "the password was wrong, or could not be asked for"
        case .faultFound: "doctor found something that does not work"
        case .dangerFound:
            """
            doctor found that the wrong person may get in, or a user may be locked out
            """
        case .interrupted:
            "interrupted: nothing was changed, unless the message says that a server was asked"
        }
    }
}
