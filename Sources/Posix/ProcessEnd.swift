// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Ends the process at once, whatever its threads do: no handler runs. _exit(2)
package func endProcess(_ status: Int32) -> Never { _exit(status) }

/// Lets writing to somebody who is gone fail, and not end the process: libraries write to sockets of
/// their own. SIGPIPE, signal(7)
package func outliveClosedPipes() { _ = signal(SIGPIPE, SIG_IGN) }
