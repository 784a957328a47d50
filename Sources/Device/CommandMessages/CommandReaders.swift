// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Messages of `signet readers --watch`.
package enum CommandReaders {
    /// At the start.
    package static func watching(_ name: Bytes, id: Bytes) -> Text {
        """
        watching \(name) (\(id)). Try your fingers on it: they are compared with no fingerprint, \
        and nothing is stored. Press Ctrl-C to stop
        """
    }
    /// One event, and the time since the start.
    package static func event(_ event: Text, seconds: Bytes) -> Text {
        "\(seconds) s: \(event)"
    }
    /// The reader can scan.
    package static let ready: Text = "the reader is waiting for a finger"
    /// The reader detected a finger.
    package static let finger: Text = "a finger is on the reader"
    /// A scan was good enough to be compared.
    package static let scanned: Text = "the scan is good"
}
