// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What has started a program in a fixture, as systemd and logind would know it.
package enum FixturePlace: Sendable, Equatable {
    /// The session that an account has at the seat; nil is alice's.
    case session(of: Account?)
    /// A session of an account's from another host.
    case remoteSession(of: Account)
    /// An account's service manager, `user@UID.service`.
    case manager(of: Account)
    /// A service of the system: `cron.service`, `getty@tty1.service`.
    case unit(String)
    /// Nothing that systemd knows.
    case nothing

    /// A login at the virtual console that the screen shows.
    package static let console = FixturePlace.unit("getty@tty1.service")

    /// Whose session or service manager it is; nil if no user's.
    var owner: UInt32? {
        switch self {
        case .session(let account): (account ?? HostFixture.alice).uid
        case .remoteSession(let account), .manager(let account): account.uid
        case .unit, .nothing: nil
        }
    }

    /// The control group, from the fixture's root group.
    var group: String {
        switch self {
        case .session(let account): PlayedSession.local(account ?? HostFixture.alice).group
        case .remoteSession(let account): PlayedSession.remote(account).group
        case .manager(let account):
            "/user.slice/user-\(account.uid).slice/user@\(account.uid).service/app.slice"
        case .unit(let name): "/system.slice/\(name)"
        case .nothing: "/elsewhere"
        }
    }
}

/// A session in logind's records.
struct PlayedSession {
    let id: String
    let uid: UInt32
    let name: String
    let `class`: String
    let isRemote: Bool

    static func local(_ account: Account) -> PlayedSession {
        PlayedSession(
            id: "c\(account.uid)", uid: account.uid, name: account.name, class: "user",
            isRemote: false)
    }

    static func remote(_ account: Account) -> PlayedSession {
        PlayedSession(
            id: "r\(account.uid)", uid: account.uid, name: account.name, class: "user",
            isRemote: true)
    }

    /// A display manager's.
    static let greeter = PlayedSession(
        id: "c1", uid: 110, name: "greeter", class: "greeter", isRemote: false)

    var group: String { "/user.slice/user-\(uid).slice/session-\(id).scope" }

    func record(isActive: Bool) -> String {
        """
        UID=\(uid)
        USER=\(name)
        ACTIVE=\(isActive || isRemote ? 1 : 0)
        STATE=\(isActive || isRemote ? "active" : "online")
        REMOTE=\(isRemote ? 1 : 0)
        CLASS=\(`class`)
        SCOPE=session-\(id).scope
        \(isRemote ? "TYPE=tty\nREMOTE_HOST=host.example" : "TYPE=wayland\nSEAT=seat0\nVTNR=1")

        """
    }
}

/// logind's records below /run/systemd, which no logind keeps in a fixture.
extension HostFixture {
    /// Who is in front of the seat.
    package enum Screen: Sendable, Equatable {
        case session(of: Account)
        case greeter
    }

    /// At first alice is in front of the seat, and bob is logged in behind her; both are from another
    /// host, too.
    func playSessions() throws(TestFault) {
        for account in [HostFixture.alice, HostFixture.bob] {
            try write(PlayedSession.remote(account))
            try write(
                "/run/systemd/users/\(account.uid)",
                "NAME=\(account.name)\nSTATE=active\nDISPLAY=\(PlayedSession.local(account).id)\n")
        }
        try show(.session(of: HostFixture.alice))
    }

    /// Changes what the seat shows, as when the user is switched.
    package func show(_ screen: Screen) throws(TestFault) {
        let shown: PlayedSession
        switch screen {
        case .session(let account): shown = .local(account)
        case .greeter: shown = .greeter
        }
        for session in [PlayedSession.local(HostFixture.alice), .local(HostFixture.bob), .greeter] {
            try write(session, isActive: session.id == shown.id)
        }
        try write(
            "/run/systemd/seats/seat0",
            "IS_SEAT0=1\nCAN_GRAPHICAL=1\nACTIVE=\(shown.id)\nACTIVE_UID=\(shown.uid)\n")
    }

