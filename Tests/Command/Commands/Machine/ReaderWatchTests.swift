// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@Suite("signet readers --watch")
struct ReaderWatchTests {
    private static let reader = ReaderAnswer(
        readerID: Bytes("elan:0".utf8), scan: .press, total: 5, name: Bytes("ElanTech".utf8),
        driver: Bytes("elan".utf8), features: .identify)

    private static func script(_ notices: Notice...) -> [DaemonStep] {
        [.receive, .send(.reader(reader))] + notices.map { .send(.notice($0)) }
            + [.send(.denial(Denial(.readerRemoved)))]
    }

    private static let events = script(
        Notice(.touch, scan: .press), Notice(.touch, scan: .press), Notice(.fingerPresent),
        Notice(.retry, scan: .press, retry: .tooFast), Notice(.touch, scan: .press),
        Notice(.noMatch), Notice(.waiting, subject: Bytes("sudo (alice, pts/3)".utf8)),
        Notice(.retry, retry: .unplugged), Notice(.stage, done: 1, total: 5))

    @Test("shows each event on a line of its own, and that the reader waits only once")
    func lines() throws {
        let run = try signet(["readers", "--watch"], [Self.events])
        #expect(run.requests.first == .watchReader(nil))
        #expect(run.errors.contains("watching ElanTech (elan:0)"))
        let lines = run.output.split(separator: "\n").map(String.init)
        let texts = lines.compactMap { $0.split(separator: " s: ", maxSplits: 1).last }
        #expect(
            texts == [
                "the reader is waiting for a finger", "a finger is on the reader",
                "the finger moved too fast: try again", "the reader is waiting for a finger",
                "the scan is good", "waiting: sudo (alice, pts/3) is using the reader",
                "the reader was unplugged: plug it in again",
            ])
        for line in lines { #expect(line.first?.isNumber == true, "\(line)") }
        #expect(run.code != .done)
    }

    @Test("writes each event as a JSON document")
    func documents() throws {
        let run = try signet(
            ["readers", "--watch", "--json", "--reader", "elan:0"], [Self.events])
        #expect(run.requests.first == .watchReader(Bytes("elan:0".utf8)))
        let documents = try run.output.split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(documents.first?["kind"] as? String == "watched-reader")
        #expect((documents.first?["reader"] as? [String: Any])?["id"] as? String == "elan:0")
        let events = documents.filter { $0["kind"] as? String == "reader-event" }
        #expect(
            events.map { $0["event"] as? String } == [
                "ready", "finger", "rejected", "ready", "scanned", "waiting", "unplugged",
            ])
        #expect(events.map { $0["retry"] as? String }[2] == "too-fast")
        #expect(events.allSatisfy { $0["milliseconds"] is NSNumber })
        #expect(documents.last?["reason"] as? String == "reader-removed")
    }

    @Test(
        "is not combined with what lists or deletes",
        arguments: ["--prints", "--clear", "--delete-foreign", "--force"])
    func alone(option: String) throws {
        let run = try signet(["readers", "--watch", option], [])
        #expect(run.code == .usage)
        #expect(run.requests.isEmpty)
    }

    @Test("an answer that does not belong to it is a fault")
    func unexpected() throws {
        let run = try signet(
            ["readers", "--watch"], [[.receive, .send(.done(DoneAnswer()))]])
        #expect(run.code == .fault)
    }
}
