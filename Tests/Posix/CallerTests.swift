// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("what the command waits for")
struct WaitingTests {
    @Test("can be read, or an interruption, which comes first")
    func readable() throws {
        let awaited = try PacketSocket.pair()
        let interrupts = try PacketSocket.pair()
        let number = awaited.first.descriptor.number
        let interrupting = interrupts.first.descriptor.number
        #expect(try awaited.second.send([1]) == .whole)
        #expect(wait(for: number, or: interrupting, until: nil) == .readable)
        #expect(wait(for: number, or: -1, until: nil) == .readable)
        #expect(try interrupts.second.send([1]) == .whole)
        #expect(wait(for: number, or: interrupting, until: nil) == .interrupted)
    }

    @Test("does not come: the deadline ends it, also one that has passed")
    func timedOut() throws {
        let silent = try PacketSocket.pair()
        let number = silent.first.descriptor.number
        let soon = ContinuousClock.now + .milliseconds(20)
        #expect(wait(for: number, or: -1, until: soon) == .timedOut)
        #expect(ContinuousClock.now >= soon)
        #expect(wait(for: number, or: -1, until: soon) == .timedOut)
    }

    @Test("is the other end's going, too")
    func gone() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let number = ends[0]
        defer { close(number) }
        close(ends[1])
        #expect(wait(for: number, or: -1, until: nil) == .readable)
        #expect(try readByte(from: number) == .end)
    }

    @Test("is read byte by byte")
    func bytes() throws {
        let pair = try PacketSocket.pair()
        let number = pair.first.descriptor.number
        #expect(try readByte(from: number) == .wouldBlock)
        #expect(try pair.second.send([7]) == .whole)
        #expect(try readByte(from: number) == .byte(7))
        #expect(throws: SystemFault("read", code: EBADF)) { try readByte(from: -1) }
    }
}

@Suite("files that the caller names")
struct NamedFileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("are read up to a cap, and what is longer shows as one byte more")
    func read() throws {
        try scratch.write("a", "123")
        #expect(try readFile(scratch.at("a"), cap: 3) == Array("123".utf8))
        #expect(try readFile(scratch.at("a"), cap: 2).count == 3)
        #expect(try readFile(scratch.at("a"), cap: 1).count == 2)
        #expect(throws: SystemFault("open", on: scratch.at("b"), code: ENOENT)) {
            try readFile(scratch.at("b"), cap: 1)
        }
    }

    @Test("are never overwritten, not through a link either")
    func create() throws {
        try createFile(scratch.at("a"), bytes: [1])
        #expect(throws: SystemFault("open", on: scratch.at("a"), code: EEXIST)) {
            try createFile(scratch.at("a"), bytes: [2])
        }
        #expect(unsafe symlink("nothing", scratch.at("link")) == 0)
        #expect(exists(scratch.at("link")))
        #expect(throws: SystemFault.self) { try createFile(scratch.at("link"), bytes: [2]) }
        #expect(!exists(scratch.at("nothing")))
        #expect(try scratch.read("a") == [1])
    }

    @Test("lie in a directory that is made if it is not there")
    func directory() throws {
        try makeDirectory(scratch.at("d"))
        try makeDirectory(scratch.at("d"))
        #expect(throws: SystemFault.self) { try makeDirectory(scratch.at("e/f")) }
    }

    @Test("are not terminals")
    func terminal() {
        for path in ["/dev/null", scratch.path, scratch.at("nothing")] {
            #expect(throws: SystemFault.self) { _ = try QuietTerminal.open(path) }
        }
        #expect(terminalColumns(-1) == nil)
    }
}
