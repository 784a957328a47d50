// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A request from signetd to the reader process; each has its own connection.
///
/// The templates that belong to a request follow it (`ReaderQuestion.template`). A request ends
/// with a final reply (`ReaderReply`), or is cancelled when signetd closes the connection. Time
/// limits are sent in whole milliseconds, rounded up.
package enum ReaderRequest: Equatable, Sendable {
    /// Lists the readers; with `lookAgain`, they are enumerated again first if one may have
    /// returned.
    case readers(lookAgain: Bool)
    /// Waits for a finger; see `MatchRequest`.
    case match(MatchRequest)
    /// Enrols a finger; see `EnrolmentRequest`.
    case enroll(EnrolmentRequest)
    /// Lists the prints in a reader's own storage.
    case contents(reader: String, limit: Duration)
    /// Deletes a print from a reader's own storage, given by the record that `contents` listed.
    case deletePrint(record: [UInt8], reader: String)
    /// Deletes the print of the one template that follows from a reader's own storage.
    case deleteTemplate(reader: String)
    /// Deletes all prints in a reader's own storage.
    case clear(reader: String)
    /// Asks whether the one template that follows can be used on a reader.
    case canUse(reader: String)
    /// Ends all operations and closes the readers; nothing can be started until `resume`.
    case suspend
    /// Allows the readers to be used again.
    case resume

    /// The frame's kind; the raw values are part of the protocol.
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

    /// Whether it contains nothing about a finger, a print or a reader, so that any process may see it.
    package var isEmpty: Bool {
        switch self {
        case .readers: true
        case .match, .enroll, .contents, .deletePrint, .deleteTemplate, .clear, .canUse, .suspend,
            .resume:
            false
        }
    }

    /// The number of templates that must follow the request before it is started.
    package var templates: Int {
        switch self {
        case .match(let request): request.templates
        case .enroll(let request): request.replaces ? 1 : 0
        case .deleteTemplate, .canUse: 1
        case .readers, .contents, .deletePrint, .clear, .suspend, .resume: 0
        }
    }
}

/// A request to compare a finger with some templates.
package struct MatchRequest: Equatable, Sendable {
    /// The ids of the readers that may scan.
    package let readers: [String]
    /// The time limit.
    package let limit: Duration
    /// The number of templates that follow the request.
    package let templates: Int
    /// Whether signetd judges a reader's storage before that reader scans.
    package let isExamined: Bool
}

/// A request to enrol a finger on one reader, whose storage signetd judges first.
package struct EnrolmentRequest: Equatable, Sendable {
    /// The finger.
    package let finger: Finger
    /// The account's name.
    package let account: String
    /// The reader's id.
    package let reader: String
    /// The time limit.
    package let limit: Duration
    /// Whether a template follows whose print is deleted first, for readers that refuse to enrol a
    /// finger twice.
    package let replaces: Bool
}

/// One frame from signetd to the reader process.
///
/// A connection carries one `request`, then its templates, then one judgement for each
/// `ReaderReply.examine`. The receiver checks that order; decoding checks only the form.
package enum ReaderQuestion: Equatable, Sendable {
    /// The first frame on a connection.
    case request(ReaderRequest)
    /// A part of a template; consecutive parts make up one template, up to the last.
    case template(part: [UInt8], isLast: Bool)
    /// The judgement on the storage that was reported; a refusal cancels the request.
    case judged(isAccepted: Bool)

    /// The frame's kind; the raw values are part of the protocol and differ from those of requests.
    private enum Kind: UInt8 {
        case template = 170
        case judged = 171
    }

    /// Encodes the frame.
    ///
    /// - Throws: a `WireFault` if a value is larger than its field allows.
    package func encoded() throws(WireFault) -> [UInt8] {
        switch self {
        case .request(let request): return try request.encoded()
        case .template(let part, let isLast):
            var frame = FrameWriter(kind: Kind.template.rawValue)
            try frame.put(.part, bytes: part)
            try frame.put(.isLast, flag: isLast)
            return frame.bytes
        case .judged(let isAccepted):
            var frame = FrameWriter(kind: Kind.judged.rawValue)
            try frame.put(.flag, flag: isAccepted)
            return frame.bytes
        }
    }

    /// Decodes a frame.
    ///
    /// - Throws: a `WireFault` if the packet is not exactly one frame.
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

    /// Splits a template into the frames that carry it.
    package static func frames(of template: Template) -> [ReaderQuestion] {
        parts(of: template.bytes).map { .template(part: $0.bytes, isLast: $0.isLast) }
    }
}

/// Splits bytes into parts that fit into a frame each; empty bytes give one empty part.
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
        case .readers(let lookAgain): try frame.put(.flag, flag: lookAgain)
        case .match(let request):
            try frame.put(.readers, list: request.readers.map { Array($0.utf8) })
            try frame.put(.limit, number: request.limit.wholeMilliseconds)
            try frame.put(.count, number: request.templates)
            try frame.put(.flag, flag: request.isExamined)
        case .enroll(let request):
            try frame.put(.reader, text: request.reader)
            try frame.put(.limit, number: request.limit.wholeMilliseconds)
            try frame.put(.flag, flag: request.replaces)
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
    /// The duration in whole milliseconds, rounded up, and clamped to the range of 32 bits (49
    /// days).
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds <= Int64(UInt32.max) / 1_000 else { return Int(UInt32.max) }
        let milliseconds =
            Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        return min(max(0, milliseconds), Int(UInt32.max))
    }
}
