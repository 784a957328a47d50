// SPDX-License-Identifier: Apache-2.0
import Posix
import ReaderProtocol

/// Plays the process of the readers: it says what a test wants it to, right or wrong.
final class PlayedReaderProcess: Sendable {
    /// The frames that answer a request. The connection stays open after them, unless the last one is
    /// empty: then it is closed.
    typealias Script = @Sendable (ReaderRequest) -> [[UInt8]]

    let path: String
    private let ends: Ends

    /// Listens in a directory. Frames of `late` are said when a request was taken back.
    init(
        in directory: String, late: [[UInt8]] = [], _ script: @escaping Script
    ) throws {
        path = directory + "/played-readers.sock"
        let ends = Ends(try PacketSocket.pair())
        let listener = Listener(try PacketListener.listen(at: path, mode: 0o600))
        self.ends = ends
        try onThread { listener.serve(until: ends, late, script) }
    }

    deinit {
        // Each thread sees this packet, and none takes it.
        _ = try? ends.pair.first.send([0])
        PacketListener.remove(path)
    }
}

/// What ends the threads: the second one can be read when it is time.
private final class Ends: Sendable {
    let pair: PacketPair

    init(_ pair: consuming PacketPair) { self.pair = pair }

    var number: Int32 { pair.second.descriptor.number }
}

private final class Socket: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }

    var number: Int32 { socket.descriptor.number }
}

private final class Listener: Sendable {
    private let listener: PacketListener

    init(_ listener: consuming PacketListener) { self.listener = listener }

    func serve(
        until stop: Ends, _ late: [[UInt8]], _ script: @escaping PlayedReaderProcess.Script
    ) {
        while wait(for: listener.descriptor.number, or: stop.number, until: nil) == .readable {
            guard let socket = try? listener.accept() else { continue }
            let connection = Socket(socket)
            try? onThread { connection.converse(until: stop, late, script) }
        }
    }
}

extension Socket {
    /// Hears a request with its templates, answers it, and stays until the other end goes.
    fileprivate func converse(
        until stop: Ends, _ late: [[UInt8]], _ script: PlayedReaderProcess.Script
    ) {
        guard let greeting = try? ReaderReply.alive.encoded(), say(greeting) else { return }
        var asked: ReaderRequest?
        var missing = 0
        while wait(for: number, or: stop.number, until: nil) == .readable {
            guard case .packet(let packet)? = try? socket.receive(limit: ReaderLimit.frame),
                let question = try? ReaderQuestion(decoding: packet)
            else {
                for frame in late where !say(frame) { return }
                return
            }
            switch question {
            case .request(let request): (asked, missing) = (request, request.templates)
            case .template(_, let isLast): missing -= isLast ? 1 : 0
            case .judged: continue
            }
            guard let request = asked, missing == 0 else { continue }
            asked = nil
            for frame in script(request) {
                guard !frame.isEmpty, say(frame) else { return }
            }
        }
    }

    /// False where the other end is gone, or has not taken it for a while.
    private func say(_ frame: [UInt8]) -> Bool {
        let deadline = ContinuousClock.now + .seconds(5)
        while true {
            switch try? socket.send(frame) {
            case .whole: return true
            case .wouldBlock: guard isWritable(number, until: deadline) else { return false }
            case nil: return false
            }
        }
    }
}
