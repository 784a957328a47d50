// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@testable import Gate

@Suite("a tree of processes") struct ProcessTreeTests {
    /// A shell (10), which has started a script (20), which has started ssh (30); another shell (40).
    private let machine = PlayedMachine()
    private let shell = PlayedProcess(10, .init(parents: [1]))
    private let script = PlayedProcess(20, .init(parents: [10]))
    private let ssh = PlayedProcess(30, .init(parents: [20]))
    private let other = PlayedProcess(40, .init(parents: [1]))

    init() {
        machine.change { state in
            for process in [shell, script, ssh, other] { state.processes[process.pid] = process }
        }
    }

    private func client(_ process: PlayedProcess?, uid: UInt32 = 1000) -> ClientProcess {
        machine.client(
            PeerCredentials(pid: process?.pid ?? 0, uid: uid, gid: uid), process: process)
    }

    private func tree(_ process: PlayedProcess) throws -> ProcessTree {
        try #require(ProcessTree(below: client(process)))
    }

    @Test("has what its root has started, and the root")
    func inside() throws {
        let tree = try tree(shell)
        for process in [shell, script, ssh] {
            #expect(tree.contains(client(process), machine))
        }
    }

    @Test("has no other process, nor one whose parents are above the root")
    func outside() throws {
        #expect(try !tree(shell).contains(client(other), machine))
        #expect(try !tree(script).contains(client(shell), machine))
        #expect(try !tree(shell).contains(client(nil), machine))
        #expect(try !tree(shell).contains(client(ssh, uid: 0), machine))
    }

    @Test("ends with its root, whose number may be another process's then")
    func reused() throws {
        let tree = try tree(shell)
        shell.change { $0.hasEnded = true }
        machine.change { $0.processes[10] = PlayedProcess(10) }
        for process in [script, ssh] { #expect(!tree.contains(client(process), machine)) }
        #expect(ProcessTree(below: client(shell)) == nil)
    }

    @Test("has no process whose parent ends while it is looked up, or that ends itself")
    func racing() throws {
        let tree = try tree(shell)
        // The script ends after it was read, and the system takes ssh in.
        ssh.change { $0.parents = [20, 1] }
        #expect(!tree.contains(client(ssh), machine))
        ssh.change { $0.hasEnded = true }
        #expect(!tree.contains(client(ssh), machine))
    }

    @Test("is not followed for ever")
    func depth() throws {
        for pid: Int32 in 100..<300 {
            let process = PlayedProcess(pid, .init(parents: [pid == 100 ? 10 : pid - 1]))
            machine.change { $0.processes[pid] = process }
        }
        let last = PlayedProcess(300, .init(parents: [299]))
        #expect(try !tree(shell).contains(client(last), machine))
        let near = PlayedProcess(301, .init(parents: [120]))
        #expect(try tree(shell).contains(client(near), machine))
    }
}
