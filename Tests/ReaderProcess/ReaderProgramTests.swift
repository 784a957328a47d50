// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import ReaderProtocol
import TestSupport
import Testing

/// The process of the readers with one virtual reader, started by the first who connects.
private final class ReaderProcessFixture {
    let scratch: Scratch
    let program: TestSupport.Program
    var socket: String { scratch.path + "/reader.sock" }
    var reader: VirtualReader { VirtualReader(path: scratch.path + "/storage") }

    init(idle: Int = 30_000) throws {
        scratch = try Scratch()
        program = try TestSupport.Program(
            Command([
                "systemd-socket-activate", "--seqpacket", "--listen", scratch.path + "/reader.sock",
                Layout.products + "/testreader", "--storage", scratch.path + "/storage",
                "--idle", String(idle),
            ]))
        try program.expectError("Listening on")
    }

    deinit { program.signal(SIGKILL) }

    func connect() throws -> ReaderClient { ReaderClient(try PacketSocket.connect(to: socket)) }
}

/// signetd's end, which says what a test wants it to.
private final class ReaderClient {
    private let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }

    func send(_ frame: [UInt8]) throws { #expect(try socket.send(frame) == .whole) }

    func send(_ question: ReaderQuestion) throws { try send(question.encoded()) }

    /// The same as soon as there is room for it; false where the connection has ended.
    func pour(_ question: ReaderQuestion) throws -> Bool {
        let (frame, deadline) = (try question.encoded(), ContinuousClock.now + .seconds(20))
        while true {
            switch try? socket.send(frame) {
            case .whole: return true
            case .wouldBlock: try #require(isWritable(socket.descriptor.number, until: deadline))
            case nil: return false
            }
        }
    }

    /// The next reply that is one; nil where the connection has ended.
    func next(within limit: Duration = .seconds(20)) throws -> ReaderReply? {
        while true {
            let reply = try anything(within: limit)
            guard reply == .alive || reply == .searching else { return reply }
        }
    }

    /// The next frame, a sign of life as well.
    func anything(within limit: Duration = .seconds(20)) throws -> ReaderReply? {
        let deadline = ContinuousClock.now + limit
        try #require(
            wait(for: socket.descriptor.number, or: -1, until: deadline) == .readable,
            "nothing was said in time")
        guard case .packet(let packet)? = try? socket.receive(limit: ReaderLimit.frame) else {
            return nil
        }
        return try ReaderReply(decoding: packet)
    }

    /// All replies up to the one that ends the request.
    func answers(to question: ReaderQuestion) throws -> [ReaderReply] {
        try send(question)
        var replies: [ReaderReply] = []
        while let reply = try next() {
            replies.append(reply)
            switch reply {
            case .done, .refused, .fault, .contents, .matched, .noMatch: return replies
            default: continue
            }
        }
        return replies
    }
}

@Suite("the process of the readers")
struct ReaderProgramTests {
    private static let id = "virtual_device_storage:0"
    private static let list = ReaderQuestion.request(.readers(lookAgain: false))
    private static let scan = ReaderQuestion.request(
        .enroll(
            EnrolmentRequest(
                finger: .rightIndex, account: "alice", reader: id, limit: .seconds(30),
                replaces: false)))

    private func isAlive(_ fixture: ReaderProcessFixture) throws -> Bool {
        try fixture.connect().answers(to: Self.list).last == .done
    }

    @Test("names its readers, and enrols as requested")
    func serves() throws {
        let fixture = try ReaderProcessFixture()
        let replies = try fixture.connect().answers(to: Self.list)
        guard case .reader(let reader)? = replies.first else {
            Issue.record("\(replies)")
            return
        }
        #expect(reader.id == Self.id && replies.last == .done)
        let client = try fixture.connect()
        try client.send(Self.scan)
        var parts: [UInt8] = []
        while let reply = try client.next() {
            switch reply {
            case .examine: try client.send(.judged(isAccepted: true))
            case .event(let event):
                let isNext =
                    if case .stage(let done, let total) = event.kind { done < total } else { false }
                if isNext || event.kind == .fingerNeeded, parts.isEmpty {
                    try fixture.reader.send(.scan("one"))
                }
            case .template(let part, _): parts += part
            case .contents(let identity):
                let template = try Template(bytes: parts)
                #expect(template.finger == .rightIndex && template.account == "alice")
                #expect(identity == reader.identity)
                return
            default: continue
            }
        }
        Issue.record("the enrolment did not end")
    }

