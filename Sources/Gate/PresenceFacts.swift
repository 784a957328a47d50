// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Policy
import Posix
import Systemd

/// A process that is looked at. What its number says counts only while it has not ended.
package protocol HeldProcess: Sendable {
    /// Its number.
    var pid: Int32 { get }
    /// Whether it has ended: then nothing that was looked up by its number counts.
    var hasEnded: Bool { get }
    /// The number of its parent.
    func parent() throws(SystemFault) -> Int32
    /// Its controlling terminal, as the kernel says; nil if it has none.
    func terminal() throws(SystemFault) -> DeviceNumber?
    /// Its real user.
    func realUID() throws(SystemFault) -> UInt32
    /// The user that logged in; nil where that is not known.
    func loginUID() throws(SystemFault) -> UInt32?
}

extension ProcessHandle: HeldProcess {}

/// What presence is judged by: the kernel, systemd and the accounts of this machine.
///
/// Nothing that a client says. A lookup that fails throws, and whoever asked denies.
package protocol PresenceFacts: Sendable {
    /// Whether logind runs.
    var hasLogind: Bool { get }
    /// The virtual console that the screen shows, `tty1` for example; nil where there is none.
    var activeConsole: String? { get }
    /// Holds the process that has a number now.
    func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess
    /// Where systemd keeps a process.
    func place(of process: any HeldProcess) throws(SystemFault) -> ProcessOrigin
    /// A session by its id.
    func session(_ id: String) throws(SystemFault) -> LoginSession
    /// The session that a user works in, nil if there is none.
    func displaySession(of uid: UInt32) throws(SystemFault) -> LoginSession?
    /// The session in front of each seat that has one.
    func sessionsInFront() throws(SystemFault) -> [LoginSession]
    /// The name of a user, nil if the machine does not know it.
    func name(of uid: UInt32) -> Bytes?
    /// The user of a name, nil if there is none.
    func uid(named name: Bytes) -> UInt32?
    /// The user that a subordinate uid was given to, nil if it is nobody's; subuid(5).
    func owner(ofSubordinate uid: UInt32) -> UInt32?
    /// The traces of a process in a session; nil where they are not known, and all has to be looked up.
    func traces(of process: any HeldProcess, in session: String) -> PresenceTraces?
}

/// What a judgement about a program in a session was made from, as it was on disk: where it is the
/// same, the judgement would be.
package struct PresenceTraces: Equatable, Sendable {
    /// The process's control groups, as /proc/PID/cgroup has them.
    let groups: Bytes
    let realUID: UInt32
    /// The record in which logind keeps the session; it is replaced with each change.
    let session: FileStamp

    /// All of it.
    package init(groups: Bytes, realUID: UInt32, session: FileStamp) {
        self.groups = groups
        self.realUID = realUID
        self.session = session
    }
}

extension PresenceFacts {
    /// The traces of a process in a session; nil where they are not known, and all has to be looked up.
    package func traces(
        of process: any HeldProcess, in session: String
    ) -> PresenceTraces? { nil }
}

/// The facts of the machine that the daemon runs on.
package struct MachineFacts: PresenceFacts {
    /// The longest name of a console.
    private static let longestName = 64
    /// The most bytes that a process's control groups may have.
    private static let longestGroups = 8_192

    private let subordinates: SubordinateUIDs

    /// Reads subuid(5) anew when it has changed.
    package init(subordinates: SubordinateUIDs = SubordinateUIDs()) {
        self.subordinates = subordinates
    }

    package var hasLogind: Bool { LoginRecord.isKept }

    package var activeConsole: String? {
        // tty1 and a line feed; console(4).
        guard let bytes = try? readFile("/sys/class/tty/tty0/active", cap: Self.longestName),
            bytes.count <= Self.longestName, bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    package func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess {
        try ProcessHandle.holding(pid)
    }

    package func place(of process: any HeldProcess) throws(SystemFault) -> ProcessOrigin {
        try ProcessOrigin(of: process.pid)
    }

    package func session(_ id: String) throws(SystemFault) -> LoginSession {
        try LoginSession(named: id)
    }

    package func displaySession(of uid: UInt32) throws(SystemFault) -> LoginSession? {
        try LoginSession.display(of: uid)
    }

    package func sessionsInFront() throws(SystemFault) -> [LoginSession] {
        try LoginSession.inFront()
    }

    package func name(of uid: UInt32) -> Bytes? {
        guard let account = try? Account.with(uid: uid) else { return nil }
        return Bytes(account.name.utf8)
    }

    package func uid(named name: Bytes) -> UInt32? {
        guard let text = String(validating: name, as: UTF8.self) else { return nil }
        return (try? Account.named(text))?.uid
    }

    package func owner(ofSubordinate uid: UInt32) -> UInt32? { subordinates.owner(of: uid) }

    package func traces(
        of process: any HeldProcess, in session: String
    ) -> PresenceTraces? {
        let isName = session.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: false
            }
        }
        guard isName, hasLogind else { return nil }
        // Before anything is looked at: what changes while this runs shows later.
        let now = FileMoment.now()
        guard let record = FileStamp(ofFileAt: "/run/systemd/sessions/\(session)"),
            record.isSettled(at: now),
            let groups = try? readFile("/proc/\(process.pid)/cgroup", cap: Self.longestGroups),
            groups.count <= Self.longestGroups, let real = try? process.realUID(),
            !process.hasEnded
        else { return nil }
        return PresenceTraces(groups: groups, realUID: real, session: record)
    }
}
