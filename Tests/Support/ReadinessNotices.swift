// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// Hears from a daemon, as systemd does, when it is ready: its NOTIFY_SOCKET; sd_notify(3).
package final class ReadinessNotices: Sendable {
    private let notices: Collector

    /// Listens at a path, in place of the previous listener.
    package init(at path: String) throws(TestFault) {
        _ = unsafe unlink(path)
        notices = try Collector(
            from: try Descriptor(unsafe path.withCString { unsafe bind_datagram($0) }, "bind", path)
        )
    }

    /// Waits until the daemon says that it is ready; false if it does not in time.
    package func hearReady(within limit: Duration) -> Bool {
        let isReady = notices.first(within: limit) { chunks, _ in
            String(decoding: chunks.flatMap(\.bytes), as: UTF8.self).contains("READY=1")
                ? true : nil
        }
        return isReady == true
    }
}
