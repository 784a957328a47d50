// SPDX-License-Identifier: Apache-2.0
import Posix

/// Says something to who runs the server: one line, on standard error, which the journal keeps.
/// Nothing that is secret, and no name that a stranger could have put line ends into.
func report(_ line: String) {
    complain(ServerLog.line(line))
}
