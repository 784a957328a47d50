// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@Suite("import-fprintd on the command line")
struct ImportTests {
    private static let words = ["import-fprintd", "--account", "alice"]

    private static func print(
        _ finger: Finger?, _ outcome: ImportOutcome, _ place: String, _ subject: String? = nil
    ) -> Answer {
        .importedPrint(
            ImportedPrintAnswer(
                finger: finger, subject: subject.map { Bytes($0.utf8) }, outcome: outcome,
                place: Bytes(place.utf8)))
    }

    @Test("reports each finger, how many there are, and what to do about fprintd")
    func all() throws {
        let script = answering(
            .notice(Notice(.waiting, subject: Bytes("sudo (bob)".utf8))),
            Self.print(.leftIndex, .imported, "quick/0/2"),
            Self.print(.rightIndex, .known, "quick/0/7"),
            .done(DoneAnswer(prints: 2, state: .valid, keyring: .on, secrets: 3)))
        let scratch = try Scratch()
        try scratch.writeModule()
        let run = try signet(Self.words, [script], in: scratch)
        #expect(run.code == .done)
        #expect(
            run.output.hasPrefix(
                """
                waiting: sudo (bob) is using the reader
                finger       fprintd's file  written  result
                left-index   quick/0/2       unknown  imported
                right-index  quick/0/7       unknown  already enrolled
                1 finger was imported for alice: 2 fingers in total
                fingerprint login is on for alice
                a touch at login opens the keyring of alice

                """))
        #expect(run.output.contains("fprintd's own files are unchanged"))
        #expect(run.output.contains("'sudo rm -r /var/lib/fprint/alice'"))
        #expect(run.requests == [.importPrint(account: "alice")])
    }

    @Test("ends with 1 if one was refused or none is there, and says why")
    func refused() throws {
        for outcome in ImportOutcome.allCases where ![.imported, .known].contains(outcome) {
            let script = answering(
                Self.print(.leftIndex, .imported, "quick/0/2"),
                Self.print(nil, outcome, "quick/0/x\u{1B}[2J", "why\n"),
                .done(DoneAnswer(prints: 1, state: .invalidated)))
            let run = try signet(Self.words, [script])
            #expect(run.code == .denied, "\(outcome)")
            #expect(run.output.contains("quick/0/x\\x1b[2J  unknown  not "), "\(outcome)")
            #expect(!run.output.contains("why\n"), "\(outcome)")
            #expect(run.output.contains("Run 'signet enable' to turn it on again"))
        }
        let none = try signet(
            Self.words, [answering(.done(DoneAnswer(prints: 0, state: CredentialState.none)))])
        #expect(none.code == .denied)
        #expect(none.output.contains("fprintd has stored no fingerprints of alice"))
    }

    @Test("reports what was imported before a denial, and then the denial")
    func denied() throws {
        let script = answering(
            Self.print(.leftIndex, .imported, "quick/0/2"), .denial(Denial(.vaultUnavailable)))
        let run = try signet(Self.words, [script])
        #expect(run.code == .fault)
        #expect(run.output.contains("left-index  quick/0/2       unknown  imported"))
        #expect(run.errors.contains("the key cannot be used"))
    }

    @Test("shows each finger with its day before the password is asked for, and once")
    func before() throws {
        func shown(_ since: UInt64, outcome: ImportOutcome? = nil) -> Answer {
            .importedPrint(
                ImportedPrintAnswer(
                    finger: .leftIndex, since: since, outcome: outcome,
                    place: Bytes("quick/0/2".utf8)))
        }
        let script = answering(
            shown(1_000_000_000), shown(1_000_000_000), shown(1_700_000_000),
            shown(1_000_000_000, outcome: .imported),
            .done(DoneAnswer(prints: 1, state: .valid)))
        let run = try signet(Self.words, [script]) {
            $0.homeBirth = { $0 == "alice" ? 1_600_000_000 : nil }
        }
        #expect(
            run.output.hasPrefix(
                """
                fprintd has stored these fingers under the name alice, which may have \
                belonged to another account before. Continue only if they are yours: anyone \
                with one of these fingers can log in
                  left-index, written on 9 Sep 2001 (quick/0/2)
                  this is older than the home directory of alice, created on 13 Sep 2020: \
                does it belong to a former account of this name?
                  left-index, written on 14 Nov 2023 (quick/0/2)
                finger      fprintd's file  written     result
                left-index  quick/0/2       9 Sep 2001  imported

                """), "\(run.output)")
        let json = try signet(Self.words + ["--json"], [script]).document("imported")
        let prints = try #require(json["prints"] as? [[String: Any]])
        #expect(prints.map { $0["written"] as? Int } == [1_000_000_000])
    }

    @Test("answers in JSON")
    func json() throws {
        let script = answering(
            Self.print(.leftIndex, .notOnReader, "quick/0/2"),
            .done(DoneAnswer(prints: 0, state: CredentialState.none)))
        let run = try signet(Self.words + ["--json"], [script])
        #expect(run.code == .denied)
        let document = try run.document("imported")
        let prints = try #require(document["prints"] as? [[String: Any]])
        #expect(prints.count == 1)
        #expect(prints[0]["finger"] as? String == "left-index")
        #expect(prints[0]["outcome"] as? String == "not-on-reader")
        #expect(prints[0]["file"] as? String == "quick/0/2")
        #expect((prints[0]["text"] as? String)?.hasPrefix("not imported") == true)
        #expect(document["fingers"] as? Int == 0)
        let other = try signet(["import-fprintd", "now", "--account", "alice"])
        #expect(other.code == .usage)
    }
}