    /// Changes a session's record: lines are replaced by their names, or added.
    package func changeSession(
        of account: Account, _ lines: [String: String]
    ) throws(TestFault) {
        let session = PlayedSession.local(account)
        var record = session.record(isActive: true).split(separator: "\n").map(String.init)
        record.removeAll { line in lines.keys.contains { line.hasPrefix("\($0)=") } }
        record += lines.filter { !$0.value.isEmpty }.map { "\($0.key)=\($0.value)" }
        try write("/run/systemd/sessions/\(session.id)", record.joined(separator: "\n") + "\n")
    }

    /// Has an account log out of the seat; its service manager stays, since it lingers.
    package func logOut(_ account: Account) throws(TestFault) {
        remove("/run/systemd/sessions/\(PlayedSession.local(account).id)")
        try write(
            "/run/systemd/users/\(account.uid)", "NAME=\(account.name)\nSTATE=lingering\n")
    }

    /// Has the records be those of a machine on which logind does not run.
    package func removeLogind() throws(TestFault) {
        remove("/run/systemd/seats/seat0")
        guard unsafe rmdir(path("/run/systemd/seats")) == 0 else {
            throw .system(call: "rmdir", subject: "/run/systemd/seats", code: errno)
        }
    }

    /// Changes the virtual console that the screen shows.
    package func showConsole(_ name: String) throws(TestFault) {
        try write("/run/console", name + "\n")
    }

    /// Stops every process of a place where it is, or lets them go on; returns when that is so.
    package func freeze(_ place: FixturePlace, _ isFrozen: Bool = true) throws(TestFault) {
        let group = path("/sys/fs/cgroup\(place.group)")
        try write("/sys/fs/cgroup\(place.group)/cgroup.freeze", isFrozen ? "1" : "0")
        let wanted = Array("frozen \(isFrozen ? 1 : 0)\n".utf8)
        let deadline = ContinuousClock.now + .patience
        while try !Layout.read("\(group)/cgroup.events").contains(wanted) {
            guard ContinuousClock.now < deadline else {
                throw .deadline(awaited: "frozen \(isFrozen)", transcript: "")
            }
            sched_yield()
        }
    }

    /// Moves a process, by its number in the fixture, as pam_systemd does.
    package func move(_ pid: String, to place: FixturePlace) throws(TestFault) {
        let file = try makeGroup(place)
        try run(["sh", "-c", "echo \"$1\" >\"$2\"", "sh", pid, file])
    }

    private func remove(_ path: String) { _ = unsafe unlink(self.path(path)) }

    private func write(_ session: PlayedSession, isActive: Bool = true) throws(TestFault) {
        try write("/run/systemd/sessions/\(session.id)", session.record(isActive: isActive))
    }

    /// Makes the control group of a place, and gives the file, in the fixture, that moves to it.
    func makeGroup(_ place: FixturePlace) throws(TestFault) -> String {
        var group = "/sys/fs/cgroup"
        for part in place.group.split(separator: "/") {
            group += "/\(part)"
            guard unsafe mkdir(path(group), 0o755) == 0 || errno == EEXIST else {
                throw .system(call: "mkdir", subject: group, code: errno)
            }
        }
        return group + "/cgroup.procs"
    }
}

/// A control group as its parent has it, which stays reachable when the fixture is gone.
final class ControlGroup: Sendable {
    private let parent: Descriptor
    private let name: String

    init(at path: String) throws(TestFault) {
        guard let slash = path.lastIndex(of: "/") else {
            throw .system(call: "open", subject: path, code: EINVAL)
        }
        let opened = unsafe open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        parent = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        name = String(path[path.index(after: slash)...])
    }

    /// Removes it with all groups below it, in which no process is left.
    func remove() { Self.remove("/proc/self/fd/\(parent.number)/\(name)") }

    private static func remove(_ path: String) {
        for entry in Layout.entries(of: path) {
            var status = stat()
            let inner = "\(path)/\(entry)"
            if unsafe lstat(inner, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                remove(inner)
            }
        }
        _ = unsafe rmdir(path)
    }
}
