// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Synchronization

/// A fixture on which Signet is installed: the module in front of the password in the services
/// `sudo`, `su`, `login` and `locker`, and a daemon on virtual readers.
///
/// What the built programs are is decided in `Built`. Without them this throws, it never skips.
package final class SignetFixture: Sendable {
    /// One of libfprint's virtual readers; the raw value is testfixture's option.
    package enum ReaderKind: String, Sendable {
        /// Finds one finger among many, and keeps prints itself.
        case storage
        /// As `storage`, but does not list what it keeps.
        case storageNoList = "storage-no-list"
        /// Compares with one print at a time, and keeps none.
        case text
        /// Pictures of fingers, compared by libfprint itself.
        case image
    }

    /// The machine that it is installed on.
    package let host: HostFixture
    private let kinds: [ReaderKind]
    private let daemon = Mutex<Program?>(nil)

    /// What the module shows when the text readers wait for a finger.
    package static let invitation = "swipe your finger across the reader"
    /// What stands before the cursor then.
    package static let orPassword = "or type the password: "
    /// The daemon's socket, in the fixture.
    package static let socket = "/run/signet/signetd.sock"
    private static let notifySocket = "/run/notify"

    /// Installs everything and starts the daemon on `readers`, if `running`; `options` are the
    /// module's in every service. `programs` are seen as if they were installed. With `allowsOthers`,
    /// a user may ask for another's finger, as su does; see `login.others`.
    package init(
        readers: [ReaderKind] = [.storage], options: String = "", running: Bool = true,
        programs: String? = nil, allowsOthers: Bool = false
    ) throws {
        host = try HostFixture(programs: programs)
        kinds = readers
        try host.installModule(Built.module())
        try host.run(["install", "-d", "-m", "700", "/run/readers"])
        // As systemd makes it: StateDirectoryMode=0755.
        try host.run(["chmod", "755", "/var/lib/signet"])
        try host.install("\(Layout.package)/pam/signet", at: "/etc/pam.d/signet", mode: 0o644)
        try writeServices(options: options)
        if allowsOthers {
            try host.run(["mkdir", "-p", "/etc/signet/signet.conf.d"])
            try host.write(
                "/etc/signet/signet.conf.d/others.conf", "[login]\nothers = warn\n")
        }
        if running { try start() }
    }

    /// Ends the fixture, and with it everything on it.
    package func end() { host.end() }

    /// Writes the services anew, as pam/examples has them, with other options of the module.
    package func writeServices(options: String) throws(TestFault) {
        let touch = "auth [success=done conv_err=die default=ignore] pam_signet.so \(options)\n"
        let rest = """
            @include common-auth
            @include common-account
            @include common-session-noninteractive

            """
        try host.writeService("sudo", touch + rest)
        try host.writeService("su", "auth sufficient pam_rootok.so\n" + touch + rest)
        try host.writeService("xlock", touch + rest)
        try host.writeService(
            "login",
            """
            auth [success=1 conv_err=die default=ignore] pam_signet.so \(options)
            auth requisite pam_unix.so nodelay try_first_pass
            auth required pam_permit.so
            @include common-account
            @include common-session

            """)
    }

    // MARK: The person at the reader

    /// The reader of a kind, for what `touch` and the like do not say.
    package func reader(_ kind: ReaderKind = .storage) -> VirtualReader {
        VirtualReader(path: host.path(Self.readerSocket(kind)))
    }

    /// The image reader.
    package var imageReader: VirtualImageReader {
        VirtualImageReader(path: host.path(Self.readerSocket(.image)))
    }

    /// Puts the finger `id` on a text reader, as soon as that is open.
    package func touch(_ id: String, on kind: ReaderKind = .storage) throws(TestFault) {
        try reader(kind).send(.scan(id))
    }

    /// A scan that cannot be used: 0 unclear, 1 too short, 2 off centre, 3 lift the finger.
    package func badScan(_ code: Int = 0, on kind: ReaderKind = .storage) throws(TestFault) {
        try reader(kind).send(.retry(code))
    }

    /// Unplugs a text reader while it is in use.
    package func unplug(_ kind: ReaderKind = .storage) throws(TestFault) {
        try host.write("\(Self.readerSocket(kind)).unplugged", "")
        try reader(kind).send(.unplug)
    }

    /// Plugs a text reader in again; it is found when a program looks for readers.
    package func plugIn(_ kind: ReaderKind = .storage) throws {
        try host.run(["rm", "-f", "\(Self.readerSocket(kind)).unplugged"])
    }

    /// Starts the system's message bus, with a mock of logind.
    package func startBus() throws -> (bus: PrivateBus, logind: Program) {
        let host = host
        let bus = try PrivateBus(
            socket: "/run/dbus/system_bus_socket", prefix: host.path("")
        ) { try host.start($0) }
        return (bus, try bus.startLogind())
    }

    // MARK: Root at the daemon's socket

    /// A connection to the daemon, as root in alice's session.
    package func connect() throws -> DaemonClient {
        try DaemonClient(path: Self.socket, on: host)
    }

    /// Asks the daemon as root, and gives the last answer.
    @discardableResult
    package func ask(
        _ request: Request, telling tell: (Notice) throws -> Void = { _ in }
    ) throws -> Answer {
        let answers = try connect().answers(to: request, telling: tell)
        guard let last = answers.last else {
            throw TestFault.closed(awaited: "an answer", transcript: "")
        }
        return last
    }

    /// Enrols the finger `id` on a text reader, and gives the last answer.
    @discardableResult
    package func enroll(
        _ account: Account, _ finger: Finger = .rightIndex, as id: String,
        on kind: ReaderKind = .storage
    ) throws -> Answer {
        try enroll(account, finger) { notice in
            let isNext = notice.kind == .stage && notice.done != notice.total
            if isNext || notice.kind == .touch { try touch(id, on: kind) }
        }
    }

    /// Enrols a finger, which the receiver of the notices puts on the reader, and gives the last
    /// answer.
    @discardableResult
    package func enroll(
        _ account: Account, _ finger: Finger = .rightIndex, telling tell: (Notice) throws -> Void
    ) throws -> Answer {
        let name = AccountName(account.name)
        return try ask(
            .enroll(account: name, finger: finger, readerID: nil), telling: tell)
    }

    /// How things stand for an account.
    package func status(_ account: Account) throws -> StatusAnswer {
        let answer = try ask(.status(account: AccountName(account.name)))
        guard case .status(let status) = answer else {
            throw TestFault.closed(awaited: "a status", transcript: "\(answer)")
        }
        return status
    }

    // MARK: The daemon's life

    /// Starts the daemon, on other readers if said so, and waits until it says that it is ready.
    package func start(readers: [ReaderKind]? = nil) throws {
        let notices = try ReadinessNotices(at: host.path(Self.notifySocket))
        let program = try host.start(
            Self.command(for: readers ?? kinds), in: Self.unit,
            environment: ["NOTIFY_SOCKET": Self.notifySocket])
        guard notices.hearReady(within: .patience) else {
            let journal = host.journal.entries.map(\.message).joined(separator: "\n")
            throw TestFault.deadline(
                awaited: "the daemon", transcript: program.errors + "\n" + journal)
        }
        daemon.withLock { $0 = program }
    }

    /// Stops the daemon as systemd does, and waits for its end.
    @discardableResult
    package func stop() throws -> Ending? { try end(with: SIGTERM) }

    /// Kills the daemon, which can do nothing about it.
    @discardableResult
    package func kill() throws -> Ending? { try end(with: SIGKILL) }

    /// Stops the daemon's every thread where it is; returns when they stand still.
    package func suspend() { daemon.withLock { $0 }?.suspend() }

    /// Lets a suspended daemon go on.
    package func resume() { daemon.withLock { $0 }?.signal(SIGCONT) }

    /// The daemon's process id as the machine sees it.
    package var daemonPID: Int32? { daemon.withLock { $0?.pid } }

    /// Where systemd keeps the daemon.
    package static let unit = FixturePlace.unit("signetd.service")

    /// How a daemon is run on these readers.
    package static func command(for readers: [ReaderKind]) throws -> [String] {
        [
            try Built.program("testfixture"), "daemon",
            "--verify-password", try Built.program("verify-password"), "--lids", "/run/lids",
        ] + readers.flatMap { ["--\($0.rawValue)", readerSocket($0)] }
    }

    private func end(with signal: Int32) throws -> Ending? {
        let program = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon
        }
        program?.signal(signal)
        return try program?.expectEnd().ending
    }

    private static func readerSocket(_ kind: ReaderKind) -> String {
        "/run/readers/\(kind.rawValue)"
    }
}

