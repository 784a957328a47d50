// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What signetd asks the process of the readers for, one request on each connection.
///
/// Templates that belong to a request follow it (`ReaderQuestion.template`). The request ends with
/// `done` or a fault, or when signetd closes the connection: then it is cancelled.
package enum ReaderRequest: Equatable, Sendable {
    /// The readers there are; they are found anew before, if `lookAgain` and one may have come back.
    case readers(lookAgain: Bool)
    /// Waits for a finger; see `MatchRequest`.
    case match(MatchRequest)
    /// Enrols a finger; see `EnrolmentRequest`.
    case enroll(EnrolmentRequest)
    /// What a reader keeps itself.
    case contents(reader: String, limit: Duration)
    /// Deletes what `contents` showed, by its record.
    case deletePrint(record: [UInt8], reader: String)
    /// Deletes the print of the one template that follows.
    case deleteTemplate(reader: String)
    /// Deletes all that a reader keeps.
    case clear(reader: String)
    /// Whether the one template that follows can be used on a reader.
    case canUse(reader: String)
    /// Ends what runs, closes the readers, and lets nothing run until `resume`.
    case suspend
    /// Lets the readers be used again.
    case resume

    /// The frame's kind.
    enum Kind: UInt8, CaseIterable {
        case readers = 160
        case match = 161
        case enroll = 162
        case contents = 163
        case deletePrint = 164
        case deleteTemplate = 165
        case clear = 166
        case canUse = 167
        case suspend = 168
        case resume = 169
    }

    /// How many templates follow the request.
    package var templates: Int {
        switch self {
        case .match(let request): request.templates
        case .enroll(let request): request.replaces ? 1 : 0
        case .deleteTemplate, .canUse: 1
        case .readers, .contents, .deletePrint, .clear, .suspend, .resume: 0
        }
    }
}

/// Waiting for a finger that is one of some templates'.
package struct MatchRequest: Equatable, Sendable {
    /// The ids of the readers that may scan.
    package let readers: [String]
    /// What it may take at most.
    package let limit: Duration
    /// How many templates follow.
    package let templates: Int
    /// Whether what a reader keeps is shown, and judged, before it scans.
    package let isExamined: Bool

    /// All of it.
    package init(readers: [String], limit: Duration, templates: Int, isExamined: Bool) {
        self.readers = readers
        self.limit = limit
        self.templates = templates
        self.isExamined = isExamined
    }
}

/// Enrolling a finger on one reader; what that keeps is shown, and judged, before.
package struct EnrolmentRequest: Equatable, Sendable {
    /// The finger.
    package let finger: Finger
    /// The account's name.
    package let account: String
    /// The reader's id.
    package let reader: String
    /// What it may take at most.
    package let limit: Duration
    /// Whether a template follows, whose print is deleted first where the reader takes no finger twice.
    package let replaces: Bool

    /// All of it.
    package init(
        finger: Finger, account: String, reader: String, limit: Duration, replaces: Bool
    ) {
        self.finger = finger
        self.account = account
        self.reader = reader
        self.limit = limit
        self.replaces = replaces
    }
}

/// One frame of signetd's.
package enum ReaderQuestion: Equatable, Sendable {
    /// The first one of a connection.
    case request(ReaderRequest)
    /// A part of a template; parts in a row are one up to the last.
    case template(part: [UInt8], isLast: Bool)
    /// What was shown of a reader's storage may be used, or not: then the request is cancelled.
    case judged(isAccepted: Bool)

    private enum Kind: UInt8 {
        case template = 170
        case judged = 171
    }

    /// The frame.
    package func encoded() throws(WireFault) -> [UInt8] {
        switch self {
        case .request(let request): return try request.encoded()
        case .template(let part, let isLast):
            var frame = FrameWriter(kind: Kind.template.rawValue)
            try frame.put(.part, bytes: part)
            try frame.put(.isLast, isLast)
            return frame.bytes
        case .judged(let isAccepted):
            var frame = FrameWriter(kind: Kind.judged.rawValue)
            try frame.put(.flag, isAccepted)
            return frame.bytes
        }
    }

    /// Reads a frame; throws where it is none, or longer or shorter than one.
    package init(decoding packet: [UInt8]) throws(WireFault) {
        var frame = try FrameReader(packet)
        switch Kind(rawValue: frame.kind) {
        case .template:
            self = .template(
                part: try frame.bytes(of: .part), isLast: try frame.flag(of: .isLast))
        case .judged: self = .judged(isAccepted: try frame.flag(of: .flag))
        case nil: self = .request(try ReaderRequest(&frame))
        }
        try frame.end()
    }

    /// The frames in which a template goes.
    package static func frames(of template: Template) -> [ReaderQuestion] {
        parts(of: template.bytes).map { .template(part: $0.bytes, isLast: $0.isLast) }
    }
}

