// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SSHProtocol
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
            #expect(try #require(parsed(text)).bytes == Bytes(text.utf8))
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

    @Test("and number and time are checked when a request is written, and when it is read")
    func request() throws {
        let destination = try #require(parsed("namespace:git"))
        func packet(_ signatures: UInt32, _ seconds: UInt32) throws -> Bytes {
            var frame = FrameWriter(kind: SSHAllowRequest.verb.rawValue)
            try frame.put(accountName: "alice")
            try frame.put(.timeoutMilliseconds, number: UInt32(1))
            try frame.put(.sshKeyID, SSHKeyID.sample(0..<16))
            try frame.put(.sshDestination, destination.bytes)
            try frame.put(.sshSignatures, number: signatures)
            try frame.put(.sshSeconds, number: seconds)
            return frame.bytes
        }
        func request(_ signatures: UInt32, _ seconds: UInt32) -> Request {
            .sshAllow(
                SSHAllowRequest(
                    account: "alice", timeoutMilliseconds: 1, key: .sample(0..<16),
                    destination: destination, signatures: signatures, seconds: seconds))
        }
        #expect(try Request(decoding: packet(100, 60)) == request(100, 60))
        #expect(try request(100, 60).encoded() == packet(100, 60))
        for (signatures, seconds): (UInt32, UInt32) in [(0, 1), (101, 1), (1, 0), (1, 61)] {
            let bytes = try packet(signatures, seconds)
            #expect(throws: WireFault.malformedValue) { try Request(decoding: bytes) }
            #expect(throws: WireFault.malformedValue) { try request(signatures, seconds).encoded() }
        }
    }
}
