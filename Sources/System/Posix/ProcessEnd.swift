// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Exits immediately, whatever other threads are doing; no exit handler runs. _exit(2)
package func endProcess(_ status: Int32) -> Never { _exit(status) }

/// Ignores SIGPIPE, so that writing to a closed connection fails instead of ending the process;
/// libraries write to sockets of their own. signal(7)
package func outliveClosedPipes() { _ = signal(SIGPIPE, SIG_IGN) }
