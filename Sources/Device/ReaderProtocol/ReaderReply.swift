// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// One frame from the reader process to signetd.
///
/// A request is answered by any number of frames and a final one: `done`, `refused`, `fault`,
/// `matched`, `noMatch` or `contents`. Templates and prints that belong to the final frame, or to
/// `examine`, precede it. Encoding and decoding throw a `WireFault`; a decoded frame is accepted
/// only in its canonical form and within the limits of its fields. Whether a frame is expected at
/// that moment is for the receiver to check.
package enum ReaderReply: Equatable, Sendable {
    /// One of the readers.
    case reader(ReaderDescription)
    /// Something that happens during an operation.
    case event(ReaderEvent)
    /// The readers' thread is not blocked by a driver.
    ///
    /// Sent when signetd connects, before it has sent its request, and every second while a request
    /// is served.
    case alive
    /// Drivers are probing their readers, during which the readers' thread sends nothing else.
    case searching
    /// A print in a reader's storage.
    case print(ReaderPrint)
    /// The preceding prints are this reader's storage, which signetd must judge before the scan.
    case examine(reader: String, identity: ReaderIdentity)
    /// A part of a template; consecutive parts make up one template, until one is the last.
    case template(part: [UInt8], isLast: Bool)
    /// The finger matches the template at `index` of the request, counted from 0.
    ///
    /// `lost` contains the indices of templates whose prints the reader no longer has.
    case matched(index: Int, reader: String, lost: Set<Int>)
    /// The finger matches no template; a preceding print is the other print that the reader found.
    case noMatch(reader: String, lost: Set<Int>)
    /// The preceding prints are this reader's storage.
    case contents(ReaderIdentity)
    /// The request was carried out, or the answer to its question is yes.
    case done
    /// The answer to the request's question is no.
    case refused
    /// The request failed.
    case fault(ReaderFault)

    /// The frame's kind; the raw values are part of the protocol.
    private enum Kind: UInt8 {
        case reader = 224
        case event = 225
        case print = 226
        case examine = 227
        case template = 228
        case matched = 229
        case noMatch = 230
        case contents = 231
        case done = 232
        case refused = 233
        case fault = 234
        case alive = 235
        case searching = 236
    }

    /// Splits a template into the frames that carry it.
    package static func frames(of template: Template) -> [ReaderReply] {
        parts(of: template.bytes).map { .template(part: $0.bytes, isLast: $0.isLast) }
    }

    /// Encodes the reply as a frame.
    ///
    /// - Throws: a `WireFault` if a value is larger than its field allows.
    package func encoded() throws(WireFault) -> [UInt8] {
        var frame = FrameWriter(kind: kind.rawValue)
        switch self {
        case .reader(let reader): try reader.put(into: &frame)
        case .event(let event): try event.put(into: &frame)
        case .print(let print):
            if let finger = print.finger { try frame.put(.finger, byte: finger.rawValue) }
            if let account = print.account {
                try frame.put(.account, text: account.prefixed(.account))
            }
            try frame.put(.identity, bytes: print.identity.bytes)
            try frame.put(.record, bytes: print.bytes)
        case .examine(let reader, let identity):
            try frame.put(.reader, text: reader)
            try identity.put(into: &frame)
        case .template(let part, let isLast):
            try frame.put(.part, bytes: part)
            try frame.put(.isLast, flag: isLast)
        case .matched(let index, let reader, let lost):
            try frame.put(.reader, text: reader)
            try frame.put(.index, number: index)
            try frame.put(.lost, list: lost.numbers)
        case .noMatch(let reader, let lost):
            try frame.put(.reader, text: reader)
            try frame.put(.lost, list: lost.numbers)
        case .contents(let identity): try identity.put(into: &frame)
        case .done, .refused, .alive, .searching: break
        case .fault(let fault):
            try frame.put(.fault, byte: fault.code.rawValue)
            if case .general(let message) = fault {
                try frame.put(.message, text: message.prefixed(.message))
            }
        }
        return frame.bytes
    }

    /// Decodes a frame, which is not trusted: the reader process may be compromised.
    ///
    /// - Throws: a `WireFault` if the packet is not exactly one frame in canonical form.
    package init(decoding packet: [UInt8]) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let kind = Kind(rawValue: frame.kind) else { throw .unknownKind }
        switch kind {
        case .reader: self = .reader(try ReaderDescription(&frame))
        case .event: self = .event(try ReaderEvent(&frame))
        case .print:
            let finger = try frame.optional(.finger).map { $0[0] }
            if let finger, Finger(rawValue: finger) == nil { throw .malformedValue }
            let account = try frame.optionalText(of: .account)
            let identity = PrintIdentity(bytes: try frame.bytes(of: .identity))
            self = .print(
                ReaderPrint(
                    finger: finger.flatMap { Finger(rawValue: $0) }, account: account,
                    identity: identity, bytes: try frame.bytes(of: .record)))
        case .examine:
            let reader = try frame.text(of: .reader)
            self = .examine(reader: reader, identity: try ReaderIdentity(&frame))
        case .template:
            self = .template(
                part: try frame.bytes(of: .part), isLast: try frame.flag(of: .isLast))
        case .matched:
            let reader = try frame.text(of: .reader)
            let index = try frame.number(of: .index)
            self = .matched(
                index: index, reader: reader, lost: try Set(numbers: frame.list(of: .lost)))
        case .noMatch:
            let reader = try frame.text(of: .reader)
            self = .noMatch(reader: reader, lost: try Set(numbers: frame.list(of: .lost)))
        case .contents: self = .contents(try ReaderIdentity(&frame))
        case .done: self = .done
        case .refused: self = .refused
        case .alive: self = .alive
        case .searching: self = .searching
        case .fault:
            let code = try frame.value(of: .fault, as: ReaderFault.Code.self)
            self = .fault(ReaderFault(code, message: try frame.optionalText(of: .message) ?? ""))
        }
        try frame.end()
        // Each reply has a single encoding: numbers that are not used are 0, and lists are in
        // order.
        guard try encoded() == packet else { throw .malformedValue }
    }

    private var kind: Kind {
        switch self {
        case .reader: .reader
        case .event: .event
        case .print: .print
        case .examine: .examine
        case .template: .template
        case .matched: .matched
        case .noMatch: .noMatch
        case .contents: .contents
        case .done: .done
        case .refused: .refused
        case .alive: .alive
        case .searching: .searching
        case .fault: .fault
        }
    }
}

