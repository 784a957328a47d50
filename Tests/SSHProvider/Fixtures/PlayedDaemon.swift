// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Foundation
import Glibc
import LoginProtocol
import Posix
import Synchronization
import TestSupport

/// A listener of this process that plays the daemon on one connection.
final class PlayedDaemon: Sendable {
    /// What it does when it has sent everything.
    enum Ending: Sendable {
        case close
        /// Says nothing until the other end closes.
        case hang
    }

    let path: String
    private let directory: String
    private let listener: PacketListener
    private let asked = Mutex<Bytes?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    /// Sends these packets after it has received one, the second and each later one after `pause`.
    init(_ packets: [Bytes], ending: Ending, pause milliseconds: UInt32 = 0) throws {
        var template = Array("/tmp/signet-provider.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw TestFault.system(call: "mkdtemp", subject: "/tmp", code: errno)
        }
        directory = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = directory + "/socket"
        listener = try PacketListener.listen(at: path, mode: 0o666)
        Thread.detachNewThread { [self] in
            play(packets, ending: ending, pause: milliseconds)
            ended.signal()
        }
    }

    deinit {
        _ = unsafe unlink(path)
        _ = unsafe rmdir(directory)
    }

    /// What it was asked; nil for nothing.
    func request() throws -> Request? {
        guard ended.wait(timeout: .now() + 20) == .success else {
            throw TestFault.deadline(awaited: "the end of the connection", transcript: "")
        }
        return try asked.withLock { $0 }.map { try Request(decoding: $0) }
    }

    private func play(_ packets: [Bytes], ending: Ending, pause milliseconds: UInt32) {
        guard Self.isReady(listener.descriptor.number), let socket = try? listener.accept(),
            Self.isReady(socket.descriptor.number),
            case .packet(let packet)? = try? socket.receive(limit: Frame.maximumLength)
        else { return }
        asked.withLock { $0 = packet }
        for (index, packet) in packets.enumerated() {
            if index > 0 { usleep(milliseconds * 1_000) }
            Self.send(packet, to: socket.descriptor.number)
        }
        if ending == .hang { _ = Self.isReady(socket.descriptor.number) }
    }

    /// Sends a packet of any length.
    private static func send(_ packet: Bytes, to socket: Int32) {
        while true {
            let sent = unsafe packet.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent < 0, errno == EAGAIN else { return }
            var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&entry, 1, 15_000) == 1 else { return }
        }
    }

    private static func isReady(_ number: Int32) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 15_000) == 1
    }
}
