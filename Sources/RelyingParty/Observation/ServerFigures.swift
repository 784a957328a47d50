// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SQL
import Synchronization

/// Counters and histograms since the server's start, in the format that Prometheus reads.
///
/// They are grouped by method, route and outcome, so no label contains text from a request.
final class ServerFigures: Sendable {
    private struct Key: Hashable {
        let method: String
        let route: String
    }

    private struct CallFigures {
        var statuses: [Int: Int] = [:]
        let nanoseconds = Histogram(bounds: ServerFigures.bounds)
    }

    /// Upper bounds of the buckets in nanoseconds, from half a millisecond to ten seconds.
    private static let bounds: [Int64] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000,
    ]

    private let calls = Mutex<[Key: CallFigures]>([:])
    private let logins = Mutex<[String: Int]>([:])
    private let verifications = Mutex<[String: Int]>([:])

    /// Counts a request and its duration.
    ///
    /// The number of series is bounded by the table of routes.
    func note(_ served: AccessLogEntry) {
        let tally = calls.withLock { calls in
            var call =
                calls.removeValue(forKey: Key(method: served.method, route: served.route))
                ?? CallFigures()
            call.statuses[served.status, default: 0] += 1
            calls[Key(method: served.method, route: served.route)] = call
            return call.nanoseconds
        }
        tally.note(served.nanoseconds)
        switch served.route {
        case "/v1/login", "/v1/login/confirm":
            logins.withLock { $0[served.outcome, default: 0] += 1 }
        case "/v1/authentication/verify":
            verifications.withLock { $0[served.outcome, default: 0] += 1 }
        default: break
        }
    }

    /// All figures in the Prometheus text format, version 0.0.4.
    func text(
        connections: ConnectionFigures, unwritten: Int, database: DatabaseFigures
    ) -> String {
        var page = Page()
        let calls = calls.withLock { $0 }.sorted {
            ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method)
        }
        page.begin("signet_requests_total", kind: "counter", help: "requests answered")
        for (key, call) in calls {
            for (status, count) in call.statuses.sorted(by: { $0.key < $1.key }) {
                page.add(
                    "signet_requests_total",
                    labels: [
                        ("method", key.method), ("route", key.route), ("status", "\(status)"),
                    ],
                    "\(count)")
            }
        }
        page.begin(
            "signet_request_seconds", kind: "histogram",
            help: "time from the complete request to the answer")
        for (key, call) in calls {
            page.add(
                "signet_request_seconds", tally: call.nanoseconds, perUnit: 1_000_000_000,
                labels: [("method", key.method), ("route", key.route)])
        }
        page.count(
            "signet_logins_total", help: "logins by outcome", outcomes: logins.withLock { $0 }
        )
        page.count(
            "signet_verifications_total", help: "request codes verified for back ends, by outcome",
            outcomes: verifications.withLock { $0 })
        page.begin(
            "signet_refusals_unwritten_total", kind: "counter",
            help: "refused request codes not listed one by one in the audit trail")
        page.add("signet_refusals_unwritten_total", labels: [], "\(unwritten)")
        page.begin("signet_connections", kind: "gauge", help: "open connections")
        page.add("signet_connections", labels: [], "\(connections.open)")
        page.begin(
            "signet_connections_shed_total", kind: "counter",
            help: "connections closed to make room for new ones")
        page.add("signet_connections_shed_total", labels: [], "\(connections.shed)")
        page.begin(
            "signet_database_wait_seconds", kind: "histogram",
            help: "time that transactions waited for their turn")
        page.add(
            "signet_database_wait_seconds", tally: database.waits, perUnit: 1_000_000_000,
            labels: [])
        page.begin(
            "signet_database_batch", kind: "histogram", help: "writes per commit (SQLite)"
        )
        page.add("signet_database_batch", tally: database.batches, perUnit: 1, labels: [])
        page.begin(
            "signet_database_errors_total", kind: "counter", help: "transactions that failed")
        for (kind, count) in database.faultCounts {
            page.add(
                "signet_database_errors_total", labels: [("kind", kind.rawValue)], "\(count)")
        }
        return page.text
    }
}

/// Builds a page in the Prometheus text format.
struct Page {
    private(set) var text = ""

    mutating func begin(_ name: String, kind: String, help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// Adds a sample; names and values are constants of the program, so nothing needs escaping.
    mutating func add(_ name: String, labels: [(String, String)], _ value: String) {
        let inner = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += inner.isEmpty ? "\(name) \(value)\n" : "\(name){\(inner)} \(value)\n"
    }

    /// Adds a counter with one series for each outcome.
    mutating func count(_ name: String, help: String, outcomes: [String: Int]) {
        begin(name, kind: "counter", help: help)
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) {
            add(name, labels: [("outcome", outcome)], "\(count)")
        }
    }

    /// Adds a histogram, with its bounds divided by `unit` and its buckets cumulative.
    mutating func add(
        _ name: String, tally: Histogram, perUnit unit: Double, labels: [(String, String)]
    ) {
        let (counts, sum) = tally.snapshot
        var below = 0
        for (bound, count) in zip(tally.bounds.map { "\(Double($0) / unit)" } + ["+Inf"], counts) {
            below += count
            add("\(name)_bucket", labels: labels + [("le", bound)], "\(below)")
        }
        add("\(name)_sum", labels: labels, "\(Double(sum) / unit)")
        add("\(name)_count", labels: labels, "\(below)")
    }
}
