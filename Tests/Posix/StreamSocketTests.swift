// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("Sockets with streams")
struct StreamSocketTests {
    private let scratch: Scratch
    private var path: String { scratch.at("socket") }

    init() throws { scratch = try Scratch() }

    @Test("bytes arrive in order, as many as there is room for, and then the end")
    func bytes() throws {
        let listener = try StreamListener.listen(at: path)
        #expect(listener.path == path)
        #expect(try listener.accept() == nil)
        do {
            let client = try StreamSocket.connect(to: path)
            guard let server = try listener.accept() else {
                throw TestFault.noFixture("a connection")
            }
            #expect(try server.receive(limit: 10) == .wouldBlock)
            #expect(try client.send([1, 2, 3]) == 3)
            #expect(try server.receive(limit: 2) == .bytes([1, 2]))
            #expect(try server.receive(limit: 2) == .bytes([3]))
            // A peer that does not read makes no one wait.
            let much = [UInt8](repeating: 7, count: 1 << 20)
            var sent = 0
            while let count = try client.send(much[...]) { sent += count }
            #expect(sent > 0)
            client.shutDown()
            var received = 0
            while case .bytes(let bytes) = try server.receive(limit: 1 << 20) {
                received += bytes.count
            }
            #expect(received == sent)
            #expect(try server.receive(limit: 1) == .end)
        }
    }

    @Test("a socket that is left over is replaced, and nothing else is")
    func replacing() throws {
        do { _ = try StreamListener.listen(at: path) }
        #expect(throws: SystemFault.self) { _ = try StreamSocket.connect(to: path) }
        let listener = try StreamListener.listen(at: path)
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(throws: SystemFault.self) { _ = try StreamListener.listen(at: path) }
        try scratch.write("file", [1])
        #expect(throws: SystemFault.self) {
            _ = try StreamListener.listen(at: scratch.at("file"))
        }
        #expect(try scratch.read("file") == [1])
        // It listens still: what looked whether it does is a connection.
        guard let probe = try listener.accept() else { throw TestFault.noFixture("a connection") }
        #expect(try probe.receive(limit: 1) == .end)
    }
}
