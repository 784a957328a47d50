// SPDX-License-Identifier: Apache-2.0
import Posix

/// Writes one line for the administrator to standard error, which the journal stores.
///
/// The line must not contain a secret, or untrusted text with line ends.
func report(_ line: String) {
    complain(ServerLog.line(line))
}
