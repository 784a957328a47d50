// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("prints of fprintd") struct ImportTests {
        private static let name = Person.daemon.bytes
        private static let request = Request.importPrint(account: name)
        private static let right = "virtual_device/0/7"
        private static let left = "virtual_device/0/2"

        @Test("are taken over with the account's password, and let in with no new scan")
        func text() throws {
            let bench = try DaemonBench([.text])
            try bench.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            try bench.fprintd.add("bin", .text, .rightThumb)
            let client = try bench.client(.daemon)
            try client.send(Self.request)
            #expect(try bench.shownBeforePassword(to: client) == [Self.left, Self.right])
            try client.send(.password(Bytes("right".utf8)))
            let imported = try bench.imported(by: client)
            #expect(imported.outcomes == [Self.right: .imported, Self.left: .imported])
            #expect(imported.prints.map(\.finger) == [.leftIndex, .rightIndex])
            #expect(imported.last.done == DoneAnswer(prints: 2, state: .valid))
            for id in ["one", "two"] {
                let login = try bench.touchEach(.login(.daemon, tries: 1), with: id)
                #expect(login.assertion != nil)
            }
            // Of the other account nothing was taken.
            let stranger = try bench.touchEach(.login(.daemon, tries: 1), with: "three")
            #expect(stranger.reason == .noMatch)
            #expect(try bench.status(of: .bin).prints == 0)
            #expect(
                try Layout.read(bench.fprintd.file("daemon", .text, .rightIndex))
                    == FprintdStore.genuine("daemon", .text, .rightIndex), "fprintd's are left")
        }

        @Test("without the right password nothing is taken over or told")
        func password() throws {
            let bench = try DaemonBench([.text])
            try bench.fprintd.add("daemon", .text, .rightIndex)
            let client = try bench.client(.daemon)
            for (password, reason) in [
                ("wrong", DenialReason.noPassword), ("crash", .passwordCheckFailed),
            ] {
                try client.send(Self.request)
                #expect(try bench.shownBeforePassword(to: client) == [Self.right])
                try client.send(.password(Bytes(password.utf8)))
                let answers = try client.rest()
                #expect(answers.map(\.reason) == [reason])
            }
            #expect(try bench.client(.bin).ask(Self.request) == .denial(Denial(.notPermitted)))
            #expect(try bench.status(of: .daemon).prints == 0)
        }

        @Test(
            "are shown with the day on which fprintd wrote them, and by no name but the account's")
        func dates() throws {
            let bench = try DaemonBench([.text])
            try bench.fprintd.add("daemon", .text, .rightIndex)
            try bench.fprintd.add("bin", .text, .rightThumb)
            let file = bench.fprintd.file("daemon", .text, .rightIndex)
            var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
            times.append(times[0])
            try #require(unsafe utimensat(AT_FDCWD, file, times, 0) == 0)
            let client = try bench.client(.daemon)
            try client.send(Self.request)
            let shown = ImportedPrintAnswer(
                finger: .rightIndex, since: 1_000_000_000, outcome: nil,
                place: Bytes(Self.right.utf8))
            #expect(try client.next() == .importedPrint(shown))
            #expect(try client.next() == .passwordWanted(account: Self.name))
            // To whom the account is not, nothing is shown.
            #expect(try bench.client(.bin).ask(Self.request) == .denial(Denial(.notPermitted)))
        }

        @Test("a second time they are there already, and nothing changes")
        func again() throws {
            let bench = try DaemonBench([.text])
            try bench.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            #expect(try bench.importPrints().last.done?.prints == 2)
            let before = try bench.status(of: .daemon)
            let again = try bench.importPrints()
            #expect(again.outcomes == [Self.right: .known, Self.left: .known])
            #expect(again.last.done == DoneAnswer(prints: 2, state: .valid))
            #expect(try bench.status(of: .daemon) == before)
            // Deleted here and not there, one comes back; the other stays as it is.
            _ = try bench.ask(.delete(account: Self.name, finger: .leftIndex))
            let back = try bench.importPrints()
            #expect(back.outcomes == [Self.right: .known, Self.left: .imported])
        }

        @Test("where fprintd keeps none, nothing is there to be taken over")
        func nothing() throws {
            let bench = try DaemonBench([.text])
            let none = try bench.importPrints()
            #expect(none.prints.isEmpty)
            #expect(none.last.done == DoneAnswer(prints: 0, state: CredentialState.none))
            try bench.fprintd.add("bin", .text, .rightThumb)
            #expect(try bench.importPrints().prints.isEmpty)
            #expect(Layout.entries(of: bench.state + "/private/accounts").isEmpty)
        }

        @Test("on a reader that keeps prints itself, only those that it has are taken over")
        func storage() throws {
            let bench = try DaemonBench([.storage])
            try bench.keepOnReader("one", "three")
            try bench.fprintd.add("daemon", .storage, .rightIndex, .leftIndex)
            try bench.fprintd.add("bin", .storage, .rightThumb)
            let imported = try bench.importPrints()
            #expect(
                imported.outcomes == [
                    "virtual_device_storage/0/7": .imported,
                    "virtual_device_storage/0/2": .notOnReader,
                ])
            #expect(imported.last.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.login(.daemon, with: "three").reason == .noMatch)
            // What another account takes over of the same reader ends nobody's login.
            #expect(try bench.importPrints(.bin).last.done?.state == .valid)
            for (person, id) in [(Person.daemon, "one"), (.bin, "three")] {
                #expect(try bench.login(person, with: id).assertion != nil)
            }
            #expect(try bench.stored() == ["one", "three"])
            // It is covered like one that was enrolled here.
            try bench.change { $0 + ["stranger"] }
            #expect(try bench.ask(.login(.daemon)).denial?.cause == .fingerAddedOnReader)
        }

        @Test("they vouch for no finger that was put on the reader after login was turned on")
        func notBlessed() throws {
            let bench = try DaemonBench([.storage])
            try bench.enrol(.daemon, as: "one")
            try bench.change { $0 + ["two"] }
            try bench.fprintd.add("daemon", .storage, .leftIndex)
            let imported = try bench.importPrints()
            #expect(imported.outcomes == ["virtual_device_storage/0/2": .imported])
            #expect(imported.last.done == DoneAnswer(prints: 2, state: .invalidated))
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.login(.daemon, with: "two").assertion != nil)
        }

        @Test("are a change of fingers: secrets end, and what was switched off stays off")
        func change() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, .leftThumb, as: "thumb")
            #expect(try bench.client().keep([1, 2, 3], "mail").done != nil)
            try bench.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let generation = try bench.status(of: .daemon).generation
            #expect(
                try bench.importPrints().last.done
                    == DoneAnswer(prints: 3, state: .valid, secrets: 1))
            #expect(try bench.status(of: .daemon).generation == generation + 2)
            #expect(try bench.refusal("mail") == .secretStale)
            for finger in [Finger.rightIndex, .leftIndex] {
                _ = try bench.ask(.delete(account: Self.name, finger: finger))
            }
            #expect(try bench.ask(.disable(account: Self.name)).done?.state == .disabled)
            #expect(
                try bench.importPrints().last.done == DoneAnswer(prints: 3, state: .disabled))
            #expect(try bench.ask(.login(.daemon)).reason == .notEnabled)
        }

        @Test("take no other print's place, and no more fingers than there may be")
        func room() throws {
            let bench = try DaemonBench([.text], configuration: "[enrolment]\nfingers = 2\n")
            try bench.enrol(.daemon, .leftIndex, as: "mine")
            try bench.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let imported = try bench.importPrints()
            #expect(imported.outcomes == [Self.right: .imported, Self.left: .fingerKnown])
            let mine = try bench.touchEach(.login(.daemon, tries: 1), with: "mine")
            #expect(mine.assertion != nil)
            let theirs = try bench.touchEach(.login(.daemon, tries: 1), with: "two")
            #expect(theirs.reason == .noMatch)
            // The same print under another finger's name is no other finger; and it is full.
            _ = try bench.ask(.delete(account: Self.name, finger: .leftIndex))
            var twin = try FprintdStore.genuine("daemon", .text, .rightIndex)
            try #require(twin[25] == Finger.rightIndex.rawValue)
            twin[25] = Finger.leftThumb.rawValue
            try bench.fprintd.write(twin, at: "daemon/virtual_device/0/1")
            try bench.enrol(.daemon, .leftRing, as: "ring")
            let full = try bench.importPrints()
            #expect(
                full.outcomes == [
                    "virtual_device/0/1": .duplicate, Self.left: .full, Self.right: .known,
                ])
        }

        @Test("that another account has already are not taken over")
        func taken() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "three")
            try bench.fprintd.add("bin", .text, .rightThumb)
            let imported = try bench.importPrints(.bin)
            #expect(imported.outcomes == ["virtual_device/0/6": .fingerTaken])
            #expect(imported.last.done == DoneAnswer(prints: 0, state: CredentialState.none))
            #expect(try bench.ask(.login(.bin)).reason == .notEnrolled)
        }

        @Test("need a reader of their kind that is there, and may be used")
        func readers() throws {
            let bench = try DaemonBench(
                [.text, .storage],
                configuration: "[reader]\nignore = \(DaemonBench.storageID)\n")
            try bench.keepOnReader("one")
            try bench.fprintd.add("daemon", .text, .leftIndex)
            try bench.fprintd.add("daemon", .storage, .rightIndex)
            try bench.fprintd.write(
                FprintdStore.genuine("alice", .image, .rightIndex), at: "bin/virtual_image/0/7")
            let imported = try bench.importPrints()
            #expect(
                imported.outcomes == [
                    Self.left: .imported, "virtual_device_storage/0/7": .noReader,
                ])
            #expect(try bench.importPrints(.bin).outcomes == ["virtual_image/0/7": .otherAccount])
        }

        @Test("a reader that does not tell what it keeps keeps none of the others back")
        func failingReader() throws {
            let bench = try DaemonBench([.text, .storage])
            try bench.fprintd.add("daemon", .text, .leftIndex)
            try bench.fprintd.add("daemon", .storage, .rightIndex)
            try bench.enrol(.bin, as: "three", on: DaemonBench.storageID)
            // The command for the next operation: the list of the import.
            let client = try bench.client()
            try client.send(.login(.bin, tries: 1))
            try client.wait(for: .touch)
            try bench.storage.send(.keepAlive(true))
            try bench.storage.send(.scan("three"))
            #expect(try client.last().assertion != nil)
            try bench.storage.send(.proceed)
            try bench.storage.send(.error(5))
            let imported = try bench.importPrints()
            #expect(
                imported.outcomes == [
                    Self.left: .imported, "virtual_device_storage/0/7": .readerFailed,
                ])
        }

        @Test("a reader that is unplugged as it is asked keeps none of the others back")
        func unpluggedReader() throws {
            let bench = try DaemonBench([.text, .storage])
            try bench.keepOnReader("one")
            try bench.fprintd.add("daemon", .text, .leftIndex)
            try bench.fprintd.add("daemon", .storage, .rightIndex)
            try bench.enrol(.bin, as: "three", on: DaemonBench.storageID, checking: true)
            let login = try bench.client()
            try login.send(.login(.bin, tries: 1))
            try login.wait(for: .touch)
            try bench.storage.send(.keepAlive(true))
            try bench.storage.send(.scan("three"))
            #expect(try login.last().assertion != nil)
            #expect(try login.confirm() == .confirmed(password: nil))
            // For the next operation, which is the list of the import.
            try bench.storage.send(.sleep(milliseconds: 5_000))
            try bench.storage.send(.proceed)
            let client = try bench.client()
            try client.send(Self.request)
            guard case .importedPrint(let first) = try client.next() else {
                Issue.record("the print on the other reader comes first")
                return
            }
            #expect(first.outcome == .imported)
            try bench.unplug(bench.storage)
            let rest = try bench.imported(by: client)
            #expect(rest.outcomes == ["virtual_device_storage/0/7": .noReader])
            #expect(rest.last.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try bench.status(of: .daemon).prints == 1)
        }

        @Test("a reader that was unplugged in use, and is back, is found by the next import")
        func reader() throws {
            let bench = try DaemonBench([.storage])
            try bench.keepOnReader("one")
            try bench.fprintd.add("daemon", .storage, .rightIndex)
            try bench.enrol(.bin, as: "three", checking: true)
            let login = try bench.client()
            try login.send(.login(.bin, tries: 1))
            try login.wait(for: .touch)
            try bench.unplug(bench.storage)
            #expect(try login.last().reason == .readerRemoved)
            bench.plugIn(bench.storage)
            #expect(
                try bench.importPrints().outcomes == ["virtual_device_storage/0/7": .imported])
        }

        @Test("leave a sound state wherever the daemon is killed over them")
        func killed() throws {
            let scratch = try Scratch()
            let failpoint = try Failpoint(path: scratch.at("failpoint"))
            let bench = try DaemonBench([.text], failpoint: failpoint)
            try bench.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let snapshot = try Snapshot(bench)
            _ = try bench.status(of: .daemon)
            failpoint.arm()
            #expect(try bench.importPrints().last.done?.prints == 2)
            let points = failpoint.reached
            #expect(points >= 20)
            for point in stride(from: 1, through: points, by: 3) {
                let answer = try snapshot.kill(at: point, failpoint) {
                    try $0.importPrints().last
                }
                let status = try bench.status(of: .daemon)
                #expect(status.damaged == 0 && status.prints <= 2, "\(point)")
                #expect((status.state == .valid) == (status.prints > 0), "\(point)")
                if answer != nil { #expect(status.prints == 2, "\(point)") }
                let rest = try bench.importPrints()
                #expect(rest.last.done == DoneAnswer(prints: 2, state: .valid), "\(point)")
                let login = try bench.touchEach(.login(.daemon, tries: 1), with: "one")
                #expect(login.assertion != nil, "\(point)")
            }
        }
    }
}
