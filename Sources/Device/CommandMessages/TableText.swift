// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// The words of the tables that `signet` shows.
package enum TableText {
    /// In place of an unknown value.
    package static let unknown: Text = "unknown"
    /// In place of an empty value.
    package static let none: Text = "-"
}
