// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol
import TestSupport
import Testing

@Suite("Key handles")
struct SSHKeyHandleTests {
    private static let handle = SSHKeyHandle(
        device: .sample(0..<16), uid: 0x0102_0304, key: .sample(16..<32))

    @Test("have one form, in which each part is what it was")
    func form() {
        let bytes = Self.handle.bytes
        #expect(bytes == [1] + Bytes(0..<16) + [1, 2, 3, 4] + Bytes(16..<32))
        #expect(SSHKeyHandle(bytes) == Self.handle)
    }

    @Test("are refused if they are shorter or longer, or of another version")
    func refused() {
        let bytes = Self.handle.bytes
        for length in 0..<bytes.count { #expect(SSHKeyHandle(Bytes(bytes.prefix(length))) == nil) }
        #expect(SSHKeyHandle(bytes + [0]) == nil)
        for version in 0...255 where version != 1 {
            #expect(SSHKeyHandle([UInt8(version)] + bytes.dropFirst()) == nil)
        }
    }

    @Test("no altered byte leaves the handle the same")
    func altered() {
        for place in 1..<SSHKeyHandle.count {
            var bytes = Self.handle.bytes
            bytes[place] ^= 0x80
            #expect(SSHKeyHandle(bytes).map { $0 == Self.handle } == false)
        }
    }
}
