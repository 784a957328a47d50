// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import Posix

@Suite("a process that is held")
struct ProcessHandleTests {
    /// A child of this process that stays, under any name.
    private func child(_ arguments: [String] = ["sleep", "1000"]) throws -> TestSupport.Program {
        try TestSupport.Program(Command(arguments))
    }

    @Test("reports parent, user and that it has no terminal")
    func facts() throws {
        let child = try child()
        let process = try ProcessHandle.holding(child.pid)
        #expect(process.pid == child.pid && !process.hasEnded)
        #expect(try process.parent() == getpid())
        #expect(try process.realUID() == getuid())
        #expect(try process.terminal() == nil)
        let own = try ProcessHandle.holding(getpid()).loginUID()
        #expect(try process.loginUID() == own)
    }

    @Test("reports its controlling terminal, which is not a virtual console")
    func terminal() throws {
        let terminal = try Terminal(Command(["sh", "-c", "echo pid $$.; read end"]))
        try terminal.expect("pid ")
        let pid = try #require(Int32(try terminal.expect(".")))
        let device = try #require(try ProcessHandle.holding(pid).terminal())
        #expect(device.major == 136 && device.virtualConsole == nil)
    }

    @Test("reports its real user if it acts as another")
    func realUser() throws {
        let child = try child(["setpriv", "--reuid", "4242", "--clear-groups", "sleep", "1000"])
        let process = try ProcessHandle.holding(child.pid)
        while try process.realUID() != 4242, child.ended == nil { sched_yield() }
        #expect(child.ended == nil)
    }

    @Test("is not confused by its own name", arguments: ["a) R 1 1 1 1", "((", ") ) )"])
    func name(_ name: String) throws {
        let scratch = try Scratch()
        let program = scratch.path + "/" + name
        try #require(unsafe symlink("/bin/sleep", program) == 0)
        let child = try child([program, "1000"])
        let process = try ProcessHandle.holding(child.pid)
        #expect(try process.parent() == getpid())
        #expect(try process.terminal() == nil)
    }

    @Test("reports nothing once it has ended, waited for or not")
    func ended() throws {
        let child = try child()
        let process = try ProcessHandle.holding(child.pid)
        child.signal(SIGKILL)
        // Until it is a zombie; then waited for.
        while !process.hasEnded { sched_yield() }
        for _ in 0..<2 {
            #expect(process.hasEnded)
            #expect(throws: SystemFault.self) { try process.parent() }
            #expect(throws: SystemFault.self) { try process.terminal() }
            #expect(throws: SystemFault.self) { try process.realUID() }
            #expect(throws: SystemFault.self) { try process.loginUID() }
            try child.expectEnd()
        }
        #expect(throws: SystemFault("pidfd_open", on: "\(child.pid)", code: ESRCH)) {
            try ProcessHandle.holding(child.pid)
        }
    }

    @Test(
        "does not exist for a number that no process has", arguments: [0, -1, Int32.min, Int32.max])
    func nobody(_ pid: Int32) {
        #expect(throws: SystemFault.self) { try ProcessHandle.holding(pid) }
    }

    @Test("is the one that connected a socket, and none where the peer has no number")
    func peer() throws {
        let pair = try PacketSocket.pair()
        let credentials = try PeerCredentials(of: pair.first.descriptor)
        let process = try ProcessHandle.holding(peerOf: pair.first.descriptor, peer: credentials)
        #expect(process.pid == getpid() && !process.hasEnded)
        #expect(throws: SystemFault.self) {
            try ProcessHandle.holding(
                peerOf: pair.first.descriptor, peer: PeerCredentials(pid: 0, uid: 0, gid: 0))
        }
    }

    @Test("of a descriptor that is not a socket is a fault")
    func noSocket() throws {
        let file = Descriptor(adopting: unsafe open("/dev/null", O_RDONLY | O_CLOEXEC))
        #expect(throws: SystemFault.self) {
            try ProcessHandle.holding(
                peerOf: file, peer: PeerCredentials(pid: getpid(), uid: 0, gid: 0))
        }
    }

    @Test(
        "is at a virtual console by major and minor number alone",
        arguments: [
            (0x401, 1), (0x43F, 63), (0x400, nil), (0x440, nil), (0x8800, nil), (0x501, nil),
        ] as [(UInt32, UInt32?)])
    func console(_ encoded: UInt32, _ console: UInt32?) {
        #expect(DeviceNumber(encoded: encoded).virtualConsole == console)
    }
}

@Suite("a file's version")
struct FileVersionTests {
    @Test("changes with each change of the file, and is nil without a file")
    func change() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/file"
        #expect(FileVersion(of: path) == nil)
        try replaceFile(path, bytes: [1])
        let first = FileVersion(of: path)
        #expect(first != nil && FileVersion(of: path) == first)
        try replaceFile(path, bytes: [2])
        #expect(FileVersion(of: path) != first)
    }
}
