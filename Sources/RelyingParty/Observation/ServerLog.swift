// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import Posix
import SignedFormats
import Synchronization

/// Formats the lines for standard error, which the journal stores.
///
/// A line is plain text or JSON, as `log.format` says. A request's line contains no secret.
enum ServerLog {
    /// Which requests are logged (`log.requests`).
    enum LoggedRequests: String {
        case all = "all"
        case problems = "problems"
        case none = "none"
    }

    /// Set once, after the configuration has been read.
    private static let isJSON = Atomic(false)

    /// Selects JSON or plain text for all later lines.
    static func use(json: Bool) { isJSON.store(json, ordering: .relaxed) }

    /// A line with a message.
    static func line(_ text: String) -> String {
        guard isJSON.load(ordering: .relaxed) else { return "signet-server: \(text)" }
        return json(ReportLine(time: now, text: text))
    }

    /// A line about a request.
    static func line(_ served: AccessLogEntry) -> String {
        let micros = served.nanoseconds / 1_000
        guard isJSON.load(ordering: .relaxed) else {
            return """
                request id=\(served.id) method=\(served.method) route=\(served.route) \
                status=\(served.status) outcome=\(served.outcome) us=\(micros) \
                peer=\(word(served.peer))
                """
        }
        return json(
            RequestLine(
                time: now, id: served.id, method: served.method, route: served.route,
                status: served.status, outcome: served.outcome, us: micros, peer: served.peer))
    }

    /// An observer that logs requests as the configuration says.
    static func observer(_ requests: LoggedRequests) -> Observer {
        switch requests {
        case .none: { _ in }
        case .problems: { if $0.status >= 400 { complain(line($0)) } }
        case .all: { complain(line($0)) }
        }
    }

    /// Replaces spaces, `=` and other special bytes, since a proxy can send any text as the
    /// address.
    private static func word(_ text: String) -> String {
        let bytes = text.utf8.map { (0x21...0x7e).contains($0) && $0 != 0x3d ? $0 : 0x5f }
        return bytes.isEmpty ? "-" : String(decoding: bytes, as: UTF8.self)
    }

    private static var now: String {
        String(decoding: Instant(clamping: Clock.system.wallSeconds()).text, as: UTF8.self)
    }

    private static func json(_ value: some Encodable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }

    private struct ReportLine: Encodable {
        let time: String
        let text: String
    }

    private struct RequestLine: Encodable {
        let time: String
        let id: String
        let method: String
        let route: String
        let status: Int
        let outcome: String
        let us: Int64
        let peer: String
    }
}
