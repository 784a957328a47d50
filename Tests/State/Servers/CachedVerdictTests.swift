// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

@testable import State

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("A server's last yes, on disk")
struct KeptVerdictTests {
    private let verdict = Verdict(
        audience: "corp", account: "a.smith", local: "alice",
        device: .sample(0..<16), challenge: .sample(0..<32), module: .sample(32..<64),
        decision: .allow, issued: Instant(seconds: 1_800_000_000),
        expires: Instant(seconds: 1_800_000_060))

    @Test("is kept as it came, and read in one form only")
    func form() throws {
        let kept = try #require(
            CachedVerdict(
                text: verdict.encoded(), signature: [1, 2, 3], boot: bytes("b"), moment: 7))
        #expect(kept.verdict == verdict && kept.text == verdict.encoded())
        let contents = kept.encoded()
        #expect(try CachedVerdict(contents: contents) == kept)
        for length in 0..<contents.count {
            #expect(throws: LineFault.self) {
                try CachedVerdict(contents: Array(contents.prefix(length)))
            }
        }
        #expect(throws: LineFault.self) { try CachedVerdict(contents: contents + [10]) }
    }

    @Test("knows what time it is at least, as long as the machine runs")
    func time() throws {
        let kept = try #require(
            CachedVerdict(
                text: verdict.encoded(), signature: [1], boot: bytes("b"), moment: 100))
        #expect(kept.now(boot: bytes("b"), moment: 100) == 1_800_000_000)
        #expect(kept.now(boot: bytes("b"), moment: 3_700) == 1_800_003_600)
        #expect(kept.now(boot: bytes("b"), moment: 99) == 1_800_000_000)
        #expect(kept.now(boot: bytes("c"), moment: 3_700) == 1_800_000_000)
    }

    @Test("is an approval: no other verdict is kept, and no other text")
    func onlyAllow() {
        var deny = verdict
        deny.decision = .deny
        #expect(CachedVerdict(text: deny.encoded(), signature: [1]) == nil)
        #expect(CachedVerdict(text: [], signature: [1]) == nil)
        #expect(CachedVerdict(text: verdict.encoded() + [10], signature: [1]) == nil)
        var lines = LineWriter()
        lines.put("signet-kept-verdict", number: 1)
        lines.put("verdict", Base64.encode(deny.encoded(), alphabet: .url))
        lines.put("signature", Base64.encode([1], alphabet: .url))
        lines.put("boot", bytes("b"))
        lines.put("moment", number: 1)
        #expect(throws: LineFault.self) { try CachedVerdict(contents: lines.text) }
    }
}
