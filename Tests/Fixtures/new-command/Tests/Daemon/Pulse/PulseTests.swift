// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the pulse") struct PulseTests {
        @Test("is told to anyone, as often as asked")
        func told() throws {
            let fixture = try DaemonFixture()
            let client = try fixture.client(.bin)
            #expect(try client.ask(.pulse(beats: 2)).done != nil)
            let beats = client.heard.compactMap { $0.own(PulseAnswer.self) }
            #expect(beats.count == 2 && beats.allSatisfy { $0.seconds > 0 })
        }

        @Test("is not told more often than the protocol allows")
        func refused() throws {
            var frame = try Request.pulse(beats: 9).encoded()
            frame[frame.count - 1] = 10
            #expect(throws: WireFault.malformedValue) { try Request(decoding: frame) }
        }
    }
}
