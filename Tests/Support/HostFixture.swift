// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Synchronization

/// A machine of its own for one test: the machine's programs, read-only, and private copies of all
/// that is written or configured, in namespaces that end with this object, and also when the test
/// process itself is killed.
///
/// Real sudo, su and login run on it, with two users and root whose passwords are known. Its files
/// are read and written through `path(_:)`, from outside.
package final class HostFixture: Sendable {
    /// May use sudo for everything, with the password.
    package static let alice = Account(name: "alice", uid: 4242, password: "alice's password")
    /// May not use sudo.
    package static let bob = Account(name: "bob", uid: 4243, password: "bob's password")
    /// The fixture's own root.
    package static let root = Account(name: "root", uid: 0, password: "root's password")

    /// What programs in the fixture logged.
    package var journal: Journal { log }
    /// The process id of the fixture's first process, as the machine sees it.
    package let pid: Int32
    /// The directory that holds the PAM modules, in the fixture.
    package let moduleDirectory: String

    private let log: Journal
    private let keeper: ChildProcess
    private let leash: Mutex<Descriptor?>
    private let namespaces: Descriptor
    private let controlGroup: ControlGroup
    /// The control group of all in the fixture, as host.sh has made it.
    package let group: String
    /// Those of our children that are in the fixture; nil when it has ended.
    private let children = Mutex<[ChildProcess]?>([])

    /// Sets a fixture up (about 0.2 s). The package's directory, the directory of the running test
    /// program, that of Swift's runtime, and `seeing` are seen on it at their own paths, read-only.
    /// What is unpacked in `programs` is there as if it were installed.
    package init(seeing: [String] = [], programs: String? = nil) throws(TestFault) {
        let given = try Pipe()
        let said = try Pipe()
        let command = Command(
            [
                "unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child",
                "--propagation", "private", "/bin/sh",
                "\(Layout.package)/Tests/HostFixture/host.sh",
            ] + (programs.map { ["over=\($0)"] } ?? []) + Layout.seen(adding: seeing))
        let keeper = try ChildProcess(
            command, terminal: nil,
            standard: (given.read.number, said.write.number, said.write.number))
        // So that the script's end is seen.
        _ = consume said.write
        let accounts = [Self.root, Self.alice, Self.bob]
            .map { "\($0.name) \($0.uid) \($0.password)\n" }
        try given.write.write(Array((accounts.joined() + "\n").utf8))
        let (pid, group) = try Self.firstProcess(saidIn: Collector(from: said.read))
        self.group = group
        controlGroup = try ControlGroup(at: "/proc/\(pid)/root/\(group)")
        namespaces = try Descriptor(open_process(pid), "pidfd_open", "the fixture")
        log = try Journal(root: "/proc/\(pid)/root")
        moduleDirectory = try Layout.moduleDirectory()
        self.pid = pid
        self.keeper = keeper
        leash = Mutex(given.write)
        try playSessions()
    }

    deinit { end() }

    /// Kills everything in the fixture, and returns when it and the mounts are gone.
    package func end() {
        guard leash.withLock({ $0.take() }) != nil else { return }
        // The first process cannot end before the children that are ours have been waited for.
        let running = children.withLock { $0.take() } ?? []
        for child in running {
            child.signal(SIGKILL)
            child.reap()
        }
        keeper.reap()
        controlGroup.remove()
    }

    /// Where a path of the fixture is seen by this process: for files, and for sockets to connect to.
    package func path(_ path: String) -> String { "/proc/\(pid)/root\(path)" }

    /// A command in the fixture: as root there, if not said otherwise, and in the session that the
    /// account has at the seat; as root in alice's.
    package func command(
        _ arguments: [String], as account: Account = HostFixture.root,
        in place: FixturePlace? = nil,
        environment: [String: String] = [:]
    ) -> Command {
        Command(
            arguments, account: account, environment: environment, host: self, place: place)
    }

    /// Runs a program to its end, at most `limit`.
    @discardableResult
    package func run(
        _ arguments: [String], as account: Account = HostFixture.root,
        in place: FixturePlace? = nil,
        environment: [String: String] = [:], input: String = "",
        within limit: Duration = .patience
    ) throws(TestFault) -> Outcome {
        let command = command(arguments, as: account, in: place, environment: environment)
        return try Program(command, input: input).expectEnd(within: limit)
    }

    /// Starts a program that goes on: a daemon.
    package func start(
        _ arguments: [String], as account: Account = HostFixture.root,
        in place: FixturePlace? = nil,
        environment: [String: String] = [:]
    ) throws(TestFault) -> Program {
        try Program(command(arguments, as: account, in: place, environment: environment))
    }

    /// Starts a program on a new terminal; see Terminal's initialiser.
    ///
    /// - Parameter holder: what the terminal belongs to, and runs in the same place. That of a
    ///   console is the machine's.
    package func terminal(
        _ arguments: [String], as account: Account, in place: FixturePlace? = nil,
        heldBy holder: String = "xterm",
        environment: [String: String] = [:], copyingTo copy: Int32? = nil
    ) throws(TestFault) -> Terminal {
        let command = command(arguments, as: account, in: place, environment: environment)
        switch command.place {
        case .session, .remoteSession, .manager:
            return try Terminal(command, heldBy: (holder, command.place), copyingTo: copy)
        case .unit, .nothing: return try Terminal(command, copyingTo: copy)
        }
    }

    /// Writes a file of the fixture, with these permissions, owned by root.
    package func write(
        _ path: String, _ text: String, mode: UInt32 = 0o644
    ) throws(TestFault) {
        try write(path, Array(text.utf8), mode: mode)
    }

    /// Writes a file of the fixture, with these permissions, owned by root.
    package func write(
        _ path: String, _ bytes: [UInt8], mode: UInt32 = 0o644
    ) throws(TestFault) {
        let opened = unsafe open(
            self.path(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode))
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        try file.write(bytes)
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw .system(call: "fchmod", subject: path, code: errno)
        }
    }

    /// A whole file of the fixture.
    package func read(_ path: String) throws(TestFault) -> [UInt8] {
        try Layout.read(self.path(path))
    }

    /// Copies a program of the machine to a path of the fixture (`/usr/local/…`, `/etc/…`, `/run/…`).
    package func install(
        _ file: String, at path: String, mode: UInt32 = 0o755
    ) throws(TestFault) {
        try write(path, Layout.read(file), mode: mode)
    }

    /// Copies a built PAM module to where PAM looks for it, under a name such as `pam_signet.so`.
    package func installModule(
        _ file: String, as name: String = "pam_signet.so"
    ) throws(TestFault) {
        try install(file, at: "\(moduleDirectory)/\(name)", mode: 0o644)
    }

    /// Writes a PAM service (`/etc/pam.d/name`), or changes it.
    package func writeService(_ name: String, _ text: String) throws(TestFault) {
        try write("/etc/pam.d/\(name)", text)
    }

    /// The processes in the fixture whose name (`/proc/PID/comm`) this is, as the machine sees them.
    package func processes(named name: String) -> [Int32] {
        guard let space = Layout.link("/proc/\(pid)/ns/pid") else { return [] }
        return Layout.entries(of: "/proc").compactMap { Int32($0) }.filter { pid in
            Layout.link("/proc/\(pid)/ns/pid") == space
                && (try? Layout.read("/proc/\(pid)/comm")) == Array((name + "\n").utf8)
        }
    }

    /// Kills the processes in the fixture of that name, and returns when they have ended.
    package func kill(named name: String) throws(TestFault) {
        for pid in processes(named: name) {
            let opened = open_process(pid)
            // It may have ended by itself meanwhile.
            if opened == -ESRCH { continue }
            let process = try Descriptor(opened, "pidfd_open", "\(pid)")
            _ = Glibc.kill(pid, SIGKILL)
            guard process.isReady(within: .patience) else {
                throw .deadline(awaited: "the end of \(name)", transcript: "")
            }
        }
    }

    var handle: Int32 { namespaces.number }

    func owns(_ child: ChildProcess) {
        let isOwned = children.withLock { children in
            children?.removeAll { $0.ended != nil }
            children?.append(child)
            return children != nil
        }
        guard !isOwned else { return }
        // Started while the fixture ended, which would wait for it for ever.
        child.signal(SIGKILL)
        child.reap()
    }

    private static func firstProcess(
        saidIn output: Collector
    ) throws(TestFault) -> (pid: Int32, group: String) {
        let said = output.first(within: .patience) { chunks, isClosed -> String? in
            let text = String(decoding: chunks.flatMap(\.bytes), as: UTF8.self)
            return isClosed || text.hasSuffix("\n") && text.contains("ready ") ? text : nil
        }
        let words = said?.split(whereSeparator: \.isWhitespace) ?? []
        guard let ready = words.lastIndex(of: "ready"), ready + 2 < words.count,
            let pid = Int32(words[ready + 1])
        else { throw .noFixture(said ?? "it was not ready in time") }
        return (pid, String(words[ready + 2]))
    }
}
