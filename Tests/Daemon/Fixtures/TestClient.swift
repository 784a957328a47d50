// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import Testing

/// Why a client in a test could not go on.
enum ClientFault: Error {
    /// Nothing came in time; what had come before.
    case silence([Answer])
    /// The daemon ended the connection; what had come before.
    case ended([Answer])
    case thread(Int32)
}

/// A client of the daemon that says what it is told to, right or wrong.
final class TestClient {
    private let socket: PacketSocket
    /// All that came.
    private(set) var heard: [Answer] = []
    /// Whether signs that the reader is being got ready are passed over.
    var skipsSigns = true
    private var login: AuthenticateRequest?
    /// Whether the last request was for a status, of which the signing key is a part.
    private var asksStatus = false

    /// Connects as a user: the kernel takes the credentials at that moment.
    init(to path: String, as uid: UInt32) throws {
        socket = try Self.connect(to: path, as: uid)
    }

    func send(_ request: Request) throws {
        if let asked = request.content as? AuthenticateRequest { login = asked }
        asksStatus = request.content is StatusRequest
        try send(request.encoded())
    }

    /// Has the touch of the last login confirmed, as the PAM module does.
    func confirm() throws -> Answer {
        let login = try #require(login)
        return try ask(.confirm(account: login.account, challenge: login.challenge))
    }

    /// The password that comes with the confirmation of the last login; nil where none does.
    func confirmedPassword() throws -> Bytes? {
        let answer = try confirm()
        guard case .confirmed(let password) = answer else {
            Issue.record("\(answer)")
            return nil
        }
        return password
    }

    func send(_ packet: Bytes) throws {
        let sent = try socket.send(packet)
        #expect(sent == .whole)
    }

    /// The next answer; nil at the connection's end.
    func next(within limit: Duration = .seconds(20)) throws -> Answer? {
        let deadline = ContinuousClock.now + limit
        while true {
            switch try receive() {
            case .packet(let packet):
                let answer = try Answer(decoding: packet)
                // A sign of life, which depends on how busy the machine is.
                if answer.notice?.kind == .preparing, skipsSigns { continue }
                heard.append(answer)
                // A daemon that ends meanwhile takes it no more.
                if answer.notice?.wantsAcknowledgement == true {
                    _ = try? socket.send(Request.shown.encoded())
                }
                return answer
            case .end, .tooLong: return nil
            case .wouldBlock: break
            }
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { throw ClientFault.silence(heard) }
            var waiting = pollfd(
                fd: socket.descriptor.number, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&waiting, 1, Int32(left.rounded(.up)))
        }
    }

    /// A peer that went with our packet unread resets, once; what it said can be read after that.
    private func receive() throws -> Received {
        do {
            return try socket.receive(limit: Frame.maximumLength)
        } catch let fault where fault.code == ECONNRESET {
            return try socket.receive(limit: Frame.maximumLength)
        }
    }

    /// The answers up to the one that ends the request.
    @discardableResult
    func rest(within limit: Duration = .seconds(20)) throws -> [Answer] {
        var answers: [Answer] = []
        while let answer = try next(within: limit) {
            answers.append(answer)
            if answer.isLast, !(asksStatus && answer.signingKey != nil) { return answers }
        }
        throw ClientFault.ended(heard)
    }

    /// The answer that ends the request.
    func last(within limit: Duration = .seconds(20)) throws -> Answer {
        guard let last = try rest(within: limit).last else { throw ClientFault.ended(heard) }
        return last
    }

    /// Asks, and gives the answer that ends the request.
    func ask(_ request: Request) throws -> Answer {
        try send(request)
        return try last()
    }

    /// Whether the password is asked for next, after what a change of fingers will do.
    func isAskedPassword(of account: AccountName) throws -> Bool {
        while let answer = try next() {
            if answer == .passwordWanted(account: account) { return true }
            guard answer.isForetold else { return false }
        }
        return false
    }

    /// Passes what comes until a notice of this kind.
    @discardableResult
    func wait(for kind: NoticeKind) throws -> Notice {
        while let answer = try next() {
            if let notice = answer.notice, notice.kind == kind { return notice }
            if answer.isLast { break }
        }
        throw ClientFault.ended(heard)
    }

    /// Waits until the daemon ends the connection; what it said before.
    func end(within limit: Duration = .seconds(20)) throws -> [Answer] {
        var answers: [Answer] = []
        while let answer = try next(within: limit) { answers.append(answer) }
        return answers
    }

    private static func connect(to path: String, as uid: UInt32) throws -> PacketSocket {
        let attempt = Attempt(path: path, uid: uid)
        var thread = pthread_t()
        let context = unsafe Unmanaged.passUnretained(attempt).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Attempt>.fromOpaque(context).takeUnretainedValue().run()
                return nil
            }, context)
        guard code == 0 else { throw ClientFault.thread(code) }
        pthread_join(thread, nil)
        if let fault = attempt.fault { throw fault }
        guard let descriptor = attempt.descriptor else { throw ClientFault.thread(EPERM) }
        return PacketSocket(adopting: Descriptor(adopting: descriptor))
    }
}

/// One connect(2) on a thread that has another user's ids for itself.
// SAFETY: written by that thread, read after it was joined.
private final class Attempt: @unchecked Sendable {
    private typealias SetUsers = @convention(c) (Int, UInt32, UInt32, UInt32) -> Int

    private let path: String
    private let uid: UInt32
    private(set) var descriptor: Int32?
    private(set) var fault: SystemFault?

    init(path: String, uid: UInt32) {
        self.path = path
        self.uid = uid
    }

    func run() {
        // The wrapper of libc would change the whole process.
        guard let symbol = unsafe dlsym(nil, "syscall") else { return }
        let call = unsafe unsafeBitCast(symbol, to: SetUsers.self)
        #if arch(x86_64)
        let number = 117
        #else
        let number = 147
        #endif
        guard uid == 0 || call(number, uid, uid, uid) == 0 else { return }
        do throws(SystemFault) {
            let connected = try PacketSocket.connect(to: path)
            descriptor = fcntl(connected.descriptor.number, F_DUPFD_CLOEXEC, 3)
        } catch { fault = error }
    }
}

extension Answer {
    /// Whether it is a part of what is said before a change of fingers.
    var isForetold: Bool {
        if case .print = self { return true }
        return own(ChangeEffectAnswer.self) != nil || own(ChangeForecastAnswer.self) != nil
    }
}
