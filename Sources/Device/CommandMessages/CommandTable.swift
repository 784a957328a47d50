// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// The words of the tables that `signet` shows.
package enum CommandTable {
    /// Over the lines of PAM stacks that call the module.
    package static let modules: [Text] = ["services", "stack", "options", "line"]
    /// Above the fingers.
    package static let fingers: [Text] = ["finger", "enrolled", "reader", "state"]
    /// Above the readers.
    package static let readers: [Text] = ["id", "name", "driver", "scan", "stages", "features"]
    /// Above what readers store.
    package static let storedPrints: [Text] = ["reader", "account", "finger"]
    /// In place of an account: none here has the print.
    package static let foreign: Text = "none (another system's)"
    /// A print that is as it was stored.
    package static let intact: Text = "good"
    /// A print that is not.
    package static let damaged: Text = "damaged"
    /// What is not known.
    package static let unknown: Text = "unknown"
    /// Nothing.
    package static let none: Text = "-"
}
