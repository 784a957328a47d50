// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("Altered frames")
struct MutationTests {
    @Test("are refused, or read as exactly what they say", arguments: 0..<8 as Range<UInt64>)
    func mutated(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        for _ in 0..<4_000 {
            guard let sample = sampleFrames.randomElement(using: &random) else { break }
            var frame = sample.frame
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&frame, &random) }
            if sample.isRequest, let request = try? Request(decoding: frame) {
                #expect(try request.encoded() == frame)
            }
            if !sample.isRequest, let answer = try? Answer(decoding: frame) {
                #expect(try answer.encoded() == frame)
            }
        }
    }

    @Test("random bytes behind a good header never trap", arguments: 0..<4 as Range<UInt64>)
    func noise(seed: UInt64) {
        var random = Seeded(seed: seed &+ 100)
        for _ in 0..<4_000 {
            let count = Int.random(in: 0...40, using: &random)
            let body = (0..<count).map { _ in UInt8.random(in: 0...99, using: &random) }
            let kind = UInt8.random(in: 0...152, using: &random)
            _ = accepts([1, kind] + body, isRequest: true)
            _ = accepts([1, kind] + body, isRequest: false)
        }
    }

    private func mutate(_ frame: inout Bytes, _ random: inout Seeded) {
        guard !frame.isEmpty else { return }
        let index = Int.random(in: 0..<frame.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: frame[index] = UInt8.random(in: 0...255, using: &random)
        case 1: frame[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: frame.remove(at: index)
        case 3: frame.insert(UInt8.random(in: 0...255, using: &random), at: index)
        default: frame.removeLast(frame.count - index)
        }
    }
}
