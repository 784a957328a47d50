// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization
import Testing

@testable import HTTPServer

@Suite("Token buckets by name")
struct TokenBucketsTests {
    private typealias Buckets = TokenBuckets<Int>
    private let seconds = SharedSeconds()
    private let buckets: TokenBuckets<Int>

    init() {
        let seconds = seconds
        buckets = TokenBuckets(
            clock: Clock(
                boot: { "test" }, sinceBoot: { .seconds(seconds.now) },
                wallSeconds: { seconds.now }))
    }

    private func isTaken(_ requests: Buckets.Request...) -> Bool {
        do throws(TooManyRequests) {
            _ = try buckets.take(requests)
            return true
        } catch { return false }
    }

    private func request(_ name: Int, perMinute: Int = 2, crowd: Int? = 0) -> Buckets.Request {
        Buckets.Request(name, perMinute: perMinute, crowd: crowd)
    }

    @Test("give a token of each that is asked for, or of none")
    func several() {
        #expect(isTaken(request(1), request(2)))
        #expect(isTaken(request(1)))
        for _ in 0..<5 { #expect(!isTaken(request(1), request(2))) }
        #expect(isTaken(request(2)))
        #expect(!isTaken(request(2)))
        #expect(isTaken(request(3, perMinute: 1)))
        #expect(throws: TooManyRequests(seconds: 61)) {
            try buckets.take([request(1), request(3, perMinute: 1)])
        }
        #expect(throws: TooManyRequests(seconds: 31)) { try buckets.take([request(1)]) }
    }

    @Test("do not grow with any number of names, and are shared when there is no space")
    func crowds() {
        #expect(isTaken(request(-1, perMinute: 3)))
        for name in 0..<40_000 { _ = isTaken(request(name, crowd: name % 8)) }
        #expect(buckets.count == 16_384 + 8)
        // The first of them has its own; later ones share what the others have used up.
        #expect(isTaken(request(-1, perMinute: 3)))
        #expect(!isTaken(request(50_000, crowd: 3)))
        #expect(isTaken(request(50_000, crowd: 9)))
        // What shares with no one is not counted then, and takes no room.
        for _ in 0..<10 { #expect(isTaken(request(50_001, crowd: nil))) }
        #expect(buckets.count == 16_384 + 9)
        seconds.pass(60)
        #expect(isTaken(request(50_000, crowd: 3)))
        #expect(buckets.count == 1)
    }
}

/// A clock that a test sets.
private final class SharedSeconds: Sendable {
    private let seconds = Atomic<Int64>(0)

    var now: Int64 { seconds.load(ordering: .sequentiallyConsistent) }

    func pass(_ count: Int64) { seconds.add(count, ordering: .sequentiallyConsistent) }
}
