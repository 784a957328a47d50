// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import Glibc
import LoginProtocol
import MainContext
import ReaderProtocol
import Synchronization
import TestSupport
import Testing

/// The tests with real virtual readers, one after the other: a process has one environment.
@Suite("readers", .serialized, .timeLimit(.minutes(5)))
enum ReaderTests {}

/// The virtual readers' sockets, in a directory of this process that goes with it.
enum ReaderFixture {
    static let storage = VirtualReader(path: directory + "/storage")
    static let plain = VirtualReader(path: directory + "/plain")
    static let image = VirtualImageReader(path: directory + "/image")

    static let storageDriver = "virtual_device_storage"
    static let storageID = "virtual_device_storage:0"
    static let twinID = "virtual_device_storage:0#2"
    static let plainID = "virtual_device:0"
    static let imageID = "virtual_image:0"

    /// Starts the loops, and finds the readers; they are closed when `body` is done.
    static func withReaders<Value>(_ body: (Readers) async throws -> Value) async throws -> Value {
        _ = directory
        MainLoop.runInBackground()
        let readers = await Readers()
        do {
            let value = try await body(readers)
            await readers.close()
            return value
        } catch {
            await readers.close()
            throw error
        }
    }

    /// The same with a second reader of the storage reader's kind, which cannot list.
    static func withTwin<Value>(_ body: (Readers) async throws -> Value) async throws -> Value {
        let variable = "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST"
        unsafe setenv(variable, directory + "/twin", 1)
        defer { unsafe unsetenv(variable) }
        return try await withReaders(body)
    }

    /// Begins an enrolment; returns when the reader waits for a finger.
    static func beginEnrolment(
        _ finger: Finger = .leftIndex, with readers: Readers, on reader: String = storageID
    ) async -> (log: EventLog, enrolled: Task<Template, any Error>) {
        let log = EventLog()
        let enrolled = Task {
            try await readers.enroll(
                finger, account: "alice", on: reader, observer: log.observer)
        }
        await log.wait(for: .fingerNeeded)
        return (log, enrolled)
    }

    /// Enrols by scanning `id` as often as is needed.
    static func enrol(
        _ finger: Finger = .rightIndex, as id: String, with readers: Readers,
        on reader: String = storageID, at person: VirtualReader = storage
    ) async throws -> Template {
        let (_, template) = await beginEnrolment(finger, with: readers, on: reader)
        try await person.act(.scan(id), times: 5)
        return try await template.value
    }

    private static let scratch = Mutex(try? Scratch())

    private static let directory: String = {
        let made = scratch.withLock { $0?.path } ?? "/nonexistent"
        for (variable, file) in [
            ("FP_VIRTUAL_DEVICE_STORAGE", "storage"), ("FP_VIRTUAL_DEVICE", "plain"),
            ("FP_VIRTUAL_IMAGE", "image"),
        ] {
            unsafe setenv(variable, made + "/" + file, 1)
        }
        atexit { ReaderFixture.scratch.withLock { $0 = nil } }
        return made
    }()
}

/// The events of an operation, kept and passed on to every waiter.
final class EventLog: Sendable {
    private let kept = Mutex<[ReaderEvent.Kind]>([])
    private let stream: AsyncStream<ReaderEvent.Kind>
    private let feed: AsyncStream<ReaderEvent.Kind>.Continuation

    init() {
        (stream, feed) = AsyncStream.makeStream()
    }

    var kinds: [ReaderEvent.Kind] { kept.withLock { $0 } }

    var observer: ReaderEvent.Observer {
        { [self] event in
            kept.withLock { $0.append(event.kind) }
            feed.yield(event.kind)
        }
    }

    /// Waits for an event that is not passed yet; passes all before it.
    func wait(for kind: ReaderEvent.Kind) async {
        for await event in stream where event == kind { return }
    }
}

extension VirtualReader {
    /// Sends the command from a thread that may be blocked: a test may go on where it awaited.
    @concurrent
    func act(_ command: Command, times: Int = 1) async throws {
        for _ in 0..<times { try send(command) }
    }
}
