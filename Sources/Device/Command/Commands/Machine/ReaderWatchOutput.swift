// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet readers --watch`: shows what a reader reports, each event on a line with the time since
/// the start, until a signal arrives.
struct ReaderWatchOutput {
    let run: Invocation
    private let start = ContinuousClock.now
    private var last: NoticeKind?

    init(run: Invocation) { self.run = run }

    /// Watches the reader with this id, or the first one.
    mutating func follow(_ reader: Bytes?) throws(CommandFault) {
        do throws(CommandFault) {
            let exchange = run.exchange(.watchReader(reader), awaitsTouch: true)
            try exchange.run { (answer) throws(CommandFault) in
                switch answer {
                case .reader(let reader): announce(reader)
                case .notice(let notice): show(notice)
                default: throw .fault(CommonMessages.unexpected)
                }
                if run.environment.hasLostOutput { throw .fault(CommonMessages.unwritten) }
                return .goOn
            }
        } catch .interrupted { throw .said(.interrupted) }
    }

    private func announce(_ reader: ReaderAnswer) {
        if run.isJSON {
            run.environment.say(
                .document("watched-reader", members: [("reader", reader.document)]))
        } else {
            run.environment.complain(
                ReaderWatchResultMessages.watching(reader.name, id: reader.readerID))
        }
    }

    private mutating func show(_ notice: Notice) {
        // A reader that waits for long says so again.
        defer { last = notice.kind }
        guard notice.kind != .touch || last != .touch, let event = notice.event else { return }
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        guard run.isJSON else {
            let tenths = Int(milliseconds / 100)
            let time = "\(tenths / 10).\(tenths % 10)".bytes
            return run.environment.say(ReaderWatchResultMessages.event(event.text, seconds: time))
        }
        var members: [(name: String, value: JSON)] = [
            ("event", .string(event.word)), ("milliseconds", .number(UInt64(milliseconds))),
        ]
        if let retry = notice.retry { members.append(("retry", .string(retry.word))) }
        members.append(("text", .bytes(event.text.bytes)))
        run.environment.say(.document("reader-event", members: members))
    }
}

extension Notice {
    /// The event on a watched reader: its word in JSON, and a text; nil if there is none.
    fileprivate var event: (word: String, text: Text)? {
        switch kind {
        case .touch: ("ready", ReaderWatchResultMessages.ready)
        case .fingerPresent: ("finger", ReaderWatchResultMessages.finger)
        case .noMatch: ("scanned", ReaderWatchResultMessages.scanned)
        case .retry:
            switch retry {
            case .unplugged: text.map { ("unplugged", $0) }
            case .restarted: text.map { ("restarted", $0) }
            case .unclear, .tooShort, .offCentre, .removeFinger, .tooFast, nil:
                text.map { ("rejected", $0) }
            }
        case .waiting: text.map { ("waiting", $0) }
        case .preparing: text.map { ("preparing", $0) }
        case .stage, .fingerGone, .passwordStale, .askingServer, .contended, .printLost, .offer,
            .tpm:
            nil
        }
    }
}

/// What `signet readers --watch` shows.
enum ReaderWatchResultMessages {
    /// At the start.
    static func watching(_ name: Bytes, id: Bytes) -> Text {
        """
        watching \(name) (\(id)). Try your fingers on it: they are not compared with any \
        fingerprint, and nothing is stored. Press Ctrl-C to stop
        """
    }

    /// One event, and the time since the start.
    static func event(_ event: Text, seconds: Bytes) -> Text {
        "\(seconds) s: \(event)"
    }

    /// The reader can scan.
    static let ready: Text = "the reader is waiting for a finger"
    /// The reader detected a finger.
    static let finger: Text = "a finger is on the reader"
    /// A scan was good enough to be compared.
    static let scanned: Text = "the scan is good"
}
