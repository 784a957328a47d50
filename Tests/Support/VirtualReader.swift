// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// Plays the person at one of libfprint's virtual text readers (`FP_VIRTUAL_DEVICE…`).
///
/// Its socket is there while the reader is open. Call it from threads that may be blocked.
package struct VirtualReader: Sendable {
    /// What the person, or the hardware, does.
    package enum Command: Sendable {
        /// A finger with this id is scanned.
        case scan(String)
        /// The scan was bad: 0 unclear, 1 too short, 2 off centre, 3 lift the finger.
        case retry(Int)
        /// A finger is put on, or lifted.
        case finger(Bool)
        /// The operation fails with this `FpDeviceError`.
        case error(Int)
        /// The reader is unplugged.
        case unplug
        /// The reader's own storage gets a print. Kills the process on a reader without storage.
        case insert(String)
        /// The same with an id that need not be UTF-8.
        case insertBytes([UInt8])
        /// The reader's own storage loses a print. Kills the process on a reader without storage.
        case remove(String)
        case sleep(milliseconds: Int)
        case stages(Int)
        case scanType(String)
        case cancellation(Bool)
        /// The reader answers what it is asked without a finger (a list, a deletion) at once; it
        /// waits half a second for a command otherwise.
        case proceed
        /// The socket stays when the reader is closed or unplugged.
        case keepAlive(Bool)

        /// The command as it is sent.
        var bytes: [UInt8] {
            if case .insertBytes(let id) = self { return Array("INSERT ".utf8) + id }
            return Array(text.utf8)
        }

        private var text: String {
            switch self {
            case .scan(let id): "SCAN \(id)"
            case .retry(let code): "RETRY \(code)"
            case .finger(let present): "FINGER \(present ? 1 : 0)"
            case .error(let code): "ERROR \(code)"
            case .unplug: "UNPLUG"
            case .insert(let id): "INSERT \(id)"
            case .insertBytes: "INSERT"
            case .remove(let id): "REMOVE \(id)"
            case .sleep(let milliseconds): "SLEEP \(milliseconds)"
            case .stages(let count): "SET_ENROLL_STAGES \(count)"
            case .scanType(let type): "SET_SCAN_TYPE \(type)"
            case .cancellation(let enabled): "SET_CANCELLATION_ENABLED \(enabled ? 1 : 0)"
            case .proceed: "CONT "
            case .keepAlive(let enabled): "SET_KEEP_ALIVE \(enabled ? 1 : 0)"
            }
        }
    }

    /// The socket's path, as in the variable.
    package let path: String

    /// The reader whose socket is, or will be, at `path`.
    package init(path: String) {
        self.path = path
    }

    /// Sends the command as soon as the reader is open; throws when it is not within `limit`.
    /// A reader that is being closed forgets what it was sent: first wait until it asks for a finger.
    package func send(_ command: Command, within limit: Duration = .patience) throws(TestFault) {
        try sendWhenOpen(command.bytes, to: path, within: limit)
    }

    /// The file with which it is not found again, by a daemon of testfixture's.
    package var unpluggedMark: String { path + ".unplugged" }
    /// The reader that is found in its place, where there is a file of that name.
    package var other: VirtualReader { VirtualReader(path: path + ".other") }
}

/// Plays the person at libfprint's virtual image reader (`FP_VIRTUAL_IMAGE`).
package struct VirtualImageReader: Sendable {
    /// What the person, or the hardware, does.
    package enum Command: Sendable {
        /// A picture of a finger: grey bytes, row by row.
        case image(width: Int, height: Int, pixels: [UInt8])
        case retry(Int)
        case error(Int)
        /// Whether a finger comes and goes by itself with each image.
        case automaticFinger(Bool)
        case finger(Bool)
        case unplug

        /// The command as it is sent: two native 32-bit numbers, and the picture.
        var bytes: [UInt8] {
            switch self {
            case .image(let width, let height, let pixels):
                Self.pair(width, height) + pixels
            case .retry(let code): Self.pair(-1, code)
            case .error(let code): Self.pair(-2, code)
            case .automaticFinger(let enabled): Self.pair(-3, enabled ? 1 : 0)
            case .finger(let present): Self.pair(-4, present ? 1 : 0)
            case .unplug: Self.pair(-5, 0)
            }
        }

        private static func pair(_ first: Int, _ second: Int) -> [UInt8] {
            [first, second].flatMap { number in
                let bits = UInt32(truncatingIfNeeded: number)
                #if _endian(little)
                return (0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
                #else
                return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - $0 * 8)) }
                #endif
            }
        }
    }

    /// The socket's path, as in the variable.
    package let path: String

    /// The reader whose socket is, or will be, at `path`.
    package init(path: String) {
        self.path = path
    }

    /// Sends the commands in one connection as soon as the reader is open; throws when it is not
    /// within `limit`.
    package func send(
        _ commands: [Command], within limit: Duration = .patience
    ) throws(TestFault) {
        try sendWhenOpen(commands.flatMap(\.bytes), to: path, within: limit)
    }
}

/// Connects as soon as a process listens at `path`, notified by inotify of its appearance.
func sendWhenOpen(
    _ bytes: [UInt8], to path: String, within limit: Duration
) throws(TestFault) {
    let deadline = ContinuousClock.now + limit
    let arrivals = try Arrivals(in: Layout.directory(of: path))
    while true {
        let result = unsafe connect_stream(path)
        if result >= 0, try exchange(bytes, over: Descriptor(owning: result), deadline) { return }
        guard result >= 0 || result == -ENOENT || result == -ECONNREFUSED || result == -EAGAIN
        else {
            throw .system(call: "connect", subject: path, code: -result)
        }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw .deadline(awaited: "a reader at \(path)", transcript: "") }
        // A socket is created before it listens, and nothing reports the latter.
        arrivals.wait(within: result == -ENOENT ? left : .milliseconds(1))
    }
}

/// Writes, and waits until the reader has read it all and closed: a connection that comes while
/// another is being read makes it lose the first one's command. False when it was closed unread.
private func exchange(
    _ bytes: [UInt8], over stream: consuming Descriptor, _ deadline: ContinuousClock.Instant
) throws(TestFault) -> Bool {
    do throws(TestFault) {
        try stream.write(bytes)
    } catch .system(_, _, EPIPE), .system(_, _, ECONNRESET) {
        return false
    }
    shutdown(stream.number, Int32(SHUT_WR))
    var answer = [UInt8](repeating: 0, count: 4096)
    while stream.isReady(within: deadline - ContinuousClock.now) {
        let count = unsafe read(stream.number, &answer, answer.count)
        if count <= 0 { return count == 0 }
    }
    throw .deadline(awaited: "the reader to take a command", transcript: "")
}
