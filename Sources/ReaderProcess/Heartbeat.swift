// SPDX-License-Identifier: Apache-2.0
import Loop
import ReaderProtocol

/// Tells signetd every second that no driver holds up the thread of the readers: signetd kills a
/// process that is silent in the middle of a scan.
@ReaderActor
final class Heartbeat {
    private static let interval = Duration.seconds(1)

    private let line: ReplyStream
    private var timer: Timer?

    /// Beats until `end()`.
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
