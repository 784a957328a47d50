// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import Synchronization
import Testing

@testable import Daemon

@Suite("what guards were told ahead") struct GuardInquiryTests {
    @Test("counts for a second from the questions on: presence, readers and lid")
    @ServiceActor
    func ages() async throws {
        let passed = Mutex(Duration.zero)
        var clock = Clock.system
        clock.sinceBoot = { .seconds(100) + passed.withLock { $0 } }
        let inquiry = GuardInquiry(
            clock: clock, list: await Ahead.begin { .success([]) },
            lid: await Ahead.begin { true }, asked: clock.sinceBoot())
        #expect(inquiry.presence == nil, "it was not judged")
        inquiry.note(.failure(Denial(.otherSeat)))
        passed.withLock { $0 = .milliseconds(999) }
        #expect(throws: Denial(.otherSeat)) { try inquiry.presence?.get() }
        #expect(await inquiry.isLidClosed() == true)
        #expect(await inquiry.readers() != nil)
        passed.withLock { $0 = .seconds(1) }
        #expect(inquiry.presence == nil)
        #expect(await inquiry.isLidClosed() == nil)
        #expect(await inquiry.readers() == nil)
    }
}
