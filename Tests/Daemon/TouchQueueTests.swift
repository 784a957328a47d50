import Loop
import Testing
import Wire

@testable import Daemon

/// What those who wait were told, and in which order turns were given.
@ServiceActor
private final class Record {
    var told: [String: [String]] = [:]
    var turns: [String] = []
    var ended: Set<String> = []
}

@Suite("the queue at the reader", .serialized, .timeLimit(.minutes(1)))
struct TouchQueueTests {
    init() { MainLoop.runInBackground() }

    /// Asks for a turn in a task of its own, which has asked when this returns.
    @ServiceActor
    private func ask(
        _ queue: TouchQueue, _ who: String, of account: UInt32, _ record: Record
    ) async -> Task<TouchQueue.Turn, Never> {
        let task = Task { @ServiceActor in
            let turn = await queue.turn(for: Asker(who), of: account) {
                record.told[who, default: []].append(String(decoding: $0, as: UTF8.self))
            }
            if case .granted = turn { record.turns.append(who) }
            record.ended.insert(who)
            return turn
        }
        while record.told[who] == nil, !record.ended.contains(who) {
            try? await Timer.sleep(for: .zero)
        }
        return task
    }

    @Test("turns come in order, and each who waits is told whose turn it is")
    @ServiceActor
    func order() async {
        let (queue, record) = (TouchQueue(limit: 8), Record())
        let first = await ask(queue, "a", of: 1, record)
        #expect(await first.value == .granted(waited: false))
        let second = await ask(queue, "b", of: 2, record)
        let third = await ask(queue, "c", of: 3, record)
        #expect(record.turns == ["a"])
        queue.leave()
        #expect(await second.value == .granted(waited: true))
        queue.leave()
        #expect(await third.value == .granted(waited: true))
        queue.leave()
        #expect(record.turns == ["a", "b", "c"])
        #expect(record.told == ["b": ["a"], "c": ["a", "b"]])
        let later = await ask(queue, "d", of: 4, record)
        #expect(await later.value == .granted(waited: false))
    }

    @Test("one account cannot fill the queue, and has no two turns while another waits")
    @ServiceActor
    func fairness() async {
        let (queue, record) = (TouchQueue(limit: 8), Record())
        _ = await ask(queue, "a1", of: 1, record)
        let second = await ask(queue, "a2", of: 1, record)
        let third = await ask(queue, "a3", of: 1, record)
        let tooMany = await ask(queue, "a4", of: 1, record)
        #expect(await tooMany.value == .full(inFront: Bytes("a1".utf8)))
        let other = await ask(queue, "b1", of: 2, record)
        queue.leave()
        #expect(await other.value == .granted(waited: true))
        queue.leave()
        #expect(await second.value == .granted(waited: true))
        queue.leave()
        #expect(await third.value == .granted(waited: true))
        #expect(record.turns == ["a1", "b1", "a2", "a3"])
    }

    @Test("beyond the limit nobody waits; with a limit of none nobody waits at all")
    @ServiceActor
    func limit() async {
        let (queue, record) = (TouchQueue(limit: 2), Record())
        for (index, who) in ["a", "b", "c"].enumerated() {
            _ = await ask(queue, who, of: UInt32(index), record)
        }
        let late = await ask(queue, "d", of: 9, record)
        #expect(await late.value == .full(inFront: Bytes("a".utf8)))
        let (none, others) = (TouchQueue(limit: 0), Record())
        _ = await ask(none, "a", of: 1, others)
        let refused = await ask(none, "b", of: 2, others)
        #expect(await refused.value == .full(inFront: Bytes("a".utf8)))
    }

    @Test("who goes while waiting is passed over, and gives the place back")
    @ServiceActor
    func cancellation() async {
        let (queue, record) = (TouchQueue(limit: 2), Record())
        _ = await ask(queue, "a", of: 1, record)
        let gone = await ask(queue, "b", of: 2, record)
        let stays = await ask(queue, "c", of: 3, record)
        gone.cancel()
        #expect(await gone.value == .cancelled)
        let next = await ask(queue, "d", of: 4, record)
        queue.leave()
        #expect(await stays.value == .granted(waited: true))
        queue.leave()
        #expect(await next.value == .granted(waited: true))
        #expect(record.turns == ["a", "c", "d"])
    }
}

@Suite("a limited step", .serialized, .timeLimit(.minutes(1)))
struct LimitedTests {
    init() { MainLoop.runInBackground() }

    @Test("that ends in time gives its value")
    @ServiceActor
    func inTime() async {
        let (value, expired) = await limited(to: .seconds(60)) { 7 }
        #expect(value == 7 && !expired)
    }

    @Test("is cancelled when time is up, and waited for")
    @ServiceActor
    func expires() async {
        let (value, expired) = await limited(to: .milliseconds(5)) { () -> Bool in
            do { try await Timer.sleep(for: .seconds(3_600)) } catch { return true }
            return false
        }
        #expect(value && expired)
    }

    @Test("is cancelled with its caller, and that is no expiry")
    @ServiceActor
    func cancelled() async {
        let task = Task { @ServiceActor in
            await limited(to: .seconds(3_600)) { () -> Bool in
                do { try await Timer.sleep(for: .seconds(3_600)) } catch { return true }
                return false
            }
        }
        try? await Timer.sleep(for: .zero)
        task.cancel()
        let (value, expired) = await task.value
        #expect(value && !expired)
    }
}
