// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a finger compared for an enrolment") struct EnrolmentComparisonTests {
        private static let bin = Person.bin

        @Test("guessing locks long before the 26th finger; the right one is not even compared")
        func guessing() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            var compared = 0
            var pauses = 0
            for number in 1...25 {
                var answer = try fixture.guess("foreign\(number)", .bin)
                if answer.reason == .enrolmentPaused {
                    #expect((1...30).contains(answer.denial?.seconds ?? 0))
                    pauses += 1
                    try fixture.passTime(31)
                    answer = try fixture.guess("foreign\(number)", .bin)
                }
                if answer.reason == .cancelled { compared += 1 }
                #expect(try fixture.comparisons(of: .bin).count == compared)
            }
            #expect(compared == 20 && pauses == 3)
            #expect(try fixture.guess("alice", .bin) == .denial(Denial(.enrolmentLocked)))
            #expect(try fixture.failures(of: .daemon) == 0)
            // Another account is not kept out by it.
            #expect(try fixture.guess("foreign26", .sys).reason == .cancelled)
        }

        @Test("another account's finger comes to nothing at the end, and shows nothing before it")
        func taken() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let free = try fixture.client(.bin)
            let done = try fixture.enrolScanning("two", .bin, free)
            #expect(done.done?.prints == 1)
            let taken = try fixture.client(.bin)
            let denied = try fixture.enrolScanning("one", .bin, taken, finger: .leftThumb)
            #expect(denied == .denial(Denial(.fingerNotEnrolled)))
            let notices = { (client: TestClient) in
                client.heard.dropLast().compactMap { $0.notice?.kind }
            }
            #expect(notices(free).starts(with: notices(taken)))
            #expect(try fixture.status(of: .bin).prints == 1)
            #expect(try fixture.failures(of: .daemon) == 1, "it was alice's finger: her failure")
            #expect(try fixture.failures(of: .bin) == 0)
            #expect(try fixture.comparisons(of: .bin) == (count: 1, completions: 1))
            let alert = try #require(
                fixture.program.errors.split(separator: "\n").first { $0.contains("SIGNET_OWNER") })
            #expect(
                alert.contains("a finger of daemon was scanned while enrolling a finger for bin"))
            #expect(alert.contains("PRIORITY=1") && alert.contains("SIGNET_OWNER=daemon"))
            #expect(alert.contains("SIGNET_ACCOUNT=bin"))
            // Both are as they were, on the reader too.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.login(.bin, with: "two").assertion != nil)
        }

        @Test("after another's finger all scans are taken, whichever come, and nothing is kept")
        func takenToTheEnd() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.bin)
            try fixture.begin(.enrol(.bin), client)
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            // Another finger: this reader itself refuses one that it keeps.
            let denied = try fixture.scanEnrolment(client, as: "two")
            #expect(denied == .denial(Denial(.fingerNotEnrolled)))
            #expect(client.heard.count { $0.notice?.kind == .stage } >= 4)
            #expect(try fixture.status(of: .bin).prints == 0)
            #expect(try fixture.comparisons(of: .bin) == (count: 1, completions: 0))
            #expect(try fixture.failures(of: .daemon) == 1)
            // Nothing of it stays on the reader: it can be enrolled there again.
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done != nil)
        }

        @Test("the user's own fingers between guesses reset nothing")
        func alternating() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            #expect(try fixture.guess("foreign1", .bin).reason == .cancelled)
            #expect(try fixture.enrolScanning("own", .bin, fixture.client(.bin)).done != nil)
            #expect(try fixture.guess("foreign2", .bin).reason == .cancelled)
            #expect(try fixture.comparisons(of: .bin) == (count: 2, completions: 1))
            // One's own finger again is told, and tells nothing of others.
            #expect(
                try fixture.guess("own", .bin)
                    == .denial(Denial(.fingerKnown, finger: .rightIndex)))
            #expect(try fixture.comparisons(of: .bin) == (count: 2, completions: 1))
            // What was deleted stays counted.
            let client = try fixture.client(.bin)
            try fixture.begin(.delete(account: Self.bin.account, finger: nil), client)
            #expect(try client.last().done?.prints == 0)
            #expect(try fixture.comparisons(of: .bin) == (count: 2, completions: 1))
        }

        @Test("only root lifts what keeps an account from enrolling, and by saying so")
        func lifting() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            try fixture.setComparisons(20, of: .bin)
            #expect(try fixture.guess("two", .bin).reason == .enrolmentLocked)
            let client = try fixture.client(.bin)
            try fixture.begin(.unlock(account: Self.bin.account), client)
            #expect(try client.last() == .denial(Denial(.notEnrolled)))
            #expect(try fixture.guess("two", .bin).reason == .enrolmentLocked)
            // Root enrols in its place, which is neither counted nor lifts anything.
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done != nil)
            #expect(try fixture.comparisons(of: .bin).count == 20)
            try fixture.begin(.unlock(account: Self.bin.account), client)
            #expect(try client.last().done != nil, "its lockout, not this")
            let accepted = Request.passwordAccepted(
                account: Self.bin.account, service: "sudo")
            #expect(try fixture.ask(accepted).done != nil)
            #expect(try fixture.guess("three", .bin).reason == .enrolmentLocked)
            #expect(try fixture.ask(.unlock(account: Self.bin.account)).done != nil)
            #expect(try fixture.guess("three", .bin).reason == .cancelled)
            #expect(try fixture.comparisons(of: .bin) == (count: 1, completions: 0))
        }

        @Test("root lifts it for an account that has enrolled nothing, too")
        func liftingFirst() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            let unlock = Request.unlock(account: Self.bin.account)
            #expect(try fixture.ask(unlock) == .denial(Denial(.notEnrolled)))
            #expect(try fixture.guess("two", .bin).reason == .cancelled)
            #expect(try fixture.ask(unlock).done != nil)
            #expect(try fixture.comparisons(of: .bin) == (count: 0, completions: 0))
        }

        @Test("it is counted before the reader is asked, and outlives kill -9 and a lost record")
        func durable() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            let client = try fixture.client(.bin)
            try fixture.begin(.enrol(.bin), client)
            try client.wait(for: .touch)
            #expect(try fixture.comparisons(of: .bin).count == 1)
            try fixture.restart(by: SIGKILL)
            #expect(try fixture.comparisons(of: .bin).count == 1)
            #expect(try fixture.enrolScanning("two", .bin, fixture.client(.bin)).done != nil)
            #expect(try fixture.comparisons(of: .bin) == (count: 1, completions: 1))
            try fixture.restart {
                #expect(unsafe unlink(fixture.comparisonsFile(of: .bin)) == 0)
            }
            #expect(try fixture.guess("three", .bin, .leftThumb).reason == .enrolmentLocked)
            try DaemonFixture.write(
                "signet-comparisons: 1\n", to: fixture.comparisonsFile(of: .sys))
            #expect(try fixture.guess("three", .sys).reason == .enrolmentLocked)
        }

        @Test("a new owner of a uid inherits its count")
        func reusedUID() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "alice")
            try fixture.enrol(.bin, as: "two", checking: true)
            try fixture.setComparisons(20, of: .bin)
            let record = fixture.file("account", of: .bin)
            let text = try String(decoding: Layout.read(record), as: UTF8.self)
            try DaemonFixture.write(
                text.replacing("name: bin", with: "name: former"), to: record, mode: 0o600)
            let delete = Request.delete(account: Person.bin.account, finger: nil)
            #expect(try fixture.ask(delete).done != nil)
            #expect(try fixture.guess("three", .bin).reason == .enrolmentLocked)
        }

        @Test(
            "nothing is counted if other accounts' fingers could not be recognised, or no finger came"
        )
        func uncounted() throws {
            let fixture = try DaemonFixture([.storage, .text])
            // Nobody else has a finger.
            let first = try fixture.client(.bin)
            try fixture.begin(.enrol(.bin, .rightIndex, DaemonFixture.storageID), first)
            #expect(
                try fixture.scanEnrolment(first, as: "two", on: DaemonFixture.storageID).done != nil
            )
            #expect(try fixture.comparisons(of: .bin) == (count: 0, completions: 0))
            try fixture.enrol(.daemon, as: "alice", on: DaemonFixture.storageID, checking: true)
            // A reader that compares with one print reports none.
            let client = try fixture.client(.bin)
            try fixture.begin(.enrol(.bin, .leftThumb, DaemonFixture.textID), client)
            #expect(
                try fixture.scanEnrolment(client, as: "x", on: DaemonFixture.textID).done != nil)
            #expect(try fixture.comparisons(of: .bin) == (count: 0, completions: 0))
            // Taken back before a finger came.
            let other = try fixture.client(.bin)
            try fixture.begin(.enrol(.bin, .leftIndex, DaemonFixture.storageID), other)
            try other.wait(for: .touch)
            try other.send(.cancel)
            #expect(try other.last().reason == .cancelled)
            #expect(try fixture.comparisons(of: .bin) == (count: 0, completions: 0))
        }

        @Test("wherever the daemon dies over a guess, the guess is counted")
        func killed() throws {
            let scratch = try Scratch()
            let failpoint = try Failpoint(path: scratch.at("failpoint"))
            let fixture = try DaemonFixture(failpoint: failpoint)
            try fixture.enrol(.daemon, as: "alice")
            let files = [fixture.comparisonsFile(of: .bin), fixture.file("lockout", of: .daemon)]
            let lockout = try Layout.read(files[1])
            var deaths = 0
            for point in 1...200 {
                _ = unsafe unlink(files[0])
                try DaemonFixture.write(lockout, to: files[1])
                let client = try fixture.client(.bin)
                failpoint.arm(at: point)
                let answer = try? fixture.enrolScanning("alice", .bin, client)
                let wasAsked = client.heard.contains { $0.notice?.kind == .touch }
                let isPast = client.heard.contains { $0.notice?.total != nil }
                let ended = fixture.program.ended
                failpoint.arm()
                if answer == nil || ended != nil {
                    deaths += 1
                    try fixture.restart(by: SIGKILL)
                }
                let count = try fixture.comparisons(of: .bin).count
                #expect(count == 1 || !wasAsked && count == 0, "\(point)")
                if isPast { #expect(try fixture.failures(of: .daemon) == 1, "\(point)") }
                #expect(try fixture.status(of: .bin).prints == 0)
                if answer != nil { break }
            }
            #expect(deaths >= 10)
        }
    }
}

