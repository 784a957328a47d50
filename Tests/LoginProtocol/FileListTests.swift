// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("several files in one request")
struct FileListTests {
    private static let digest = Bytes(repeating: 9, count: 32)

    private func request(_ names: [Int]) -> Request {
        .sign(
            SignRequest(
                account: "alice", timeoutMilliseconds: 1,
                matter: .files(
                    names.map {
                        FileDigest(name: Bytes(repeating: 0x61, count: $0), digest: Self.digest)
                    })))
    }

    @Test(
        "are as many as a person can read, and more than one",
        arguments: [[0, 0], [1, 255], [200, 200], [50, 50, 50, 50, 50, 50, 50, 50]])
    func accepted(_ names: [Int]) throws {
        let frame = try request(names).encoded()
        #expect(try Request(decoding: frame) == request(names))
    }

    @Test(
        "are no fewer, no more, and have no longer names",
        arguments: [
            [], [1], [256, 1], [200, 201], [Int](repeating: 1, count: 9),
        ])
    func refused(_ names: [Int]) {
        #expect(throws: WireFault.malformedValue) { try request(names).encoded() }
    }

    /// A request as another client may send it.
    private func frame(_ list: Bytes) throws -> Bytes {
        var frame = FrameWriter(kind: SignRequest.verb.rawValue)
        try frame.put(accountName: "alice")
        try frame.put(.timeoutMilliseconds, number: UInt32(1))
        try frame.put(.use, number: SigningUse.files.rawValue)
        try frame.put(.fileList, list)
        return frame.bytes
    }

    @Test("are refused where the list is cut, has more than it says, or less")
    func malformed() throws {
        let entry = Self.digest + [3] + Bytes("a.b".utf8)
        #expect(throws: Never.self) { try Request(decoding: try frame(entry + entry)) }
        for list in [
            entry + entry.dropLast(), entry + entry + [1], entry + entry + Self.digest,
            entry + Self.digest + [255] + Bytes("abc".utf8), Bytes((entry + entry).dropFirst()),
            Bytes(repeating: 0, count: 66 * 4 + 33),
        ] {
            #expect(throws: WireFault.malformedValue, "\(list.count)") {
                try Request(decoding: try frame(list))
            }
        }
    }
}
