// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"

@Suite("Fingers on the command line")
struct FingerTests {
    @Test("list shows a table, and says where nothing is")
    func list() throws {
        let damaged = PrintAnswer(
            finger: nil, printID: .sample(0..<16), readerID: [0x1B], since: nil, intact: false)
        let script = answering(.print(samplePrint), .print(damaged), .done(DoneAnswer()))
        let good = answering(.status(sampleStatus))
        let run = try signet(["list", "--account", "alice"], [script, good])
        #expect(run.code == .done)
        #expect(
            run.output == """
                finger       enrolled     reader  state
                right-index  20 Nov 2026  usb-1   good
                unknown      unknown      \\x1b    damaged

                """)
        let json = try signet(["list", "--account", "alice", "--json"], [script, good])
        #expect(try json.document("fingers")["works"] as? Bool == true)
        let fingers = try json.document("fingers")["fingers"] as? [[String: Any]]
        #expect(fingers?.map { $0["finger"] as? String } == ["right-index", nil])
        #expect(fingers?.first?["since"] as? String == "2026-11-20T17:24:00Z")
        #expect(fingers?.first?["id"] as? String == "000102030405060708090a0b0c0d0e0f")
        let none = try signet(["list", "--account", "alice"], [answering(.done(DoneAnswer()))])
        #expect(none.output.contains("no finger is enrolled for alice. Run 'signet enroll'"))
    }

    @Test("list shows of each finger whether it can be used now, and what refuses all of them")
    func states() throws {
        let states: [(PrintState, String, String)] = [
            (.usable, "good", "usable"),
            (.readerAway, "its reader is not connected", "reader-away"),
            (.otherSeat, "its reader is at another seat", "other-seat"),
            (.lost, "its reader has lost it: enrol it again", "lost"),
            (.unusable, "no reader can use it: enrol it again", "unusable"),
        ]
        #expect(states.map(\.0) == PrintState.allCases)
        var status = sampleStatus
        status.refusal = Denial(.noReader, subject: Bytes("usb-1".utf8))
        for (state, text, word) in states {
            var print = samplePrint
            print.state = state
            let script = answering(.print(print), .done(DoneAnswer()))
            let run = try signet(
                ["list", "--account", "alice"], [script, answering(.status(status))])
            #expect(run.output.contains("usb-1   \(text)\n"), "\(run.output)")
            #expect(
                run.output.hasSuffix(
                    """
                    no finger is accepted at a login now: the fingerprint reader usb-1 is not \
                    connected: connect it, or use the password

                    """), "\(run.output)")
            let json = try signet(
                ["list", "--account", "alice", "--json"], [script, answering(.status(status))])
            let document = try json.document("fingers")
            #expect(document["works"] as? Bool == false)
            #expect(document["refusal"] as? String == "no-reader")
            let fingers = document["fingers"] as? [[String: Any]]
            #expect(fingers?.first?["state"] as? String == word)
        }
    }

    @Test("enroll shows each stage as a line without a terminal")
    func enroll() throws {
        let scratch = try Scratch()
        try scratch.writeModule()
        let run = try signet(
            ["enroll", "left-thumb", "--account", "alice", "--reader", "usb-1"],
            [
                answering(
                    .notice(Notice(.touch, scan: .press)),
                    .notice(Notice(.stage, done: 1, total: 2)),
                    .notice(Notice(.retry, retry: .offCentre)), .notice(Notice(.fingerPresent)),
                    .notice(Notice(.stage, done: 2, total: 2)),
                    .done(DoneAnswer(finger: .leftThumb, prints: 1, state: .valid)))
            ], in: scratch)
        #expect(run.code == .done)
        #expect(
            run.output == """
                touch the reader
                stage 1 of 2
                the finger was off centre: try again
                stage 2 of 2
                left-thumb is enrolled for alice: 1 finger in total
                fingerprint login is on for alice

                """)
        let asked = Request.enroll(
            account: alice, finger: .leftThumb, readerID: Bytes("usb-1".utf8))
        #expect(run.requests == [asked])
    }

    @Test("enroll redraws one line on a terminal, never wider than it")
    func bar() throws {
        let script = answering(
            .notice(Notice(.touch)), .notice(Notice(.stage, done: 5, total: 10)),
            .done(DoneAnswer(finger: .leftThumb, prints: 1, state: CredentialState.none)))
        let words = ["enroll", "left-thumb", "--account", "alice"]
        let run = try signet(words, [script]) { $0.columns = { 80 } }
        #expect(run.output.contains("\r[#####.....] 5 of 10  touch the reader\u{1B}[K\n"))
        #expect(run.output.contains("login is off for alice. Run 'signet enable' to turn it on\n"))
        for columns in [1, 2, 10, 20, 40] {
            let narrow = try signet(words, [script]) { $0.columns = { columns } }
            for line in narrow.output.split(separator: "\r").dropFirst(0)
            where line.contains("\u{1B}[K") {
                let shown = line.split(separator: "\u{1B}")[0]
                #expect(shown.count <= max(1, columns - 1), "\(columns): \(shown)")
            }
        }
    }

    @Test("a stage count that makes no sense does not break the bar")
    func oddStages() throws {
        let script = answering(
            .notice(Notice(.stage, done: 255, total: 1)),
            .notice(Notice(.stage, done: 3, total: 0)), .notice(Notice(.stage)),
            .done(DoneAnswer()))
        let words = ["enroll", "left-thumb", "--account", "alice"]
        let run = try signet(words, [script]) { $0.columns = { 80 } }
        #expect(run.code == .done)
    }

    @Test("enroll in JSON gives a line for each notice and one for the end")
    func enrollJSON() throws {
        let script = answering(
            .notice(Notice(.touch, scan: .swipe)), .notice(Notice(.stage, done: 1, total: 2)),
            .notice(Notice(.retry, retry: .tooShort)),
            .done(DoneAnswer(finger: .leftThumb, prints: 3, state: .disabled)))
        let run = try signet(
            ["enroll", "left-thumb", "--account", "alice", "--json"], [script])
        let documents = try run.documents()
        #expect(documents.map { $0["event"] as? String } == ["touch", "stage", "retry", nil])
        #expect(documents[1]["total"] as? Int == 2)
        #expect(documents[2]["retry"] as? String == "too-short")
        #expect(documents[3]["kind"] as? String == "enrolled")
        #expect(documents[3]["login"] as? String == "disabled")
        #expect(documents[3]["fingers"] as? Int == 3)
    }

    @Test("without a finger the next free one is enrolled")
    func freeFinger() throws {
        let words = ["enroll", "--account", "alice"]
        let chosen = answering(
            .of(ChangeForecastAnswer(finger: .leftIndex)),
            .done(DoneAnswer(finger: .leftIndex, prints: 2)))
        let run = try signet(words, [chosen])
        #expect(run.requests == [.enroll(account: alice, finger: nil, readerID: nil)])
        #expect(run.output.hasPrefix("left-index is enrolled for alice: 2 fingers in total\n"))
        let full = try signet(words, [answering(.denial(Denial(.tooManyFingers)))])
        #expect(full.code == .denied)
        #expect(full.errors.contains("no more fingers can be added"))
    }

    @Test("delete names one finger or all")
    func delete() throws {
        let script = answering(.done(DoneAnswer(prints: 1, state: .valid)))
        let one = try signet(["delete", "left-ring", "--account", "alice"], [script])
        #expect(one.requests == [.delete(account: alice, finger: .leftRing)])
        #expect(one.output.hasPrefix("left-ring of alice was deleted: 1 finger left\n"))
        let gone = answering(.done(DoneAnswer(prints: 0)))
        let all = try signet(["delete", "--all", "--account", "alice", "--json"], [gone])
        #expect(all.requests == [.delete(account: alice, finger: nil)])
        let plain = try signet(["delete", "--all", "--account", "alice"], [gone])
        #expect(
            plain.output == """
                all fingers of alice were deleted: 0 fingers left
                no finger is enrolled for alice. Run 'signet enroll' to add one

                """)
        let document = try all.document("deleted")
        #expect(document["fingers"] as? Int == 0)
        #expect(document["printsLeft"] as? Int == 0)
    }

    @Test("delete says when a reader still stores prints of what was deleted")
    func leftOnReader() throws {
        func done(_ prints: UInt8, left: UInt8) -> [DaemonStep] {
            answering(.done(DoneAnswer(prints: prints, state: .valid, printsLeft: left)))
        }
        let words = ["delete", "left-ring", "--account", "alice"]
        let one = try signet(words, [done(1, left: 1)])
        #expect(one.code == .done)
        #expect(
            one.output.hasPrefix(
                """
                left-ring of alice was deleted: 1 finger left
                a reader still stores the prints of 1 finger: it is unplugged or has failed. The \
                prints open nothing any more. 'sudo signet readers --prints' shows what readers \
                store

                """), "\(one.output)")
        let all = ["delete", "--all", "--account", "alice"]
        let both = try signet(all, [done(0, left: 2)])
        #expect(both.output.contains("a reader still stores the prints of 2 fingers: "))
        let json = try signet(all + ["--json"], [done(0, left: 2)])
        #expect(try json.document("deleted")["printsLeft"] as? Int == 2)
    }

    @Test("verify shows which finger matched, or that none did")
    func verify() throws {
        let words = ["verify", "--account", "alice"]
        let touch = Answer.notice(Notice(.touch))
        let good = try signet(
            words,
            [
                answering(touch, .done(DoneAnswer(finger: .rightIndex))),
                answering(.status(sampleStatus)),
            ])
        #expect(good.output == "touch the reader\nthe finger matched: right-index\n")
        let reasoned = try signet(
            words + ["--reason", "unlock the door"],
            [
                answering(touch, .done(DoneAnswer(finger: .rightIndex))),
                answering(.status(sampleStatus)),
            ])
        #expect(
            reasoned.output.hasPrefix(
                "touch the reader. The requesting program says: unlock the door\n"))
        #expect(
            reasoned.requests == [
                .verify(
                    account: alice, timeoutMilliseconds: 30_000,
                    reason: Bytes("unlock the door".utf8)),
                .status(account: alice),
            ])
        for reason in ["", "a\nb", "\u{1B}[2J", "\u{202E}x", String(repeating: "x", count: 201)] {
            let refused = try signet(words + ["--reason", reason])
            #expect(refused.code == .usage && refused.requests.isEmpty)
        }
        let bad = try signet(
            words,
            [
                answering(
                    touch, .notice(Notice(.noMatch, triesLeft: 1)), .denial(Denial(.noMatch)))
            ])
        #expect(bad.code == .denied)
        #expect(bad.output.contains("the finger did not match: one try left\n"))
        #expect(bad.errors == "signet: the finger did not match\n")
        var remote = sampleStatus
        remote.refusal = Denial(.remoteSession)
        let json = try signet(
            words + ["--json"],
            [answering(touch, .done(DoneAnswer())), answering(.status(remote))])
        #expect(try json.document("verified")["account"] as? String == "alice")
        #expect(try json.document("verified")["works"] as? Bool == false)
        #expect(try json.document("verified")["refusal"] as? String == "remote-session")
    }

    @Test("enable, disable and unlock send their request and report the result")
    func toggles() throws {
        let cases: [(String, Request, String, String)] = [
            ("enable", .enable(account: alice), "fingerprint login is on for alice", "enabled"),
            ("disable", .disable(account: alice), "fingerprint login is off for alice", "disabled"),
            ("unlock", .unlock(account: alice), "fingerprint login is unlocked", "unlocked"),
        ]
        for (action, request, text, kind) in cases {
            let script = answering(.done(DoneAnswer(state: .valid)))
            let scratch = try Scratch()
            try scratch.writeModule()
            let run = try signet([action, "--account", "alice"], [script], in: scratch)
            #expect(run.code == .done)
            #expect(run.requests == [request])
            #expect(run.output.hasPrefix(text))
            let json = try signet([action, "--account", "alice", "--json"], [script])
            #expect(try json.document(kind)["login"] as? String == "valid")
        }
    }

    @Test("enable and enroll do not say that login is on where no service asks for a finger")
    func unused() throws {
        let touched = answering(.done(DoneAnswer(prints: 1, state: .valid)))
        for (words, scripts) in [
            (["enable"], [touched]), (["enroll", "left-thumb"], [touched]),
        ] {
            let scratch = try Scratch()
            try scratch.writeModule()
            try scratch.remove("etc/pam.d/sudo")
            try scratch.write("usr/sbin/pam-auth-update", "")
            let unused = try signet(words + ["--account", "alice"], scripts, in: scratch)
            #expect(unused.code == .done)
            #expect(!unused.output.contains("login is on for"))
            #expect(
                unused.output.hasSuffix(
                    """
                    the key of alice is ready, but fingerprint login is not on yet: no service in \
                    /etc/pam.d uses pam_signet
                    next, run as root: pam-auth-update --enable signet

                    """), "\(unused.output)")
            let other = try Scratch()
            try other.writeModule()
            try other.remove(Scratch.module)
            let missing = try signet(words + ["--account", "alice"], scripts, in: other)
            #expect(missing.output.contains("cannot find pam_signet.so\n"))
        }
    }

    @Test("enable lists the fingers that the key was sealed to")
    func sealed() throws {
        let script = answering(
            .print(samplePrint), .done(DoneAnswer(prints: 1, state: .valid)))
        let run = try signet(["enable", "--account", "alice"], [script])
        #expect(run.output.hasPrefix("the key opens for right-index, enrolled on usb-1\n"))
        let foretold = answering(
            .print(samplePrint), .of(ChangeForecastAnswer()),
            .done(DoneAnswer(prints: 1, state: .valid)))
        #expect(try signet(["enable", "--account", "alice"], [foretold]).output == run.output)
        let json = try signet(["enable", "--account", "alice", "--json"], [script])
        let fingers = try json.document("enabled")["fingers"] as? [[String: Any]]
        #expect(fingers?.map { $0["finger"] as? String } == ["right-index"])
        #expect(fingers?.map { $0["reader"] as? String } == ["usb-1"])
    }

    @Test("enable asks on a terminal for no password where a print is damaged, and lists the rest")
    func sealing() throws {
        let words = ["enable", "--account", "alice"]
        let denial = Answer.denial(Denial(.printsDamaged, finger: .rightIndex))
        let refused = try signet(words, [answering(denial)]) { $0.columns = { 80 } }
        #expect(refused.code == .denied)
        #expect(refused.errors.contains("Run 'signet enroll right-index' to enrol it again, or"))
        let enabled = answering(
            .print(samplePrint), .of(ChangeForecastAnswer()), .done(DoneAnswer(state: .valid)))
        let run = try signet(words, [enabled]) { $0.columns = { 80 } }
        #expect(
            run.output.hasPrefix(
                """
                these fingers will open the key of alice. Continue only if all of them are \
                yours: anyone with one of them can log in as alice
                  finger       enrolled     reader  state
                  right-index  20 Nov 2026  usb-1   good

                """), "\(run.output)")
        #expect(run.requests == [.enable(account: alice)])
    }

    @Test("enable sets the keyring as its option says, and reports its state")
    func keyring() throws {
        let ended = "a touch no longer opens the keyring of alice: "
        let states: [(KeyringState?, String)] = [
            (.on, "a touch at login opens the keyring of alice\n"),
            (.off, "a touch does not open the keyring of alice\n"),
            (.passwordChanged, ended + "the login password has changed. Run 'signet enable"),
            (.fingersChanged, ended + "the fingers or the key have changed, and the password"),
            (.damaged, ended + "the stored password cannot be opened"), (nil, ""),
        ]
        for (words, wanted) in [([], nil), (["--keyring"], true), (["--no-keyring"], false)]
            as [([String], Bool?)]
        {
            for (state, text) in states {
                let script = answering(.done(DoneAnswer(state: .valid, keyring: state)))
                let scratch = try Scratch()
                try scratch.writeModule()
                let run = try signet(
                    ["enable", "--account", "alice"] + words, [script], in: scratch)
                #expect(run.requests == [.enable(account: alice, keyring: wanted)])
                #expect(text.isEmpty || run.output.contains(text))
                #expect(run.output.split(separator: "\n").count == (state == nil ? 1 : 2))
            }
        }
        let both = try signet(["enable", "--account", "alice", "--keyring", "--no-keyring"])
        #expect(both.code == .usage)
        let script = answering(.done(DoneAnswer(state: .valid, keyring: .passwordChanged)))
        let json = try signet(["enable", "--account", "alice", "--json"], [script])
        #expect(try json.document("enabled")["keyring"] as? String == "password-changed")
    }

    @Test("readers shows a table, and says where nothing is")
    func readers() throws {
        let script = answering(.reader(sampleReader), .done(DoneAnswer()))
        let run = try signet(["readers"], [script])
        #expect(run.code == .done)
        #expect(
            run.output.contains(
                "usb-1  Quick\\x1b[2J  quick   press  5       identify, host-matching"))
        let json = try signet(["readers", "--json"], [script]).document("readers")
        let readers = json["readers"] as? [[String: Any]]
        #expect(readers?.first?["features"] as? [String] == ["identify", "host-matching"])
        #expect(readers?.first?["name"] as? String == "Quick\u{1B}[2J")
        let none = try signet(["readers"], [answering(.done(DoneAnswer()))])
        #expect(none.output.contains("no fingerprint reader was found"))
    }
}
