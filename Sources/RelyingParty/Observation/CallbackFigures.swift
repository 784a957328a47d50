// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts of callbacks since the server's start.
final class CallbackFigures: Sendable {
    private let attempts = Mutex<[String: Int]>([:])
    private let dropped = Atomic(0)

    /// Counts an attempt; `outcome` is `ok` or the kind of a failure.
    func note(_ outcome: String) { attempts.withLock { $0[outcome, default: 0] += 1 } }

    /// Counts events that were dropped, because they were too old.
    func noteDropped(_ count: Int) { dropped.add(count, ordering: .relaxed) }

    /// The figures in the Prometheus text format; without those of the queue if they are not known.
    ///
    /// `backlog` is how many events wait, and for how many seconds the oldest has.
    func text(backlog: (count: Int64, age: Int64)?) -> String {
        var page = Page()
        page.count(
            "signet_callbacks_total", help: "attempts to deliver a callback, by outcome",
            outcomes: attempts.withLock { $0 })
        page.begin(
            "signet_callbacks_dropped_total", kind: "counter",
            help: "events that were not delivered in time")
        page.add(
            "signet_callbacks_dropped_total", labels: [], "\(dropped.load(ordering: .relaxed))")
        guard let backlog else { return page.text }
        page.begin("signet_callback_queue", kind: "gauge", help: "events that wait to be delivered")
        page.add("signet_callback_queue", labels: [], "\(backlog.count)")
        page.begin(
            "signet_callback_oldest_seconds", kind: "gauge",
            help: "for how long the oldest of these events has waited")
        page.add("signet_callback_oldest_seconds", labels: [], "\(backlog.age)")
        return page.text
    }
}
