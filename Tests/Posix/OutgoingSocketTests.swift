// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("a socket of our own for an outgoing connection") struct OutgoingSocketTests {
    private static let kind = Int32(SOCK_STREAM.rawValue)

    @Test("is connected only while it is that socket")
    func connected() throws {
        let made = OutgoingSocket(family: AF_INET, type: Self.kind, protocol: 0)
        guard let number = made.release() else {
            Issue.record("there is no socket")
            return
        }
        let identity = try #require(OutgoingSocket.identity(number))
        #expect(!OutgoingSocket.isConnected(number, identity: identity))
        // Another file takes the number, as it may once libcurl has closed the socket.
        var pair: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Self.kind, 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        let other = try #require(OutgoingSocket.identity(pair[0]))
        #expect(other != identity)
        #expect(OutgoingSocket.isConnected(pair[0], identity: other))
        try #require(dup2(pair[0], number) == number)
        #expect(!OutgoingSocket.isConnected(number, identity: identity))
        #expect(OutgoingSocket.isConnected(number, identity: other))
        close(number)
        #expect(OutgoingSocket.identity(-1) == nil)
    }
}
