// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import ReaderProtocol
import TestSupport
import Testing

extension DriverTests {
    /// What signetd takes of a process of the readers that is broken, or has been taken over.
    @Suite("a process of the readers that lies") struct LyingReaderTests {
        private static let reader = ReaderDescription(
            id: DaemonFixture.storageID, name: "played", driver: "virtual_device_storage",
            deviceID: "0", serial: nil, seat: "seat0", scanType: .press, enrolStages: 5,
            features: [.identify, .storage], matchesOnHost: false, temperature: .cold)

        /// What is said in place of the result of a scan that was asked for.
        enum Lie: CaseIterable, Sendable {
            case printNotAskedFor, readerNotAskedFor, lostPrintNotAskedFor, matchOfLostPrint
            case cutOff, tooLong, notAFrame, question, unaskedList, flood, otherTemplate, end
            case betterTemplate, listOfNone, signsOfLife

            private static func match(
                at index: Int = 0, on reader: String = DaemonFixture.storageID, lost: Set<Int> = []
            ) throws -> [UInt8] {
                try ReaderReply.matched(index: index, reader: reader, lost: lost).encoded()
            }

            var frames: [[UInt8]] {
                get throws {
                    let match = try Self.match()
                    return switch self {
                    case .printNotAskedFor: [try Self.match(at: 1)]
                    case .readerNotAskedFor: [try Self.match(on: DaemonFixture.textID)]
                    case .lostPrintNotAskedFor: [try Self.match(lost: [4])]
                    case .matchOfLostPrint: [try Self.match(lost: [0])]
                    case .cutOff: [match.dropLast()]
                    case .tooLong: [match + [0]]
                    case .notAFrame: [[UInt8](repeating: 0xff, count: 16_384)]
                    case .question: [try ReaderQuestion.judged(isAccepted: true).encoded()]
                    case .unaskedList: [try ReaderReply.done.encoded()]
                    case .flood:
                        Array(
                            repeating: try ReaderReply.template(
                                part: Array(repeating: 1, count: 16_000), isLast: false
                            ).encoded(), count: 80)
                    case .otherTemplate:
                        [
                            try ReaderReply.template(part: [1, 2, 3], isLast: true).encoded(),
                            match,
                        ]
                    case .end: [[]]
                    case .betterTemplate:
                        [
                            try ReaderReply.template(part: [1, 2, 3], isLast: false).encoded(),
                            match,
                        ]
                    case .listOfNone:
                        [
                            try ReaderReply.examine(
                                reader: DaemonFixture.storageID,
                                identity: LyingReaderTests.reader.identity
                            ).encoded(), match,
                        ]
                    case .signsOfLife:
                        Array(repeating: try ReaderReply.alive.encoded(), count: 20_000)
                    }
                }
            }
        }

        /// A daemon with a finger enrolled, and a played process that knows the reader.
        private func fixture(
            late: [[UInt8]] = [], _ scan: @escaping @Sendable () -> [[UInt8]]
        ) throws -> (DaemonFixture, PlayedReaderProcess) {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            let known = [
                try ReaderReply.reader(Self.reader).encoded(), try ReaderReply.done.encoded(),
            ]
            let process = try PlayedReaderProcess(in: fixture.directory, late: late) { request in
                switch request {
                case .readers: known
                case .match: scan()
                default: [[]]
                }
            }
            try fixture.restart(onReadersAt: process.path)
            return (fixture, process)
        }

        @Test(
            "gives no access, costs no attempt, and is reported as a failure",
            arguments: Lie.allCases)
        func lie(lie: Lie) throws {
            let frames = try lie.frames
            let (fixture, process) = try fixture { frames }
            defer { withExtendedLifetime(process) {} }
            let client = try fixture.client()
            #expect(try client.ask(.login(.daemon, tries: 1)).reason == .readerFailed)
            // Another process might have done better.
            #expect(client.heard.count { $0.notice?.retry == .restarted } == 1)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("can claim a match, which counts for the request alone that it was asked for")
        func claimed() throws {
            let match = try ReaderReply.matched(
                index: 0, reader: DaemonFixture.storageID, lost: []
            ).encoded()
            // Twice, and once more after the result: that is ignored.
            let (fixture, process) = try fixture { [match, match, match] }
            defer { withExtendedLifetime(process) {} }
            let client = try fixture.client()
            #expect(try client.ask(.login(.daemon, challenge: 9)).assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            #expect(try client.confirm().reason == .answerTooLate)
            // What was said twice is no other account's match.
            #expect(try fixture.ask(.login(.bin, tries: 1)).reason == .notEnrolled)
        }

        @Test("that claims a match too late has claimed nothing, for this request or the next")
        func late() throws {
            let match = try ReaderReply.matched(
                index: 0, reader: DaemonFixture.storageID, lost: []
            ).encoded()
            let begun = try ReaderReply.event(
                ReaderEvent(reader: DaemonFixture.storageID, kind: .fingerNeeded)
            ).encoded()
            let (fixture, process) = try fixture(late: [match, match]) { [begun] }
            defer { withExtendedLifetime(process) {} }
            let client = try fixture.begin()
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try client.confirm().denial != nil)
            for _ in 0..<2 {
                let next = try fixture.client()
                try next.send(.login(.daemon, tries: 1, milliseconds: 1_000))
                #expect(try next.last().reason == .timedOut)
                #expect(try next.confirm().denial != nil)
            }
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("and shows no more signs of life, is killed twice, and then the request is over")
        func mute() throws {
            let (fixture, process) = try fixture { [] }
            defer { withExtendedLifetime(process) {} }
            let begin = ContinuousClock.now
            let client = try fixture.client()
            try client.send(.verify(account: Person.daemon.account, timeoutMilliseconds: 1_000))
            #expect(try client.last(within: .seconds(60)).reason == .readerFailed)
            #expect(ContinuousClock.now - begin < .seconds(40))
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("and asks for the finger late, takes nothing from the user's time")
        func slow() throws {
            let begun = try ReaderReply.event(
                ReaderEvent(reader: DaemonFixture.storageID, kind: .fingerNeeded)
            ).encoded()
            let match = try ReaderReply.matched(
                index: 0, reader: DaemonFixture.storageID, lost: []
            ).encoded()
            let (fixture, process) = try fixture {
                usleep(1_500_000)
                return [begun, match]
            }
            defer { withExtendedLifetime(process) {} }
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1, milliseconds: 1_000))
            try client.wait(for: .touch)
            #expect(try client.last().assertion != nil)
        }

