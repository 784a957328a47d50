// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

// How an operation is shown. Its text comes from an application and is escaped, so that it can
// neither end a line nor imitate the command's own output. It is cut in lists only, never before a
// decision.
extension OperationAnswer {
    /// The complete id in hexadecimal.
    var id: Bytes { content.operation.hexadecimal }
    /// The first digits of the id, enough to distinguish operations in a list.
    var shortID: Bytes { Bytes(id.prefix(8)) }

    /// The row in a list. The text is truncated here, and shown completely before it can be signed.
    ///
    /// - Parameter columns: the width for the text; 0 for no text.
    /// - Parameter isNarrow: whether to show only the remaining time, without the moment of expiry.
    func row(_ now: UInt64, isNarrow: Bool, columns: Int) -> [Text] {
        let isShort = isNarrow && content.expires > now
        return [
            "\(shortID)", "\(server)", "\(content.template)",
            isShort
                ? OperationMessages.left(content.expires - now) : moment(content.expires, now: now),
            columns > 0 ? "\(beginning(columns))" : "",
        ]
    }

    /// The complete description.
    func lines(_ now: UInt64, columns: Int?) -> [Text] {
        let values: [Text] = [
            "\(id)", "\(server)", "\(application)", "\(account)", "\(content.template)",
            moment(content.created, now: now), moment(content.expires, now: now),
            OperationMessages.state(state),
        ]
        var rows = zip(OperationMessages.labels, values).map { [$0, $1] }
        if let failures, failures.count > 0, let label = OperationMessages.labels.last {
            rows.append([label, OperationMessages.failures(failures)])
        }
        if let factors, factors != .fingerprint {
            rows.append(
                [OperationMessages.factorsLabel, OperationMessages.factors(factors, missing)])
        }
        return Table.lines(rows) + [OperationMessages.text] + signedText(columns)
    }

    /// The text that is signed, with a bar before each line of the terminal, so that no part of it
    /// can look like this program's own output.
    private func signedText(_ columns: Int?) -> [Text] {
        var lines: [Text] = []
        for line in content.data.parts(between: 10) {
            var rest = Text(escaping: line).bytes[...]
            repeat {
                let part =
                    columns.map { Columns.prefix(of: Bytes(rest), columns: max(8, $0 - 5)) }
                    ?? Bytes(rest)
                lines.append("  | \(part)")
                rest = rest.dropFirst(max(1, part.count))
            } while !rest.isEmpty
        }
        return lines
    }

    /// The beginning of the text, in one line.
    private func beginning(_ columns: Int) -> Bytes {
        let first = content.data.prefix { $0 != 10 }
        let whole = Text(escaping: Bytes(first)).bytes
        guard first.count < content.data.count || Columns.count(of: whole) > columns else {
            return whole
        }
        return Columns.prefix(of: whole, columns: columns - 1) + Bytes("…".utf8)
    }

    private func moment(_ seconds: UInt64, now: UInt64) -> Text {
        guard seconds > now else { return "\(Instant(seconds: seconds).text)" }
        return
            "\(Instant(seconds: seconds).text) (\(OperationMessages.left(seconds - now)))"
    }

    /// The operation in JSON.
    var document: JSON {
        .object([
            ("operation", .bytes(id)), ("server", .bytes(server.bytes)),
            ("application", .bytes(application.bytes)), ("name", .bytes(account.bytes)),
            ("template", .bytes(content.template)), ("data", .bytes(content.data)),
            ("state", .string(state.word)), ("created", JSON.instant(content.created)),
            ("expires", JSON.instant(content.expires)),
            ("failures", .optional(failures) { .number(UInt64($0.count)) }),
            ("maximumFailures", .optional(failures) { .number(UInt64($0.most)) }),
            ("factors", .optional(factors) { .string($0.word) }),
            ("missing", .optional(missing) { .string($0.word) }),
        ])
    }
}

extension ServerTroubleAnswer {
    /// The trouble as a denial.
    var denial: Denial { Denial(reason, subject: subject) }

    /// The line for the user.
    func line(_ account: AccountName) -> Text {
        OperationMessages.trouble(server, why: denial.text(account: account))
    }

    /// The trouble in JSON.
    func document(_ account: AccountName) -> JSON {
        .object([
            ("server", .bytes(server.bytes)), ("reason", .string(reason.word)),
            ("text", .bytes(denial.text(account: account).bytes)),
        ])
    }
}

/// The words with which an operation is shown.
enum OperationMessages {
    /// Why one of the servers did not answer.
    static func trouble(_ server: ServerURL, why: Text) -> Text {
        "\(server): \(why)"
    }

    /// The first column of an operation: who asks.
    static let labels: [Text] = [
        "id", "server", "application", "account", "template", "created", "expires", "state",
        "wrong signatures",
    ]
    /// The heading above the text.
    static let text: Text = "this is the text that is signed:"
    /// The remaining time, after a time of day; rounded down, in a unit that makes it at least two.
    static func left(_ seconds: UInt64) -> Text {
        switch seconds {
        case ..<120: "in \(number: seconds) s"
        case ..<7_200: "in \(number: seconds / 60) min"
        case ..<172_800: "in \(number: seconds / 3_600) h"
        default: "in \(number: seconds / 86_400) days"
        }
    }

    /// A number out of a total.
    static func failures(_ failures: OperationFailures) -> Text {
        "\(number: failures.count) of \(number: failures.most)"
    }

    /// The state of an operation.
    static func state(_ state: OperationState) -> Text {
        switch state {
        case .pending: "pending"
        case .approved: "approved"
        case .rejected: "rejected"
        case .canceled: "withdrawn"
        case .expired: "expired"
        case .failed: "failed: too many wrong signatures"
        }
    }

    /// The label of the factors.
    static let factorsLabel: Text = "approved by"

    /// The factors that approve an operation, and the one that is still missing of two.
    static func factors(_ factors: OperationFactors, _ missing: ConfirmingFactor?) -> Text {
        switch (factors, missing) {
        case (.both, .finger?): "a touch and the password; the touch is missing"
        case (.both, .password?): "a touch and the password; the password is missing"
        case (.fingerprint, _): "a touch"
        case (.password, _): "the password"
        case (.either, _): "a touch or the password"
        case (.both, nil): "a touch and the password"
        }
    }
}
