// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

@Suite("the destination of a grant") struct SSHDestinationTests {
    private let digits = String(repeating: "A", count: 43)

    private func parsed(_ text: String) -> SSHDestination? { SSHDestination(Bytes(text.utf8)) }

    @Test("is a host key's fingerprint, or a namespace")
    func accepted() throws {
        for text in [
            "SHA256:" + digits, "SHA256:" + digits.dropLast(2) + "+/", "namespace:git",
            "namespace:a@b.example",
        ] {
            #expect(try #require(parsed(text)).text == Bytes(text.utf8))
        }
    }

    @Test("is nothing else, nor longer, shorter or with what could pass for other words")
    func refused() {
        for text in [
            "", "SHA256:", "SHA256:" + digits.dropLast(), "SHA256:" + digits + "A",
            "SHA256:" + digits.dropLast() + "=", "SHA256:" + digits.dropLast() + " ",
            "MD5:" + digits, "sha256:" + digits, " SHA256:" + digits, "namespace:",
            "namespace:a b", "namespace:a\n", "namespace:a\u{7F}", "git", "server.example",
            "namespace:" + String(repeating: "a", count: 129),
        ] {
            #expect(parsed(text) == nil, "\(text)")
        }
    }

    @Test("and number and time are checked when a request is read")
    func request() throws {
        let destination = try #require(parsed("namespace:git"))
        func packet(_ signatures: UInt32, _ seconds: UInt32) throws -> Bytes {
            try Request.sshAllow(
                SSHAllowRequest(
                    account: "alice", timeoutMilliseconds: 1, key: .sample(0..<16),
                    destination: destination, signatures: signatures, seconds: seconds)
            ).encoded()
        }
        _ = try Request(decoding: packet(100, 60))
        for (signatures, seconds): (UInt32, UInt32) in [(0, 1), (101, 1), (1, 0), (1, 61)] {
            let bytes = try packet(signatures, seconds)
            #expect(throws: WireFault.malformedValue) { try Request(decoding: bytes) }
        }
    }
}
