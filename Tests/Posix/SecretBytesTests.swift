// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import Testing

@Suite("secret bytes")
struct SecretBytesTests {
    @Test("a moved array is wiped, and the secret holds what it held")
    func moving() throws {
        var source: [UInt8] = [1, 2, 3]
        let secret = try SecretBytes(moving: &source)
        #expect(source.isEmpty)
        #expect(bytes(secret) == [1, 2, 3])
    }

    @Test("equality needs equal lengths and equal bytes")
    func equality() throws {
        var one: [UInt8] = [1, 2, 3]
        var same: [UInt8] = [1, 2, 3]
        var altered: [UInt8] = [1, 2, 4]
        var shorter: [UInt8] = [1, 2]
        let secret = try SecretBytes(moving: &one)
        #expect(secret.equals(try SecretBytes(moving: &same)))
        #expect(!secret.equals(try SecretBytes(moving: &altered)))
        #expect(!secret.equals(try SecretBytes(moving: &shorter)))
        #expect(constantTimeEqual([], []))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test("random secrets differ and are as long as asked, longer than a page too")
    func random() throws {
        let one = try SecretBytes.random(5000)
        #expect(one.count == 5000)
        #expect(!one.equals(try SecretBytes.random(5000)))
        #expect(bytes(one)[4900...].contains { $0 != 0 })
        #expect(try SecretBytes.random(0).count == 0)
    }

    @Test("parts are joined in their order, empty ones too")
    func joining() throws {
        let parts = try [[1, 2], [], [3], [UInt8](repeating: 4, count: 5_000)].map { part in
            var part: [UInt8] = part
            return try SecretBytes(moving: &part)
        }
        let joined = try SecretBytes(joining: parts)
        #expect(bytes(joined) == [1, 2, 3] + [UInt8](repeating: 4, count: 5_000))
        #expect(bytes(parts[0]) == [1, 2])
        #expect(try SecretBytes(joining: []).count == 0)
    }

    @Test("the pages are locked and stay out of core dumps")
    func locked() throws {
        let secret = try SecretBytes.random(32)
        let address = secret.withBytes { span in
            unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let flags = try mappingFlags(of: address)
        #expect(flags.contains("lo"))
        #expect(flags.contains("dd"))
    }

    private func bytes(_ secret: SecretBytes) -> [UInt8] {
        secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    /// The VmFlags of the mapping that holds an address; proc(5) smaps.
    private func mappingFlags(of address: UInt) throws -> [Substring] {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return [] }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        var inside = false
        while unsafe fgets(&line, 4096, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let range = text.prefix { $0 != " " }.split(separator: "-")
            if range.count == 2, let low = UInt(range[0], radix: 16),
                let high = UInt(range[1], radix: 16)
            {
                inside = low <= address && address < high
            }
            if inside && text.hasPrefix("VmFlags:") {
                return text.split(whereSeparator: { $0 == " " || $0 == "\n" })
            }
        }
        return []
    }
}
