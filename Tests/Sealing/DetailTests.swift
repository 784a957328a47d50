// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import Sealing
import Synchronization
import Testing

@Suite("What a vault says, in other languages")
struct DetailTests {
    /// Every word of a vault that is not a library's.
    private static let errors: [VaultError] = [
        .doesNotOpen, .malformed, .trouble(.absent("why")), .trouble(.notPermitted("why")),
        .trouble(.lockout), .trouble(.anotherRoot), .trouble(.outOfSlots),
        .trouble(.platformChanged), .trouble(.noAnswer), .trouble(.failed("why")),
    ]

    @Test("is among the texts that are translated", arguments: errors)
    func known(error: VaultError) {
        let patterns = Detail.vault(Array("why".utf8)).map(\.pattern)
        let shown: Text = "\(detail: Array(error.description.utf8))"
        let asked = Mutex<[[UInt8]]>([])
        _ = shown.rendered { pattern in
            asked.withLock { $0.append(pattern) }
            return nil
        }
        let found = asked.withLock { $0 }.filter { patterns.contains($0) }
        #expect(found.count == 1, "\(error.description)")
        #expect(shown.bytes == Array(error.description.utf8))
    }
}
