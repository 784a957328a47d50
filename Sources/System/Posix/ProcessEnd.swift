// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Exits immediately, without regard to other threads and without exit handlers; _exit(2).
package func endProcess(_ status: Int32) -> Never { _exit(status) }

/// Ignores SIGPIPE, so that writing to a closed connection fails instead of ending the process.
///
/// Libraries write to their own sockets without MSG_NOSIGNAL; signal(7).
package func outliveClosedPipes() { _ = signal(SIGPIPE, SIG_IGN) }