        @Test(
            "that is missing leaves the password, and says where to look in the journal")
        func absent() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            try fixture.restart(onReadersAt: fixture.directory + "/nobody.sock")
            let login = try fixture.ask(.login(.daemon)).denial
            #expect(login?.reason == .readerFailed)
            #expect(login?.subject == Detail.readerProcessEnded.bytes)
            let denial = try #require(try fixture.ask(.readers).denial)
            #expect(denial.reason == .readerFailed)
            #expect(denial.subject == Detail.readerProcessEnded.bytes)
        }

        @Test(
            "that is stopped in mid-scan is killed within seconds, and the touch is another one's")
        func stopped() throws {
            try withLogind { fixture, logind in
                let client = try fixture.begin()
                try fixture.killReaders(by: SIGSTOP)
                try logind.expect(Self.killed)
                try fixture.killReaders()
                try client.wait(for: .retry)
                try touch(client, fixture)
            }
        }

        @Test("that says nothing is not killed while it uses the processor, only once it does not")
        func working() throws {
            try withBus { fixture, bus, logind in
                try bus.setWorking(true)
                let client = try fixture.begin()
                try fixture.killReaders(by: SIGSTOP)
                // Longer than one that does nothing may be silent.
                #expect(throws: TestFault.self) {
                    try logind.expect(Self.killed, within: .seconds(15))
                }
                try bus.setWorking(false)
                try logind.expect(Self.killed)
                try fixture.killReaders()
                try client.wait(for: .retry)
                try touch(client, fixture)
            }
        }

        @Test("that was stopped before it was asked is killed, and another one serves the request")
        func stoppedBefore() throws {
            try withLogind { fixture, logind in
                try admitted(fixture)
                try fixture.killReaders(by: SIGSTOP)
                let client = try fixture.client()
                try client.send(.login(.daemon, tries: 1))
                try logind.expect(Self.killed)
                try fixture.killReaders()
                try touch(client, fixture)
            }
        }

        @Test("that is slow to start is not killed while systemd says so, and a touch counts then")
        func starting() throws {
            try withBus { fixture, bus, logind in
                try admitted(fixture)
                try bus.setStarting(true)
                let client = try asked(.login(.daemon, tries: 1), of: fixture)
                // Longer than one that runs may be silent.
                #expect(throws: TestFault.self) {
                    try logind.expect(Self.killed, within: .seconds(12))
                }
                try fixture.killReaders(by: SIGCONT)
                try touch(client, fixture)
            }
        }

        @Test("that systemd is too busy to speak of is not taken for dead, and a touch counts then")
        func unspokenOf() throws {
            try withBus { fixture, bus, logind in
                try admitted(fixture)
                bus.stop()
                let client = try asked(.login(.daemon, tries: 1), of: fixture)
                // Longer than it may be silent, and systemd after it, and than a look for readers may take.
                #expect(throws: ClientFault.self) { try client.next(within: .seconds(23)) }
                try fixture.killReaders(by: SIGCONT)
                try touch(client, fixture)
                bus.proceed()
                #expect(throws: TestFault.self) {
                    try logind.expect(Self.killed, within: .seconds(1))
                }
            }
        }

        @Test("that is slow to start does not fail in a report")
        func startingReport() throws {
            try withBus { fixture, bus, logind in
                try admitted(fixture)
                try bus.setStarting(true)
                let status = Request.status(account: Person.daemon.account)
                let client = try asked(status, of: fixture)
                #expect(throws: TestFault.self) {
                    try logind.expect(Self.killed, within: .seconds(12))
                }
                try fixture.killReaders(by: SIGCONT)
                let answers = try client.rest()
                #expect(answers.contains { $0.reader != nil }, "\(answers)")
                let said = try #require(answers.last?.status)
                #expect(said.refusal == nil && !said.readersUnknown)
            }
        }

        @Test("that is another user's, with a socket that it was handed, hears and says nothing")
        func otherUser() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            let bus = try PrivateBus(socket: fixture.directory + "/bus")
            let logind = try bus.startLogind()
            let path = fixture.directory + "/handed-on.sock"
            let impostor = try TestSupport.Program(
                Command([
                    "systemd-socket-activate", "--seqpacket", "--listen", path,
                    "setpriv", "--reuid", "\(Person.bin.uid)", "--clear-groups",
                    Layout.products + "/testreader", "--storage", fixture.storage.path,
                ]))
            defer { impostor.signal(SIGKILL) }
            try impostor.expectError("Listening on")
            // The bus is not connected yet when the impostor is found out.
            bus.stop()
            try fixture.restart(onReadersAt: path)
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .readerFailed)
            bus.proceed()
            try logind.expect("restarted signet-reader.socket")
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("that another daemon told of sleep is told that the machine does not sleep")
        func asleep() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            let socket = try PacketSocket.connect(to: fixture.directory + "/readers.sock")
            #expect(try socket.send(ReaderQuestion.request(.suspend).encoded()) == .whole)
            // Its signs of life, and the end when it is done.
            let deadline = ContinuousClock.now + .seconds(20)
            while true {
                let number = socket.descriptor.number
                try #require(wait(for: number, or: -1, until: deadline) == .readable)
                guard case .packet = try socket.receive(limit: ReaderLimit.frame) else { break }
            }
            try admitted(fixture)
        }

        @Test("that does not end what was taken back is killed, and another one serves")
        func disobedient() throws {
            try withLogind { fixture, logind in
                let client = try fixture.begin()
                try fixture.killReaders(by: SIGSTOP)
                try client.send(.cancel)
                #expect(try client.last(within: .seconds(4)).reason == .cancelled)
                try logind.expect(Self.killed)
                try fixture.killReaders()
                try admitted(fixture)
            }
        }

        @Test("that says what it was not asked for is killed")
        func killedForLies() throws {
            let match = try Lie.printNotAskedFor.frames
            let (lying, process) = try fixture { match }
            defer { withExtendedLifetime(process) {} }
            let bus = try PrivateBus(socket: lying.directory + "/bus")
            let logind = try bus.startLogind()
            try lying.restart()
            #expect(try lying.ask(.login(.daemon, tries: 1)).reason == .readerFailed)
            try logind.expect(Self.killed)
        }

        @Test("that floods the daemon when its request was taken back is killed")
        func flood() throws {
            let frames = Array(
                repeating: try ReaderReply.event(
                    ReaderEvent(reader: DaemonFixture.storageID, kind: .fingerPresent)
                ).encoded(), count: 200_000)
            let begun = try ReaderReply.event(
                ReaderEvent(reader: DaemonFixture.storageID, kind: .fingerNeeded)
            ).encoded()
            let (fixture, process) = try fixture { [begun] + frames }
            defer { withExtendedLifetime(process) {} }
            let bus = try PrivateBus(socket: fixture.directory + "/bus")
            let logind = try bus.startLogind()
            try fixture.restart()
            do {
                let client = try fixture.client()
                try client.send(.login(.daemon))
                try client.wait(for: .touch)
            }
            try logind.expect(Self.killed)
            #expect(try fixture.status(of: .daemon).prints == 1)
        }

        @Test("that is killed in mid-scan costs no attempt, and the touch is another one's")
        func killed() throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.begin()
            try fixture.killReaders()
            try client.wait(for: .retry)
            try touch(client, fixture)
        }

        /// What the bus's end receives if a process of the readers is to be killed.
        private static let killed = "killed all of signet-reader.service by 9"

        /// A daemon with a finger enrolled, and the bus's end, which is told whom to kill.
        private func withLogind(
            _ body: (DaemonFixture, TestSupport.Program) throws -> Void
        ) throws {
            try withBus { fixture, _, logind in try body(fixture, logind) }
        }

        /// The same, with the bus.
        private func withBus(
            _ body: (DaemonFixture, PrivateBus, TestSupport.Program) throws -> Void
        ) throws {
            let fixture = try DaemonFixture([.storage])
            try fixture.enrol(.daemon, as: "one")
            let bus = try PrivateBus(socket: fixture.directory + "/bus")
            let logind = try bus.startLogind()
            try fixture.restart()
            try body(fixture, bus, logind)
        }

        /// A client whose request came when the process of the readers had been stopped.
        private func asked(_ request: Request, of fixture: DaemonFixture) throws -> TestClient {
            try fixture.killReaders(by: SIGSTOP)
            let client = try fixture.client()
            try client.send(request)
            return client
        }

        /// Checks that a touch counts where it is asked for next, and that no attempt was counted.
        private func touch(_ client: TestClient, _ fixture: DaemonFixture) throws {
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            #expect(try fixture.conclude(client).assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        /// Checks the same for a login that begins now.
        private func admitted(_ fixture: DaemonFixture) throws {
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try touch(client, fixture)
        }
    }
}