extension Request {
    fileprivate static func enrol(
        _ person: Person, _ finger: Finger = .rightIndex, _ reader: String? = nil
    ) -> Request {
        .enroll(
            account: person.account, finger: finger, readerID: reader.map { Bytes($0.utf8) })
    }
}

extension DaemonFixture {
    fileprivate func comparisonsFile(of person: Person) -> String {
        "\(state)/private/comparisons/\(person.uid)"
    }

    /// What is on disk; none where there is no file.
    fileprivate func comparisons(
        of person: Person
    ) throws -> (count: Int, completions: Int) {
        guard let bytes = try? Layout.read(comparisonsFile(of: person)) else { return (0, 0) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        func number(_ name: String) throws -> Int {
            let line = try #require(lines.first { $0.hasPrefix(name + ": ") })
            return try #require(Int(line.dropFirst(name.count + 2)))
        }
        return (try number("count"), try number("completions"))
    }

    fileprivate func setComparisons(_ count: Int, of person: Person) throws {
        try Self.write(
            "signet-comparisons: 1\ncount: \(count)\ncompletions: 0\n",
            to: comparisonsFile(of: person), mode: 0o600)
    }

    /// Asks as the account itself, and gives its password.
    fileprivate func begin(_ request: Request, _ client: TestClient) throws {
        try client.send(request)
        while let answer = try client.next() {
            if case .passwordWanted = answer { break }
        }
        try client.send(.password(Bytes("right".utf8)))
    }

    /// Has a finger compared, and gives up when the enrolment would begin; the answer.
    fileprivate func guess(
        _ id: String, _ person: Person, _ finger: Finger = .leftIndex
    ) throws -> Answer {
        let client = try client(person)
        try begin(.enrol(person, finger), client)
        while let answer = try client.next() {
            if answer.isLast { return answer }
            guard let notice = answer.notice, notice.kind == .touch else { continue }
            if notice.total == nil { try storage.send(.scan(id)) } else { try client.send(.cancel) }
        }
        throw ClientFault.ended(client.heard)
    }

    /// Enrols as the account itself, one scan for each that is wanted; the answer.
    fileprivate func enrolScanning(
        _ id: String, _ person: Person, _ client: TestClient, finger: Finger = .rightIndex
    ) throws -> Answer {
        try begin(.enrol(person, finger), client)
        while let answer = try client.next() {
            if answer.isLast { return answer }
            guard let notice = answer.notice else { continue }
            let isWanted = notice.kind == .touch || notice.kind == .stage
            if isWanted, notice.done ?? 0 < notice.total ?? 1 { try storage.send(.scan(id)) }
        }
        throw ClientFault.ended(client.heard)
    }
}
