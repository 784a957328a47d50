// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// The words of the tables that `signet` shows.
package enum CommandTable {
    /// The column headings for lines of PAM stacks that call the module.
    package static let modules: [Text] = ["services", "stack", "options", "line"]
    /// The column headings for fingers.
    package static let fingers: [Text] = ["finger", "enrolled", "reader", "state"]
    /// The column headings for readers.
    package static let readers: [Text] = ["id", "name", "driver", "scan", "stages", "features"]
    /// The column headings for prints stored on readers.
    package static let storedPrints: [Text] = ["reader", "account", "finger"]
    /// In place of an account: no account here has the print.
    package static let foreign: Text = "none (another system's)"
    /// An intact print.
    package static let intact: Text = "good"
    /// A damaged print.
    package static let damaged: Text = "damaged"
    /// In place of an unknown value.
    package static let unknown: Text = "unknown"
    /// In place of an empty value.
    package static let none: Text = "-"
}