    @Test("ends a connection that sends an unknown frame, and serves the next")
    func nonsense() throws {
        let fixture = try ReaderProcessFixture()
        let request = try Self.list.encoded()
        let nonsense: [[UInt8]] = [
            [0], Array(request.dropLast()), request + [0], [9] + request.dropFirst(),
            [UInt8](repeating: 0xff, count: 16_384),
            try ReaderReply.done.encoded(), try ReaderQuestion.judged(isAccepted: true).encoded(),
            try ReaderQuestion.template(part: [1], isLast: true).encoded(),
        ]
        for frame in nonsense {
            let client = try fixture.connect()
            try client.send(frame)
            #expect(try client.next() == nil)
        }
        let twice = try fixture.connect()
        try twice.send(Self.scan)
        try twice.send(Self.list)
        while let reply = try twice.next() { #expect(reply != .done) }
        #expect(try isAlive(fixture))
    }

    @Test("takes no template but those that belong to a request, and no more bytes than one has")
    func templates() throws {
        let fixture = try ReaderProcessFixture()
        let request = ReaderQuestion.request(.canUse(reader: Self.id))
        let broken = try fixture.connect()
        try broken.send(request)
        try broken.send(.template(part: [1, 2, 3], isLast: true))
        #expect(try broken.next() == nil)
        let endless = try fixture.connect()
        try endless.send(request)
        let part = ReaderQuestion.template(
            part: Array(repeating: 1, count: 16_000), isLast: false)
        // The other end closes in the middle of it.
        var poured = 0
        while poured < 80, try endless.pour(part) { poured += 1 }
        #expect(try endless.next() == nil)
        #expect(try isAlive(fixture))
    }

    @Test("ends a scan as soon as its connection is closed")
    func cancelled() throws {
        let fixture = try ReaderProcessFixture()
        do {
            let client = try fixture.connect()
            try client.send(Self.scan)
            while let reply = try client.next() {
                if case .examine = reply { try client.send(.judged(isAccepted: true)) }
                if case .event(let event) = reply, event.kind == .fingerNeeded { break }
            }
        }
        // The reader belongs to one scan at a time, and the first would wait for its finger.
        let next = try fixture.connect()
        try next.send(Self.scan)
        while let reply = try next.next() {
            if case .examine = reply { try next.send(.judged(isAccepted: true)) }
            if case .event(let event) = reply, event.kind == .fingerNeeded { break }
            if case .fault(let fault) = reply { Issue.record("\(fault)") }
        }
    }

    @Test("does not scan a reader whose prints were refused")
    func refused() throws {
        let fixture = try ReaderProcessFixture()
        let client = try fixture.connect()
        try client.send(Self.scan)
        while let reply = try client.next() {
            if case .examine = reply { try client.send(.judged(isAccepted: false)) }
            if case .event(let event) = reply { #expect(event.kind != .fingerNeeded) }
            if case .fault(let fault) = reply {
                #expect(fault == .cancelled)
                return
            }
        }
    }

    @Test("answers root only")
    func others() throws {
        let fixture = try ReaderProcessFixture()
        try #require(
            unsafe chmod(fixture.scratch.path, 0o755) == 0 && chmod(fixture.socket, 0o666) == 0)
        let outcome = try TestSupport.Program(
            Command([
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c",
                """
                import socket, sys
                client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                client.connect(sys.argv[1])
                client.send(bytes([1, 160, 5, 0, 1, 0]))
                client.settimeout(15)
                try:
                    said = client.recv(20000)
                except ConnectionResetError:
                    said = b""
                sys.exit(1 if said else 0)
                """, fixture.socket,
            ])
        ).expectEnd()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(try isAlive(fixture))
    }

    @Test("ends when nothing was asked for a while, and not before")
    func idle() throws {
        let fixture = try ReaderProcessFixture(idle: 300)
        let client = try fixture.connect()
        try client.send(Self.scan)
        while let reply = try client.next() {
            if case .examine = reply { try client.send(.judged(isAccepted: true)) }
            if case .event(let event) = reply, event.kind == .fingerNeeded { break }
        }
        let timer = try BootTimer(after: .milliseconds(700))
        #expect(wait(for: timer.descriptor.number, or: -1, until: .now + .seconds(5)) == .readable)
        #expect(fixture.program.ended == nil)
        withExtendedLifetime(client) {}
    }
}
