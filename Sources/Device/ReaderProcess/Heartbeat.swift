// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol

/// Sends `alive` to signetd every second while a request is served.
///
/// It is sent from the readers' thread, so it shows that no driver blocks that thread. signetd
/// kills a process that goes silent in the middle of a scan.
@ReaderActor
final class Heartbeat {
    private static let interval = Duration.seconds(1)

    private let line: ReplyStream
    private var timer: Timer?

    /// Starts the heartbeat, which continues until `end()`.
    init(_ line: ReplyStream) {
        self.line = line
        wait()
    }

    func end() {
        timer?.cancel()
        timer = nil
    }

    private func wait() {
        timer = Timer(onReaderAfter: Self.interval) { [weak self] in self?.beat() }
    }

    private func beat() {
        line.send(.alive)
        wait()
    }
}
