// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// The result of a desktop's verification is told before the disk is waited for, so the daemon can die
/// in between.
@Suite("a touch for a client of the bus", .timeLimit(.minutes(5)))
struct DesktopKillTests {
    @Test("stays counted if the daemon dies between its answer and the disk, and the next is fine")
    func killed() throws {
        let scratch = try Scratch()
        let failpoint = try Failpoint(path: scratch.at("failpoint"))
        let fixture = try DesktopFixture(failpoint: failpoint)
        let daemon = fixture.daemon
        let program = try fixture.program(of: .daemon)
        var isAsked = false
        func touch() throws -> Answer {
            isAsked = false
            let client = try fixture.verify(program)
            isAsked = true
            try daemon.storage.send(.scan("one"))
            return try client.last()
        }
        try daemon.setFailures(3, of: .daemon)
        let snapshot = try Snapshot(daemon)
        failpoint.arm()
        #expect(try touch().done != nil)
        #expect(try daemon.settledFailures() == 0)
        var unsettled = 0
        for point in 1...failpoint.reached {
            let answer = try snapshot.kill(at: point, failpoint, { _ in try touch() })
            let failures = try daemon.failures(of: .daemon)
            if answer?.done != nil {
                #expect([4, 0].contains(failures), "\(point): \(failures)")
                if failures == 4 { unsettled += 1 }
            } else {
                // Nothing takes back what was counted before a finger was asked for.
                let expected: [UInt32] = isAsked ? [4] : [3, 4]
                #expect(expected.contains(failures), "\(point): \(failures)")
            }
            let before = try daemon.receipts(of: .daemon).verify()
            #expect(try touch().done != nil, "\(point)")
            #expect(try daemon.settledFailures() == 0, "\(point)")
            #expect(try daemon.receipts(of: .daemon).verify() == before + 1, "\(point)")
        }
        #expect(unsettled > 0, "it did not die between the answer and the disk")
    }
}
