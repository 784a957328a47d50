// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Glibc
import LoginProtocol
import Posix
import Synchronization
import Systemd
import TestSupport

@testable import Gate

/// A process that a test says everything about.
final class PlayedProcess: HeldProcess {
    struct Facts {
        var hasEnded = false
        var parents: [Int32] = [1]
        var name = "sh"
        var terminal: DeviceNumber?
        /// The leader of its session; nil for itself.
        var terminalSession: Int32?
        var realUID: UInt32 = 0
        var loginUID: UInt32?
    }

    let pid: Int32
    private let facts: Mutex<Facts>

    init(_ pid: Int32, _ facts: Facts = Facts()) {
        self.pid = pid
        self.facts = Mutex(facts)
    }

    func change(_ change: (inout Facts) -> Void) { facts.withLock { change(&$0) } }

    var hasEnded: Bool { facts.withLock(\.hasEnded) }

    /// The next of its parents; the last one stays.
    func parent() throws(SystemFault) -> Int32 {
        try facts.withLock { facts throws(SystemFault) in
            guard !facts.hasEnded, let parent = facts.parents.first else {
                throw SystemFault("read", code: ESRCH)
            }
            if facts.parents.count > 1 { facts.parents.removeFirst() }
            return parent
        }
    }

    func name() throws(SystemFault) -> [UInt8] { try read { Array($0.name.utf8) } }
    func terminal() throws(SystemFault) -> DeviceNumber? { try read(\.terminal) }
    func terminalSession() throws(SystemFault) -> Int32 { try read { $0.terminalSession } ?? pid }
    func realUID() throws(SystemFault) -> UInt32 { try read(\.realUID) }
    func loginUID() throws(SystemFault) -> UInt32? { try read(\.loginUID) }

    private func read<Value>(
        _ fact: (Facts) -> Value
    ) throws(SystemFault) -> Value {
        try facts.withLock { facts throws(SystemFault) in
            guard !facts.hasEnded else { throw SystemFault("read", code: ESRCH) }
            return fact(facts)
        }
    }
}

/// A machine that a test says everything about. Its users are alice (1000), bob (1001) and root.
final class PlayedMachine: PresenceFacts {
    struct State {
        var hasLogind = true
        var activeConsole: String? = "tty1"
        var processes: [Int32: PlayedProcess] = [:]
        var places: [Int32: ProcessOrigin] = [:]
        var sessions: [String: LoginSession] = [:]
        var displays: [UInt32: String] = [:]
        var inFront: [String] = []
        var subordinates: [UInt32: UInt32] = [:]
        /// Called before each place is looked up.
        var looked: (@Sendable () -> Void)?
    }

    static let alice = Account(name: "alice", uid: 1000, gid: 1000, home: "/home/alice")
    static let bob = Account(name: "bob", uid: 1001, gid: 1001, home: "/home/bob")

    private let state: Mutex<State>

    init(_ change: (inout State) -> Void = { _ in }) {
        var state = State()
        change(&state)
        self.state = Mutex(state)
    }

    func change(_ change: (inout sending State) -> Void) { state.withLock { change(&$0) } }

    /// A process in a place, which is held from now on.
    @discardableResult
    func process(
        _ pid: Int32, in place: ProcessOrigin?, _ facts: PlayedProcess.Facts = .init()
    ) -> PlayedProcess {
        let process = PlayedProcess(pid, facts)
        state.withLock { state in
            state.processes[pid] = process
            state.places[pid] = place
        }
        return process
    }

    /// A client that connects now.
    func client(_ pid: Int32, uid: UInt32 = 0) -> ClientProcess {
        let process = state.withLock { $0.processes[pid] }
        return client(PeerCredentials(pid: pid, uid: uid, gid: uid), process: process)
    }

    var hasLogind: Bool { state.withLock(\.hasLogind) }
    var activeConsole: String? { state.withLock(\.activeConsole) }

    func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess {
        guard let process = state.withLock({ $0.processes[pid] }), !process.hasEnded else {
            throw SystemFault("pidfd_open", code: ESRCH)
        }
        return process
    }

    func processes() throws(SystemFault) -> [Int32] {
        state.withLock { $0.processes.keys.sorted() }
    }

    func place(of process: any HeldProcess) throws(SystemFault) -> ProcessOrigin {
        state.withLock(\.looked)?()
        guard let place = state.withLock({ $0.places[process.pid] }) else {
            throw SystemFault("sd_pid_get_unit", code: ESRCH)
        }
        return place
    }

    func session(_ id: String) throws(SystemFault) -> LoginSession {
        guard let session = state.withLock({ $0.sessions[id] }) else {
            throw SystemFault("sd_session_get_uid", code: ENXIO)
        }
        return session
    }

    func displaySession(of uid: UInt32) throws(SystemFault) -> LoginSession? {
        guard let id = state.withLock({ $0.displays[uid] }) else { return nil }
        let session = try session(id)
        return session.owner == uid ? session : nil
    }

    func sessionsInFront() throws(SystemFault) -> [LoginSession] {
        let ids = state.withLock(\.inFront)
        var sessions: [LoginSession] = []
        for id in ids { sessions.append(try session(id)) }
        return sessions
    }

    func name(of uid: UInt32) -> AccountName? {
        switch uid {
        case 0: "root"
        case 1000: "alice"
        case 1001: "bob"
        default: nil
        }
    }

    func uid(named name: AccountName) -> UInt32? {
        switch String(decoding: name.bytes, as: UTF8.self) {
        case "root": 0
        case "alice", "alias": 1000
        case "bob": 1001
        default: nil
        }
    }

    func owner(ofSubordinate uid: UInt32) -> UInt32? { state.withLock { $0.subordinates[uid] } }
}

extension Configuration {
    /// A configuration of lines below `[login]`.
    static func login(_ lines: String) throws -> Configuration {
        try Configuration(files: [("signet.conf", Array("[login]\n\(lines)\n".utf8))])
    }
}
