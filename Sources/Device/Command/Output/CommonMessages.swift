// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// Messages of several commands.
enum CommonMessages {
    /// The answer cannot be read.
    static let malformed: Text =
        """
        the fingerprint service's answer was not understood: are 'signet' and the service the same \
        version? See 'signet --version' and 'systemctl try-restart signetd'
        """

    /// The answer does not belong to the request.
    static let unexpected: Text =
        "the fingerprint service's answer does not match the request. Try again"

    /// A system call failed.
    static func failed(_ reason: Bytes) -> Text { "\(reason)" }
    /// The user pressed ^C.
    static let interrupted: Text = "cancelled: nothing was changed"
    /// Standard output cannot be written.
    static let unwritten: Text =
        "the output could not be written completely to standard output"
}