// MARK: - The parts of replies

extension ReaderDescription {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.reader, text: id)
        try frame.put(.name, text: name.prefixed(.name))
        try frame.put(.driver, text: driver)
        try frame.put(.deviceID, text: deviceID)
        if let serial { try frame.put(.serial, text: serial) }
        try frame.put(.seat, text: seat)
        try frame.put(.scan, byte: scanType.rawValue)
        try frame.put(.stages, number: enrolStages)
        try frame.put(.features, number: Int(features.rawValue))
        try frame.put(.matchesOnHost, flag: matchesOnHost)
        try frame.put(.temperature, byte: temperature.rawValue)
    }

    fileprivate init(_ frame: inout FrameReader) throws(WireFault) {
        let id = try frame.text(of: .reader)
        let name = try frame.text(of: .name)
        let driver = try frame.text(of: .driver)
        let deviceID = try frame.text(of: .deviceID)
        let serial = try frame.optionalText(of: .serial)
        let seat = try frame.text(of: .seat)
        let scanType = try frame.value(of: .scan, as: ScanType.self)
        let stages = try frame.number(of: .stages)
        let features = Features(rawValue: UInt32(try frame.number(of: .features)))
        let matchesOnHost = try frame.flag(of: .matchesOnHost)
        self.init(
            id: id, name: name, driver: driver, deviceID: deviceID, serial: serial, seat: seat,
            scanType: scanType, enrolStages: stages, features: features,
            matchesOnHost: matchesOnHost, temperature: try frame.value(of: .temperature))
    }
}

extension ReaderIdentity {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.driver, text: driver)
        try frame.put(.deviceID, text: deviceID)
        if let serial { try frame.put(.serial, text: serial) }
    }

    fileprivate init(_ frame: inout FrameReader) throws(WireFault) {
        let driver = try frame.text(of: .driver)
        let deviceID = try frame.text(of: .deviceID)
        self.init(
            driver: driver, deviceID: deviceID, serial: try frame.optionalText(of: .serial))
    }
}