/// Bytes in parts that fit a frame.
func parts(of bytes: [UInt8]) -> [(bytes: [UInt8], isLast: Bool)] {
    stride(from: 0, to: max(1, bytes.count), by: ReaderField.partCap).map { start in
        let part = bytes.dropFirst(start).prefix(ReaderField.partCap)
        return (Array(part), start + part.count == bytes.count)
    }
}

extension ReaderRequest {
    fileprivate func encoded() throws(WireFault) -> [UInt8] {
        var frame = FrameWriter(kind: kind.rawValue)
        switch self {
        case .readers(let lookAgain): try frame.put(.flag, lookAgain)
        case .match(let request):
            try frame.put(.readers, list: request.readers.map { Array($0.utf8) })
            try frame.put(.limit, number: request.limit.wholeMilliseconds)
            try frame.put(.count, number: request.templates)
            try frame.put(.flag, request.isExamined)
        case .enroll(let request):
            try frame.put(.reader, text: request.reader)
            try frame.put(.limit, number: request.limit.wholeMilliseconds)
            try frame.put(.flag, request.replaces)
            try frame.put(.finger, byte: request.finger.rawValue)
            try frame.put(.account, text: request.account)
        case .contents(let reader, let limit):
            try frame.put(.reader, text: reader)
            try frame.put(.limit, number: limit.wholeMilliseconds)
        case .deletePrint(let record, let reader):
            try frame.put(.reader, text: reader)
            try frame.put(.record, bytes: record)
        case .deleteTemplate(let reader), .clear(let reader), .canUse(let reader):
            try frame.put(.reader, text: reader)
        case .suspend, .resume: break
        }
        return frame.bytes
    }

    private var kind: Kind {
        switch self {
        case .readers: .readers
        case .match: .match
        case .enroll: .enroll
        case .contents: .contents
        case .deletePrint: .deletePrint
        case .deleteTemplate: .deleteTemplate
        case .clear: .clear
        case .canUse: .canUse
        case .suspend: .suspend
        case .resume: .resume
        }
    }

    fileprivate init(_ frame: inout FrameReader) throws(WireFault) {
        guard let kind = Kind(rawValue: frame.kind) else { throw .unknownKind }
        switch kind {
        case .readers: self = .readers(lookAgain: try frame.flag(of: .flag))
        case .match:
            var readers: [String] = []
            for id in try frame.list(of: .readers) {
                guard let id = String(validating: id, as: UTF8.self) else { throw .malformedValue }
                readers.append(id)
            }
            let limit = Duration.milliseconds(try frame.number(of: .limit))
            let count = try frame.number(of: .count)
            guard count <= ReaderLimit.templates else { throw .tooLong }
            self = .match(
                MatchRequest(
                    readers: readers, limit: limit, templates: count,
                    isExamined: try frame.flag(of: .flag)))
        case .enroll:
            let reader = try frame.text(of: .reader)
            let limit = Duration.milliseconds(try frame.number(of: .limit))
            let replaces = try frame.flag(of: .flag)
            self = .enroll(
                EnrolmentRequest(
                    finger: try frame.value(of: .finger), account: try frame.text(of: .account),
                    reader: reader, limit: limit, replaces: replaces))
        case .contents:
            self = .contents(
                reader: try frame.text(of: .reader),
                limit: .milliseconds(try frame.number(of: .limit)))
        case .deletePrint:
            let reader = try frame.text(of: .reader)
            self = .deletePrint(record: try frame.bytes(of: .record), reader: reader)
        case .deleteTemplate: self = .deleteTemplate(reader: try frame.text(of: .reader))
        case .clear: self = .clear(reader: try frame.text(of: .reader))
        case .canUse: self = .canUse(reader: try frame.text(of: .reader))
        case .suspend: self = .suspend
        case .resume: self = .resume
        }
    }
}

extension Duration {
    /// Rounded up, and not below zero; more than 49 days are cut to that.
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64(UInt32.max) / 1_000 else { return Int(UInt32.max) }
        return max(
            0,
            Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
