// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Foundation
import Glibc
import LoginProtocol
import Posix
import Synchronization
import Testing

/// A signetd with one reader for signet-fprint, whose verifications end when the test says so, and not
/// when they are cancelled.
final class PlayedSignetd: Sendable {
    private let listener: PacketListener
    private let calls = Mutex<[Call]>([])
    private let cancelled = DispatchSemaphore(value: 0)

    private final class Call: Sendable {
        private let socket: PacketSocket

        init(_ socket: consuming PacketSocket) { self.socket = socket }

        /// The next request of the client; nil at its end.
        func receive() -> Request? {
            var entry = pollfd(fd: socket.descriptor.number, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, 60_000) == 1,
                case .packet(let packet)? = try? socket.receive(limit: Frame.maximumLength)
            else { return nil }
            return try? Request(decoding: packet)
        }

        func send(_ answers: Answer...) {
            for answer in answers {
                guard let packet = try? answer.encoded() else { continue }
                _ = try? socket.send(packet)
            }
        }
    }

    init(at path: String) throws {
        listener = try PacketListener.listen(at: path, mode: 0o666)
        Thread.detachNewThread { [self] in
            while let call = accept() {
                Thread.detachNewThread { [self] in serve(call) }
            }
        }
    }

    private func accept() -> Call? {
        var entry = pollfd(fd: listener.descriptor.number, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 60_000) == 1, let socket = try? listener.accept() else {
            return nil
        }
        return Call(socket)
    }

    /// Serves one request after the other, as signetd does: a connection that it closes is not used again,
    /// but may have been taken for the next request before.
    private func serve(_ call: Call) {
        while let request = call.receive() { answer(request, on: call) }
    }

    private func answer(_ request: Request, on call: Call) {
        switch request.content {
        case is ReadersRequest:
            let reader = ReaderAnswer(
                readerID: Bytes("played".utf8), scan: .press, total: 5,
                name: Bytes("played".utf8), driver: Bytes("played".utf8), features: [])
            call.send(.reader(reader), .done(DoneAnswer()))
        case is DesktopClaimRequest:
            call.send(
                .of(DesktopAccountAnswer(account: Person.daemon.account, program: nil)))
        case is DesktopVerifyRequest:
            call.send(
                .of(DesktopAdmittedAnswer(finger: .rightIndex)), .notice(Notice(.touch)))
            calls.withLock { $0.append(call) }
            while let next = call.receive() {
                if next == .cancel { cancelled.signal() }
            }
        default: while call.receive() != nil {}
        }
    }

    /// Waits until one more verification was cancelled.
    func awaitCancel() throws {
        try #require(cancelled.wait(timeout: .now() + 20) == .success)
    }

    /// Ends all verifications, the first one first.
    func end() {
        for call in calls.withLock({ $0 }) { call.send(.denial(Denial(.cancelled))) }
    }
}
