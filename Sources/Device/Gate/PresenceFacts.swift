// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import Systemd

/// A process by which presence is judged.
///
/// Lookups by its pid are valid only while it has not ended, because the kernel may then assign the
/// pid to another process.
package protocol HeldProcess: Sendable {
    /// The process id.
    var pid: Int32 { get }
    /// Whether the process has ended.
    ///
    /// If so, everything that was looked up by its pid must be discarded.
    var hasEnded: Bool { get }
    /// Returns the pid of the parent process.
    func parent() throws(SystemFault) -> Int32
    /// Returns the name of the program, as it calls itself.
    func name() throws(SystemFault) -> [UInt8]
    /// Returns the pid of the process that leads the session of setsid(2).
    func terminalSession() throws(SystemFault) -> Int32
    /// Returns the controlling terminal according to the kernel; nil if there is none.
    func terminal() throws(SystemFault) -> DeviceNumber?
    /// Returns the real uid.
    func realUID() throws(SystemFault) -> UInt32
    /// Returns the uid that logged in (the audit login uid); nil if it is not set.
    func loginUID() throws(SystemFault) -> UInt32?
}

extension ProcessHandle: HeldProcess {}

/// The facts by which presence is judged, from the kernel, systemd and the account database.
///
/// None of them is a claim of the client. A lookup that fails throws, and the caller then denies
/// the request.
package protocol PresenceFacts: Sendable {
    /// Whether logind runs.
    var hasLogind: Bool { get }
    /// The name of the virtual console that is on the screen, such as `tty1`; nil if there is none.
    var activeConsole: String? { get }
    /// Holds the process that has this pid now.
    func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess
    /// Returns the pids of all processes that there are now.
    func processes() throws(SystemFault) -> [Int32]
    /// Returns the session, service manager or unit that a process belongs to.
    func place(of process: any HeldProcess) throws(SystemFault) -> ProcessOrigin
    /// Returns a session by its id.
    func session(_ id: String) throws(SystemFault) -> LoginSession
    /// Returns the user's display session, as logind determines it; nil if there is none.
    func displaySession(of uid: UInt32) throws(SystemFault) -> LoginSession?
    /// Returns the active session of each seat that has one.
    func sessionsInFront() throws(SystemFault) -> [LoginSession]
    /// Returns the login name of a user; nil if the machine does not know the uid.
    func name(of uid: UInt32) -> AccountName?
    /// Returns the uid of a login name; nil if there is none.
    func uid(named name: AccountName) -> UInt32?
    /// Returns the user that a subordinate uid is assigned to; nil if it is in no range.
    ///
    /// See subuid(5).
    func owner(ofSubordinate uid: UInt32) -> UInt32?
    /// Returns the traces of a process in a session; nil if they cannot be read reliably, in which
    /// case every judgement needs full lookups.
    func traces(of process: any HeldProcess, in session: String) -> PresenceTraces?
}

/// The recorded state on which a judgement about a program in a session was based.
///
/// If the traces of a request are equal at two times, so are the judgements, and the lookups can be
/// skipped.
package struct PresenceTraces: Equatable, Sendable {
    /// The process's control groups, the contents of /proc/PID/cgroup.
    let groups: Bytes
    let realUID: UInt32
    /// The controlling terminal.
    let terminal: DeviceNumber?
    /// The stamp of the file in which logind records the session; logind replaces the file with
    /// each change.
    let session: FileStamp

    /// Creates traces from their values.
    package init(
        groups: Bytes, realUID: UInt32, terminal: DeviceNumber?, session: FileStamp
    ) {
        self.groups = groups
        self.realUID = realUID
        self.terminal = terminal
        self.session = session
    }
}

extension PresenceFacts {
    /// Returns nil: a source of facts without traces needs full lookups.
    package func traces(
        of process: any HeldProcess, in session: String
    ) -> PresenceTraces? { nil }
}

/// The facts of the machine on which the daemon runs.
package struct MachineFacts: PresenceFacts {
    /// The maximum size of the file that names the active console, in bytes.
    private static let longestName = 64
    /// The maximum size of the file that lists a process's control groups, in bytes.
    private static let longestGroups = 8_192

    private let subordinates: SubordinateUIDs

    /// Creates the facts with a source of subordinate uids, which follows changes of subuid(5).
    package init(subordinates: SubordinateUIDs = SubordinateUIDs()) {
        self.subordinates = subordinates
    }

    package var hasLogind: Bool { LoginRecord.isKept }

    package var activeConsole: String? {
        // The file contains the name, such as tty1, and a line feed; console(4).
        guard let bytes = try? readFile("/sys/class/tty/tty0/active", cap: Self.longestName),
            bytes.count <= Self.longestName, bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    package func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess {
        try ProcessHandle.holding(pid)
    }

    package func processes() throws(SystemFault) -> [Int32] { try ProcessHandle.all() }

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

    package func name(of uid: UInt32) -> AccountName? {
        guard let account = try? Account.with(uid: uid) else { return nil }
        return AccountName(account.name)
    }

    package func uid(named name: AccountName) -> UInt32? {
        guard let text = String(validating: name.bytes, as: UTF8.self) else { return nil }
        return (try? Account.named(text))?.uid
    }

    package func owner(ofSubordinate uid: UInt32) -> UInt32? { subordinates.owner(of: uid) }

    // The session's id becomes part of a path, so only letters and digits are accepted. A session
    // file that changed so recently that another change could leave the same stamp gives no traces.
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
        // Take the time first, so that a change during this function is noticed.
        let now = FileMoment.now()
        guard let record = FileStamp(ofFileAt: "/run/systemd/sessions/\(session)"),
            record.isSettled(at: now),
            let groups = try? readFile("/proc/\(process.pid)/cgroup", cap: Self.longestGroups),
            groups.count <= Self.longestGroups
        else { return nil }
        do throws(SystemFault) {
            let traces = PresenceTraces(
                groups: groups, realUID: try process.realUID(), terminal: try process.terminal(),
                session: record)
            return process.hasEnded ? nil : traces
        } catch { return nil }
    }
}