extension ReaderEvent {
    /// The kind of event; the raw values are part of the protocol.
    private enum Code: UInt8 {
        case fingerNeeded = 1
        case fingerPresent = 2
        case retry = 3
        case stage = 4
        case lost = 5
        case round = 6
        case fingerGone = 7
    }

    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        let (code, first, second): (Code, Int, Int) =
            switch kind {
            case .fingerNeeded: (.fingerNeeded, 0, 0)
            case .fingerPresent: (.fingerPresent, 0, 0)
            case .fingerGone: (.fingerGone, 0, 0)
            case .retry(let reason): (.retry, Int(reason.rawValue), 0)
            case .stage(let done, let total): (.stage, done, total)
            case .lost(let index): (.lost, index, 0)
            case .round(let next, let total): (.round, next, total)
            }
        try frame.put(.reader, text: reader)
        try frame.put(.event, byte: code.rawValue)
        try frame.put(.first, number: first)
        try frame.put(.second, number: second)
    }

    fileprivate init(_ frame: inout FrameReader) throws(WireFault) {
        let reader = try frame.text(of: .reader)
        let code = try frame.value(of: .event, as: Code.self)
        let (first, second) = (try frame.number(of: .first), try frame.number(of: .second))
        let kind: Kind
        switch code {
        case .fingerNeeded: kind = .fingerNeeded
        case .fingerPresent: kind = .fingerPresent
        case .fingerGone: kind = .fingerGone
        case .retry:
            guard let reason = UInt8(exactly: first).flatMap({ RetryReason(rawValue: $0) }) else {
                throw .malformedValue
            }
            kind = .retry(reason)
        case .stage: kind = .stage(done: first, total: second)
        case .lost: kind = .lost(index: first)
        case .round: kind = .round(next: first, total: second)
        }
        self.init(reader: reader, kind: kind)
    }
}

extension ReaderFault {
    /// The kind of fault; the raw values are part of the protocol.
    fileprivate enum Code: UInt8 {
        case general = 1
        case noReader = 2
        case removed = 3
        case tooHot = 4
        case busy = 5
        case notSupported = 6
        case protocolError = 7
        case notFound = 8
        case full = 9
        case duplicate = 10
        case invalidTemplate = 11
        case cancelled = 12
        case timedOut = 13
        case suspended = 14
        case processEnded = 15
    }

    fileprivate var code: Code {
        switch self {
        case .general: .general
        case .noReader: .noReader
        case .removed: .removed
        case .tooHot: .tooHot
        case .busy: .busy
        case .notSupported: .notSupported
        case .protocolError: .protocolError
        case .notFound: .notFound
        case .full: .full
        case .duplicate: .duplicate
        case .invalidTemplate: .invalidTemplate
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .suspended: .suspended
        case .processEnded: .processEnded
        }
    }

    fileprivate init(_ code: Code, message: String) {
        self =
            switch code {
            case .general: .general(message)
            case .noReader: .noReader
            case .removed: .removed
            case .tooHot: .tooHot
            case .busy: .busy
            case .notSupported: .notSupported
            case .protocolError: .protocolError
            case .notFound: .notFound
            case .full: .full
            case .duplicate: .duplicate
            case .invalidTemplate: .invalidTemplate
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .suspended: .suspended
            case .processEnded: .processEnded
            }
    }
}

extension String {
    /// The text, cut to as many whole characters as the field can hold.
    fileprivate func prefixed(_ field: ReaderField) -> String {
        guard utf8.count > field.size.upperBound else { return self }
        var text = ""
        for character in self {
            guard text.utf8.count + character.utf8.count <= field.size.upperBound else { break }
            text.append(character)
        }
        return text
    }
}

extension Set<Int> {
    fileprivate var numbers: [[UInt8]] {
        sorted().map { number in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
    }

    fileprivate init(numbers: [[UInt8]]) throws(WireFault) {
        self = []
        for bytes in numbers {
            guard bytes.count == 4 else { throw .malformedValue }
            insert(bytes.reduce(0) { $0 << 8 | Int($1) })
        }
    }
}
