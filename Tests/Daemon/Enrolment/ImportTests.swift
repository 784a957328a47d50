// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("prints of fprintd") struct ImportTests {
        private static let name = Person.daemon.account
        private static let request = Request.importPrint(account: name)
        private static let right = "virtual_device/0/7"
        private static let left = "virtual_device/0/2"

        @Test("are imported with the account's password, and work without a new scan")
        func text() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            try fixture.fprintd.add("bin", .text, .rightThumb)
            let client = try fixture.client(.daemon)
            try client.send(Self.request)
            #expect(try fixture.shownBeforePassword(to: client) == [Self.left, Self.right])
            try client.send(.password(Bytes("right".utf8)))
            let imported = try fixture.imported(by: client)
            #expect(imported.outcomes == [Self.right: .imported, Self.left: .imported])
            #expect(imported.prints.map(\.finger) == [.leftIndex, .rightIndex])
            #expect(imported.last.done == DoneAnswer(prints: 2, state: .valid))
            for id in ["one", "two"] {
                let login = try fixture.touchEach(.login(.daemon, tries: 1), with: id)
                #expect(login.assertion != nil)
            }
            // Of the other account nothing was taken.
            let stranger = try fixture.touchEach(.login(.daemon, tries: 1), with: "three")
            #expect(stranger.reason == .noMatch)
            #expect(try fixture.status(of: .bin).prints == 0)
            #expect(
                try Layout.read(fixture.fprintd.file("daemon", .text, .rightIndex))
                    == FprintdStore.genuine("daemon", .text, .rightIndex), "fprintd's are left")
        }

        @Test("without the right password nothing is imported or shown")
        func password() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.fprintd.add("daemon", .text, .rightIndex)
            let client = try fixture.client(.daemon)
            for (password, reason) in [
                ("wrong", DenialReason.noPassword), ("crash", .passwordCheckFailed),
            ] {
                try client.send(Self.request)
                #expect(try fixture.shownBeforePassword(to: client) == [Self.right])
                try client.send(.password(Bytes(password.utf8)))
                let answers = try client.rest()
                #expect(answers.map(\.reason) == [reason])
            }
            #expect(try fixture.client(.bin).ask(Self.request) == .denial(Denial(.notPermitted)))
            #expect(try fixture.status(of: .daemon).prints == 0)
        }

        @Test(
            "are shown with the day on which fprintd wrote them, and by no name but the account's")
        func dates() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.fprintd.add("daemon", .text, .rightIndex)
            try fixture.fprintd.add("bin", .text, .rightThumb)
            let file = fixture.fprintd.file("daemon", .text, .rightIndex)
            var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
            times.append(times[0])
            try #require(unsafe utimensat(AT_FDCWD, file, times, 0) == 0)
            let client = try fixture.client(.daemon)
            try client.send(Self.request)
            #expect(try client.next() == .of(ChangeForecastAnswer()))
            let shown = ImportedPrintAnswer(
                finger: .rightIndex, since: 1_000_000_000, outcome: nil,
                place: Bytes(Self.right.utf8))
            #expect(try client.next() == .importedPrint(shown))
            #expect(try client.isAskedPassword(of: Self.name))
            // To whom the account is not, nothing is shown.
            #expect(try fixture.client(.bin).ask(Self.request) == .denial(Denial(.notPermitted)))
        }

        @Test("a second time they are there already, and nothing changes")
        func again() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            #expect(try fixture.importPrints().last.done?.prints == 2)
            let before = try fixture.status(of: .daemon)
            let again = try fixture.importPrints()
            #expect(again.outcomes == [Self.right: .known, Self.left: .known])
            #expect(again.last.done == DoneAnswer(prints: 2, state: .valid))
            #expect(try fixture.status(of: .daemon) == before)
            // Deleted here and not there, one comes back; the other stays as it is.
            _ = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            let back = try fixture.importPrints()
            #expect(back.outcomes == [Self.right: .known, Self.left: .imported])
        }

        @Test("if fprintd stores none, there is nothing to import")
        func nothing() throws {
            let fixture = try DaemonFixture([.text])
            let none = try fixture.importPrints()
            #expect(none.prints.isEmpty)
            #expect(none.last.done == DoneAnswer(prints: 0, state: CredentialState.none))
            try fixture.fprintd.add("bin", .text, .rightThumb)
            #expect(try fixture.importPrints().prints.isEmpty)
            #expect(Layout.entries(of: fixture.state + "/private/accounts").isEmpty)
        }

        @Test("on a reader that stores prints itself, only those that it has are imported")
        func storage() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.keepOnReader("one", "three")
            try fixture.fprintd.add("daemon", .storage, .rightIndex, .leftIndex)
            try fixture.fprintd.add("bin", .storage, .rightThumb)
            let imported = try fixture.importPrints()
            #expect(
                imported.outcomes == [
                    "virtual_device_storage/0/7": .imported,
                    "virtual_device_storage/0/2": .notOnReader,
                ])
            #expect(imported.last.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.login(.daemon, with: "three").reason == .noMatch)
            // What another account imports from the same reader ends no login.
            #expect(try fixture.importPrints(.bin).last.done?.state == .valid)
            for (person, id) in [(Person.daemon, "one"), (.bin, "three")] {
                #expect(try fixture.login(person, with: id).assertion != nil)
            }
            #expect(try fixture.stored() == ["one", "three"])
            // It is covered like one that was enrolled here.
            try fixture.change { $0 + ["stranger"] }
            #expect(try fixture.ask(.login(.daemon)).denial?.cause == .fingerAddedOnReader)
        }

        @Test("they vouch for no finger that was put on the reader after login was turned on")
        func notBlessed() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            try fixture.change { $0 + ["two"] }
            try fixture.fprintd.add("daemon", .storage, .leftIndex)
            let imported = try fixture.importPrints()
            #expect(imported.outcomes == ["virtual_device_storage/0/2": .imported])
            #expect(
                imported.last.done == DoneAnswer(prints: 2, state: .invalidated),
                "\(imported.last)")
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
        }

        @Test("are a change of fingers: secrets end, and what was switched off stays off")
        func change() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .leftThumb, as: "thumb")
            #expect(try fixture.client().keep([1, 2, 3], "mail").done != nil)
            try fixture.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let generation = try fixture.status(of: .daemon).generation
            #expect(
                try fixture.importPrints().last.done
                    == DoneAnswer(prints: 3, state: .valid, secrets: 1))
            #expect(try fixture.status(of: .daemon).generation == generation + 2)
            #expect(try fixture.refusal("mail") == .secretStale)
            for finger in [Finger.rightIndex, .leftIndex] {
                _ = try fixture.ask(.delete(account: Self.name, finger: finger))
            }
            #expect(try fixture.ask(.disable(account: Self.name)).done?.state == .disabled)
            #expect(
                try fixture.importPrints().last.done == DoneAnswer(prints: 3, state: .disabled))
            #expect(try fixture.ask(.login(.daemon)).reason == .notEnabled)
        }

        @Test("take no other print's place, and no more fingers than there may be")
        func room() throws {
            let fixture = try DaemonFixture([.text], configuration: "[enrolment]\nfingers = 2\n")
            try fixture.enrol(.daemon, .leftIndex, as: "mine")
            try fixture.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let imported = try fixture.importPrints()
            #expect(imported.outcomes == [Self.right: .imported, Self.left: .fingerKnown])
            let mine = try fixture.touchEach(.login(.daemon, tries: 1), with: "mine")
            #expect(mine.assertion != nil)
            let theirs = try fixture.touchEach(.login(.daemon, tries: 1), with: "two")
            #expect(theirs.reason == .noMatch)
            // The same print under another finger's name is no other finger; and it is full.
            _ = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            var twin = try FprintdStore.genuine("daemon", .text, .rightIndex)
            try #require(twin[25] == Finger.rightIndex.rawValue)
            twin[25] = Finger.leftThumb.rawValue
            try fixture.fprintd.write(twin, at: "daemon/virtual_device/0/1")
            try fixture.enrol(.daemon, .leftRing, as: "ring")
            let full = try fixture.importPrints()
            #expect(
                full.outcomes == [
                    "virtual_device/0/1": .duplicate, Self.left: .full, Self.right: .known,
                ])
        }

        @Test("that another account has already are not imported")
        func taken() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "three")
            try fixture.fprintd.add("bin", .text, .rightThumb)
            let imported = try fixture.importPrints(.bin)
            #expect(imported.outcomes == ["virtual_device/0/6": .fingerTaken])
            #expect(imported.last.done == DoneAnswer(prints: 0, state: CredentialState.none))
            #expect(try fixture.ask(.login(.bin)).reason == .notEnrolled)
        }

        @Test("need a reader of their kind that is there, and may be used")
        func readers() throws {
            let fixture = try DaemonFixture(
                [.text, .storage],
                configuration: "[reader]\nignore = \(DaemonFixture.storageID)\n")
            try fixture.keepOnReader("one")
            try fixture.fprintd.add("daemon", .text, .leftIndex)
            try fixture.fprintd.add("daemon", .storage, .rightIndex)
            try fixture.fprintd.write(
                FprintdStore.genuine("alice", .image, .rightIndex), at: "bin/virtual_image/0/7")
            let imported = try fixture.importPrints()
            #expect(
                imported.outcomes == [
                    Self.left: .imported, "virtual_device_storage/0/7": .noReader,
                ])
            #expect(try fixture.importPrints(.bin).outcomes == ["virtual_image/0/7": .otherAccount])
        }

        @Test("a reader that does not list its prints prevents none of the others' import")
        func failingReader() throws {
            let fixture = try DaemonFixture([.text, .storage])
            try fixture.fprintd.add("daemon", .text, .leftIndex)
            try fixture.fprintd.add("daemon", .storage, .rightIndex)
            try fixture.enrol(.bin, as: "three", on: DaemonFixture.storageID)
            // The command for the next operation: the list of the import.
            let client = try fixture.client()
            try client.send(.login(.bin, tries: 1))
            try client.wait(for: .touch)
            try fixture.storage.send(.keepAlive(true))
            try fixture.storage.send(.scan("three"))
            #expect(try client.last().assertion != nil)
            try fixture.storage.send(.proceed)
            try fixture.storage.send(.error(5))
            let imported = try fixture.importPrints()
            #expect(
                imported.outcomes == [
                    Self.left: .imported, "virtual_device_storage/0/7": .readerFailed,
                ])
        }

        @Test("a reader that is unplugged as it is asked keeps none of the others back")
        func unpluggedReader() throws {
            let fixture = try DaemonFixture([.text, .storage])
            try fixture.keepOnReader("one")
            try fixture.fprintd.add("daemon", .text, .leftIndex)
            try fixture.fprintd.add("daemon", .storage, .rightIndex)
            try fixture.enrol(.bin, as: "three", on: DaemonFixture.storageID, checking: true)
            let login = try fixture.client()
            try login.send(.login(.bin, tries: 1))
            try login.wait(for: .touch)
            try fixture.storage.send(.keepAlive(true))
            try fixture.storage.send(.scan("three"))
            #expect(try login.last().assertion != nil)
            #expect(try login.confirm() == .confirmed(password: nil))
            // For the next operation, which is the list of the import.
            try fixture.storage.send(.sleep(milliseconds: 5_000))
            try fixture.storage.send(.proceed)
            let client = try fixture.client()
            try client.send(Self.request)
            #expect(try client.next() == .of(ChangeForecastAnswer()))
            guard case .importedPrint(let first) = try client.next() else {
                Issue.record("the print on the other reader comes first")
                return
            }
            #expect(first.outcome == .imported)
            try fixture.unplug(fixture.storage)
            let rest = try fixture.imported(by: client)
            #expect(rest.outcomes == ["virtual_device_storage/0/7": .noReader])
            #expect(rest.last.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try fixture.status(of: .daemon).prints == 1)
        }

        @Test("a reader that was unplugged in use, and is back, is found by the next import")
        func reader() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.keepOnReader("one")
            try fixture.fprintd.add("daemon", .storage, .rightIndex)
            try fixture.enrol(.bin, as: "three", checking: true)
            let login = try fixture.client()
            try login.send(.login(.bin, tries: 1))
            try login.wait(for: .touch)
            try fixture.unplug(fixture.storage)
            #expect(try login.last().reason == .readerRemoved)
            fixture.plugIn(fixture.storage)
            #expect(
                try fixture.importPrints().outcomes == ["virtual_device_storage/0/7": .imported])
        }

        @Test("leave a sound state wherever the daemon is killed over them")
        func killed() throws {
            let scratch = try Scratch()
            let failpoint = try Failpoint(path: scratch.at("failpoint"))
            let fixture = try DaemonFixture([.text], failpoint: failpoint)
            try fixture.fprintd.add("daemon", .text, .rightIndex, .leftIndex)
            let snapshot = try Snapshot(fixture)
            _ = try fixture.status(of: .daemon)
            failpoint.arm()
            #expect(try fixture.importPrints().last.done?.prints == 2)
            let points = failpoint.reached
            #expect(points >= 20)
            for point in stride(from: 1, through: points, by: 3) {
                let answer = try snapshot.kill(at: point, failpoint) {
                    try $0.importPrints().last
                }
                let status = try fixture.status(of: .daemon)
                #expect(status.damaged == 0 && status.prints <= 2, "\(point)")
                #expect((status.state == .valid) == (status.prints > 0), "\(point)")
                if answer != nil { #expect(status.prints == 2, "\(point)") }
                let rest = try fixture.importPrints()
                #expect(rest.last.done == DoneAnswer(prints: 2, state: .valid), "\(point)")
                let login = try fixture.touchEach(.login(.daemon, tries: 1), with: "one")
                #expect(login.assertion != nil, "\(point)")
            }
        }
    }
}
