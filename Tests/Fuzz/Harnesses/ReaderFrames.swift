// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import ReaderProtocol

/// What the process of the readers reads from signetd; no frame of another socket is one.
enum ReaderQuestions: Harness {
    static let name = "reader-questions"

    static var seeds: [[UInt8]] {
        let questions: [ReaderQuestion] = [
            .request(.readers(lookAgain: true)),
            .request(
                .match(
                    MatchRequest(
                        readers: ["elanmoc:0", "synaptics:a#3"], limit: .milliseconds(29_998),
                        templates: 12, isExamined: true))),
            .request(
                .enroll(
                    EnrolmentRequest(
                        finger: .rightIndex, account: "alice", reader: "elanmoc:0",
                        limit: .seconds(120), replaces: true))),
            .request(.contents(reader: "elanmoc:0", limit: .seconds(10))),
            .request(.deletePrint(record: [0, 255, 3], reader: "elanmoc:0")),
            .request(.deleteTemplate(reader: "elanmoc:0")),
            .request(.clear(reader: "elanmoc:0")), .request(.canUse(reader: "elanmoc:0")),
            .request(.suspend), .request(.resume), .template(part: [1, 2], isLast: true),
            .judged(isAccepted: true),
        ]
        return questions.compactMap { try? $0.encoded() } + RelayRequests.seeds
    }

    static func feed(_ bytes: [UInt8]) {
        guard let question = try? ReaderQuestion(decoding: bytes) else { return }
        require((try? question.encoded()) == bytes, "a question has a second form")
        require((try? Request(decoding: bytes)) == nil, "signetd's own socket takes it too")
        require((try? RelayRequest(decoding: bytes)) == nil, "the relay takes it too")
    }
}

/// What signetd reads from the process of the readers, which may have been taken over by then.
enum ReaderReplies: Harness {
    static let name = "reader-replies"

    private static let reader = ReaderDescription(
        id: "elanmoc:0#2", name: "Elan", driver: "elanmoc", deviceID: "0", serial: "S1",
        seat: "seat0", scanType: .press, enrolStages: 9, features: [.identify, .list, .storage],
        matchesOnHost: false, temperature: .warm)

    static var seeds: [[UInt8]] {
        let replies: [ReaderReply] = [
            .reader(reader),
            .print(
                ReaderPrint(
                    finger: .leftThumb, account: "alice", identity: PrintIdentity(bytes: [1, 2]),
                    bytes: [UInt8](repeating: 7, count: 30))),
            .examine(reader: "elanmoc:0", identity: reader.identity),
            .template(part: [1, 2], isLast: false),
            .matched(index: 3, reader: "elanmoc:0", lost: [1, 70_000]),
            .noMatch(reader: "elanmoc:0", lost: []), .contents(reader.identity), .done, .refused,
            .event(ReaderEvent(reader: "elanmoc:0", kind: .stage(done: 2, total: 9))),
            .event(ReaderEvent(reader: "elanmoc:0", kind: .retry(.tooFast))),
            .fault(.processEnded), .fault(.general("the library's words")),
        ]
        return replies.compactMap { try? $0.encoded() } + RelayAnswers.seeds
    }

    static func feed(_ bytes: [UInt8]) {
        guard let reply = try? ReaderReply(decoding: bytes) else { return }
        require((try? reply.encoded()) == bytes, "a reply has a second form")
        require((try? Answer(decoding: bytes)) == nil, "it is an answer of signetd's too")
        require((try? RelayAnswer(decoding: bytes)) == nil, "it is an answer of the relay's too")
    }
}