/// Where the built programs are that tests run as they are.
package enum Built {
    /// Something is not built yet; the text says what to run.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// A program beside the running one; the tests' own build makes it.
    package static func program(_ name: String) throws -> String {
        try first(["\(Layout.products)/\(name)"], orRun: "swift build --product \(name)")
    }

    /// The module as it is installed.
    package static func module() throws -> String {
        try first(["\(Layout.package)/build/pam_signet.so"], orRun: "make module")
    }

    /// The module that takes the place of fprintd's, as it is installed.
    package static func fprintdModule() throws -> String {
        try first(["\(Layout.package)/build/pam_fprintd.so"], orRun: "make module")
    }

    /// OpenSSH's provider as it is installed.
    package static func sshProvider() throws -> String {
        try first(["\(Layout.package)/build/libsk-signet.so"], orRun: "make module")
    }

    /// The directory of Debian's programs that are unpacked for tests and not installed.
    package static func programs() throws -> String {
        let directory = "\(Layout.package)/.build/programs"
        _ = try first(["\(directory)/packages"], orRun: "make deps")
        return directory
    }

    private static func first(_ paths: [String], orRun command: String) throws -> String {
        if let found = paths.first(where: { unsafe access($0, R_OK) == 0 }) { return found }
        throw Missing(
            description: "none of \(paths.joined(separator: ", ")) is there: run \(command)")
    }
}
