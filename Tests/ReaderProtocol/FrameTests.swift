// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import ReaderProtocol
import TestSupport
import Testing

@Suite("frames between signetd and the process of the readers")
struct ReaderFrameTests {
    private static let identity = ReaderIdentity(driver: "elanmoc", deviceID: "0", serial: "S1")
    private static let reader = ReaderDescription(
        id: "elanmoc:0#2", name: "Elan", driver: "elanmoc", deviceID: "0", serial: nil,
        seat: "seat0", scanType: .press, enrolStages: 9, features: [.identify, .list, .storage],
        matchesOnHost: false, temperature: .warm)
    private static let stored = ReaderPrint(
        finger: .leftThumb, account: "alice", identity: PrintIdentity(bytes: [1, 2, 3]),
        bytes: Array(repeating: 7, count: 300))

    static let questions: [ReaderQuestion] = [
        .request(.readers(lookAgain: true)), .request(.readers(lookAgain: false)),
        .request(
            .match(
                MatchRequest(
                    readers: ["elanmoc:0", "synaptics:a#3"], limit: .milliseconds(29_998),
                    templates: 12, isExamined: true))),
        .request(
            .match(MatchRequest(readers: [], limit: .zero, templates: 0, isExamined: false))),
        .request(
            .enroll(
                EnrolmentRequest(
                    finger: .rightIndex, account: "alice", reader: "elanmoc:0",
                    limit: .seconds(120), replaces: true))),
        .request(.contents(reader: "elanmoc:0", limit: .seconds(10))),
        // The longest limits there are: 32 bits of milliseconds, which end within a second.
        .request(.contents(reader: "elanmoc:0", limit: .milliseconds(4_294_966_999))),
        .request(.contents(reader: "elanmoc:0", limit: .milliseconds(4_294_967_100))),
        .request(.contents(reader: "elanmoc:0", limit: .milliseconds(4_294_967_295))),
        .request(.deletePrint(record: [0, 255, 3], reader: "elanmoc:0")),
        .request(.deleteTemplate(reader: "elanmoc:0")), .request(.clear(reader: "elanmoc:0")),
        .request(.canUse(reader: "elanmoc:0")), .request(.suspend), .request(.resume),
        .template(part: Array(repeating: 9, count: 16_000), isLast: false),
        .template(part: [], isLast: true), .judged(isAccepted: true), .judged(isAccepted: false),
    ]

    static let replies: [ReaderReply] =
        [
            .reader(reader), .print(stored),
            .print(
                ReaderPrint(
                    finger: nil, account: nil, identity: PrintIdentity(bytes: []), bytes: [])),
            .examine(reader: "elanmoc:0", identity: identity),
            .template(part: [1, 2], isLast: false), .template(part: [3], isLast: true),
            .matched(index: 3, reader: "elanmoc:0", lost: [1, 70_000]),
            .noMatch(reader: "elanmoc:0", lost: []), .contents(identity), .done, .refused,
        ] + events.map { .event(ReaderEvent(reader: "elanmoc:0", kind: $0)) }
        + faults.map { .fault($0) }

    private static let events: [ReaderEvent.Kind] =
        [
            .fingerNeeded, .fingerPresent, .fingerGone, .stage(done: 2, total: 9), .lost(index: 1),
            .round(next: 2, total: 3),
        ] + RetryReason.allCases.map { .retry($0) }

    private static let faults: [ReaderFault] = [
        .noReader, .removed, .tooHot, .busy, .notSupported, .protocolError, .notFound, .full,
        .duplicate, .invalidTemplate, .cancelled, .timedOut, .suspended, .processEnded,
        .general("the library's words"),
    ]

    @Test("a question is read as it was written", arguments: questions)
    func question(question: ReaderQuestion) throws {
        #expect(try ReaderQuestion(decoding: question.encoded()) == question)
    }

    @Test("a reply is read as it was written", arguments: replies)
    func reply(reply: ReaderReply) throws {
        #expect(try ReaderReply(decoding: reply.encoded()) == reply)
    }

    @Test("a frame that is cut off anywhere, or continued, is invalid")
    func cut() throws {
        for question in Self.questions {
            let frame = try question.encoded()
            for length in Self.lengths(of: frame) {
                #expect(throws: WireFault.self) {
                    try ReaderQuestion(decoding: Array(frame.prefix(length)))
                }
            }
            #expect(throws: WireFault.self) { try ReaderQuestion(decoding: frame + [0]) }
        }
        for reply in Self.replies {
            let frame = try reply.encoded()
            for length in Self.lengths(of: frame) {
                // What a frame need not have may be all that is missing: then it is another one.
                guard let other = try? ReaderReply(decoding: Array(frame.prefix(length))) else {
                    continue
                }
                #expect(other != reply)
            }
            #expect(throws: WireFault.self) { try ReaderReply(decoding: frame + [0]) }
        }
    }

    private static func lengths(of frame: [UInt8]) -> some Sequence<Int> {
        frame.indices.filter { $0 < 100 || $0 > frame.count - 20 }
    }

    @Test("what is altered is refused, or reads as exactly what it says", arguments: 0..<8)
    func altered(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        for original in Self.replies {
            let frame = try original.encoded()
            for _ in 0..<200 {
                var altered = frame
                altered[Int.random(in: altered.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
                guard let reply = try? ReaderReply(decoding: altered) else { continue }
                #expect(try reply.encoded() == altered)
            }
        }
    }

    @Test("neither direction takes the other's frames")
    func directions() throws {
        for question in Self.questions {
            #expect(throws: WireFault.self) {
                try ReaderReply(decoding: question.encoded())
            }
        }
        for reply in Self.replies {
            #expect(throws: WireFault.self) { try ReaderQuestion(decoding: reply.encoded()) }
        }
    }

    @Test("what does not fit a frame is not cut to fit, unless it is only to be read")
    func oversized() throws {
        let long = String(repeating: "x", count: 5_000)
        #expect(throws: WireFault.self) {
            try ReaderQuestion.request(.clear(reader: long)).encoded()
        }
        let record = Array(repeating: UInt8(1), count: 9_000)
        #expect(throws: WireFault.self) {
            try ReaderQuestion.request(.deletePrint(record: record, reader: "a:0")).encoded()
        }
        let told = try ReaderReply(decoding: ReaderReply.fault(.general(long)).encoded())
        guard case .fault(.general(let message)) = told else {
            return #expect(Bool(false), "another fault: \(told)")
        }
        #expect(message == String(repeating: "x", count: ReaderLimit.text))
    }
}
