// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// Shows the progress of a request: a line redrawn in place on a terminal, separate lines
/// elsewhere, or JSON.
struct Progress {
    private let environment: CommandEnvironment
    private let isJSON: Bool
    private let reason: Bytes?
    private let purpose: Bytes
    private let columns: Int?
    private var done: UInt8 = 0
    private var total: UInt8 = 0
    private var invitation: Text = ""
    private var lastInvitation: Text = ""
    private var message: Text = ""
    private var isDrawn = false

    /// Creates it; nothing is shown before the first notice.
    ///
    /// `purpose` is what a touch confirms, empty if the command line says it.
    init(
        _ environment: CommandEnvironment, isJSON: Bool, reason: Bytes? = nil, purpose: Bytes = []
    ) {
        self.purpose = purpose
        self.environment = environment
        self.isJSON = isJSON
        self.reason = reason
        columns = isJSON ? nil : environment.columns()
    }

    /// Shows a notice.
    mutating func show(_ notice: Notice) {
        if isJSON { return environment.say(document(notice)) }
        if let done = notice.done { self.done = done }
        if let total = notice.total { self.total = total }
        switch notice.kind {
        case .touch:
            invitation = text(notice) ?? ""
            if columns != nil, reason != nil || !purpose.isEmpty {
                // The line that is redrawn is cut to the window, and this must be seen whole.
                end()
                if invitation != lastInvitation { environment.say(invitation) }
                lastInvitation = invitation
                invitation = Prompt.action(notice)
            }
            message = invitation
        case .waiting, .retry, .noMatch, .passwordStale, .askingServer, .preparing, .offer,
            .tpm:
            message = notice.text ?? ""
        // These get their own line, which is not overwritten.
        case .contended, .printLost:
            end()
            if let text = notice.text { environment.say(text) }
            return
        case .stage, .fingerGone: message = invitation
        case .fingerPresent: break
        }
        if columns != nil { return draw() }
        if let text = text(notice) { environment.say(text) }
    }

    /// The text of a notice, with the requester if that is not the account itself.
    private func text(_ notice: Notice) -> Text? {
        guard var text = notice.text else { return nil }
        if notice.kind == .touch, !purpose.isEmpty {
            text = ProgressMessages.confirming(text, purpose)
        }
        if let requester = notice.requester { text = ProgressMessages.asked(text, by: requester) }
        guard notice.kind == .touch, let reason else { return text }
        return ProgressMessages.explained(text, by: reason)
    }

    /// Ends the redrawn line, so that further output starts on a new one.
    mutating func end() {
        if isDrawn { environment.put([10]) }
        isDrawn = false
    }

    private mutating func draw() {
        // The window's size may have changed.
        let columns = environment.columns() ?? columns ?? 80
        var line = environment.rendering(Progress.bar(done: done, total: total, columns: columns))
        if !line.isEmpty { line += "  ".utf8 }
        line += environment.rendering(message)
        // One column stays free for the cursor, so that the line does not wrap.
        let fitting = Columns.prefix(of: line, columns: max(1, columns - 1))
        environment.put([13] + fitting + Bytes("\u{1B}[K".utf8))
        isDrawn = true
    }

    /// Formats `[#####.....] 5 of 10`; empty if the number of stages is unknown.
    static func bar(done: UInt8, total: UInt8, columns: Int) -> Text {
        guard total > 0 else { return "" }
        let width = max(3, min(Int(total), 20, columns / 3))
        let filled = min(width, Int(done) * width / Int(total))
        let marks = String(repeating: "#", count: filled)
        let dots = String(repeating: ".", count: width - filled)
        return ProgressMessages.stages((marks + dots).bytes, done: done, total: total)
    }

    private func document(_ notice: Notice) -> JSON {
        var members: [(name: String, value: JSON)] = [("event", .string(notice.kind.word))]
        if let scan = notice.scan { members.append(("scan", .string(scan.word))) }
        if let retry = notice.retry { members.append(("retry", .string(retry.word))) }
        if let done = notice.done { members.append(("done", .number(UInt64(done)))) }
        if let total = notice.total { members.append(("total", .number(UInt64(total)))) }
        if let left = notice.triesLeft { members.append(("triesLeft", .number(UInt64(left)))) }
        if let subject = notice.subject { members.append(("subject", .bytes(subject))) }
        if let requester = notice.requester {
            members.append(("requester", .bytes(requester.bytes)))
        }
        if let text = text(notice) { members.append(("text", .bytes(text.bytes))) }
        return .document("progress", members: members)
    }
}

/// Messages while a touch or an enrolment is under way.
enum ProgressMessages {
    /// A touch that is requested by a user other than the account's own.
    static func asked(_ text: Text, by requester: AccountName) -> Text {
        "\(text) (asked by \(requester))"
    }

    /// A touch, and what it confirms.
    static func confirming(_ text: Text, _ purpose: Bytes) -> Text {
        "\(text) to confirm: \(purpose)"
    }

    /// A touch, and the purpose that the requesting program states: its own words come last.
    static func explained(_ text: Text, by reason: Bytes) -> Text {
        "\(text). The requesting program says: \(reason)"
    }

    /// How far an enrolment is: `[#####.....] 5 of 10`
    static func stages(_ bar: Bytes, done: UInt8, total: UInt8) -> Text {
        "[\(bar)] \(number: done) of \(number: total)"
    }
}
