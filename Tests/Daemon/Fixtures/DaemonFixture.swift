// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

/// A running daemon on virtual readers, with places of its own, and the people at them.
final class DaemonFixture {
    /// A virtual reader and the option of testfixture that switches it on.
    enum Kind: String, CaseIterable {
        case text, storage, image
    }

    let directory: String
    let kinds: [Kind]
    private(set) var program: TestSupport.Program
    private let wrapper: [String]
    private var options: [String]

    var state: String { directory + "/state" }
    var socket: String { directory + "/socket" }
    var configuration: String { directory + "/signet.conf" }
    /// A reader that keeps its prints itself and finds one among many.
    var storage: VirtualReader { VirtualReader(path: directory + "/storage") }
    /// A reader whose prints lie with the daemon, and that compares with one.
    var text: VirtualReader { VirtualReader(path: directory + "/text") }

    /// Starts the daemon and waits until it is ready. `wrapper` is what starts it, if not we.
    init(
        _ kinds: [Kind] = [.storage], configuration: String = "", wrapper: [String] = [],
        failpoint: Failpoint? = nil, arguments: [String] = [],
        prepare: (DaemonFixture.Places) throws -> Void = { _ in }
    ) throws {
        directory = try Self.makeDirectory()
        self.kinds = kinds
        self.wrapper = wrapper
        options = (failpoint.map { ["--failpoint", $0.path] } ?? []) + arguments
        let state = directory + "/state"
        try #require(unsafe mkdir(state, 0o755) == 0 && chmod(state, 0o755) == 0)
        try Self.write(configuration, to: directory + "/signet.conf")
        // Clients here are threads of this process, in no user's session.
        try #require(unsafe mkdir(directory + "/signet.conf.d", 0o755) == 0)
        try Self.write(
            "[login]\nwithout-logind = any\n", to: directory + "/signet.conf.d/00-tests.conf")
        try Self.write(Self.passwordCheck, to: directory + "/verify-password", mode: 0o755)
        try prepare(Places(state: state))
        program = try Self.start(directory, kinds, wrapper, options)
    }

    struct Places {
        let state: String
    }

    deinit {
        program.signal(SIGKILL)
        _ = try? program.expectEnd()
        Self.remove(directory)
    }

    /// A client that connects as a person.
    func client(_ person: Person = .root) throws -> TestClient {
        try TestClient(to: socket, as: person.uid)
    }

    /// Ends the daemon by a signal and starts it anew on the same state, as `between` left it.
    func restart(by signal: Int32 = SIGTERM, _ between: () throws -> Void = {}) throws {
        program.signal(signal)
        try program.expectEnd()
        try between()
        program = try Self.start(directory, kinds, wrapper, options)
    }

    /// Starts the daemon anew where a test plays the process of the readers.
    func restart(onReadersAt path: String) throws {
        options += ["--played-readers", path]
        try restart()
    }

    /// Starts the daemon anew, which then waits for a reader that is unplugged as long as an installed one.
    func restartWithPatience() throws {
        options += ["--absence", "10000"]
        try restart()
    }

    /// Kills the process of the readers, which the daemon has had started.
    func killReaders(by signal: Int32 = SIGKILL) throws {
        let activator = try #require(Self.children(of: program.pid).first)
        let readers = try #require(Self.children(of: activator).first)
        #expect(kill(readers, signal) == 0)
    }

    static func children(of pid: Int32) throws -> [Int32] {
        let text = try Layout.read("/proc/\(pid)/task/\(pid)/children")
        return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    }

    /// One of an account's files on disk.
    func file(_ name: String, of person: Person) -> String {
        "\(state)/private/accounts/\(person.uid)/\(name)"
    }

    func publicKey(of person: Person) -> String { "\(state)/keys/\(person.uid).pub" }

    /// Asks as root.
    func ask(_ request: Request) throws -> Answer { try client().ask(request) }

    func status(of person: Person) throws -> StatusAnswer {
        try #require(try ask(.status(account: person.account)).status)
    }

    /// What is sent before a status.
    func statusParts(of person: Person) throws -> [Answer] {
        let client = try client()
        try client.send(.status(account: person.account))
        return try client.rest().dropLast()
    }

    /// What is left of the daemon's threads now.
    var threads: Int { Layout.entries(of: "/proc/\(program.pid)/task").count }

    /// A daemon whose keys go into a TPM, with one finger of `daemon`'s enrolled.
    static func onTPM(
        _ tcti: String, kind: String = "auto", on reader: Kind = .text, _ more: String = "",
        enrolled: Bool = true, limit: Int = 3
    ) throws -> DaemonFixture {
        let fixture = try DaemonFixture(
            [reader],
            configuration: """
                [vault]
                kind = \(kind)
                tpm = \(tcti)
                timeout = \(limit)s
                \(more)
                """)
        if enrolled {
            #expect(try fixture.enrol(.daemon, as: "one").done?.state == .valid)
        }
        return fixture
    }

    /// Starts a daemon, and waits until it says that it is ready.
    private static func start(
        _ directory: String, _ kinds: [Kind], _ wrapper: [String], _ options: [String]
    ) throws -> TestSupport.Program {
        let notify = directory + "/notify"
        let notices = try ReadinessNotices(at: notify)
        let program = try TestSupport.Program(
            Command(
                wrapper + arguments(directory, kinds) + options,
                environment: ["NOTIFY_SOCKET": notify]))
        for _ in 0..<30 {
            if notices.hearReady(within: .seconds(1)) { return program }
            // One that ended says nothing more.
            if let ending = program.ended {
                Issue.record("the daemon ended: \(ending) \(program.errors)")
                throw TestFault.closed(awaited: "a daemon", transcript: program.errors)
            }
        }
        throw TestFault.deadline(awaited: "a daemon", transcript: program.errors)
    }

    private static func arguments(_ directory: String, _ kinds: [Kind]) -> [String] {
        [
            Layout.products + "/testfixture", "daemon", "--state", directory + "/state",
            "--socket", directory + "/socket", "--configuration", directory + "/signet.conf",
            "--verify-password", directory + "/verify-password", "--bus", directory + "/bus",
            "--lids", directory + "/lids", "--usb", directory + "/usb",
            "--fprintd", directory + "/fprint", "--relay", directory + "/relay",
            "--readers", directory + "/readers.sock",
            "--tokens", directory + "/tokens", "--passed", directory + "/passed",
        ] + kinds.flatMap { ["--\($0.rawValue)", "\(directory)/\($0.rawValue)"] }
    }

    /// What starts the daemon.
    var arguments: [String] { Self.arguments(directory, kinds) }

    /// Puts a daemon in the place of the one that runs: it gets the socket handed over, as from systemd.
    func activated() throws -> TestSupport.Program {
        program.signal(SIGTERM)
        try program.expectEnd()
        let activated = try TestSupport.Program(
            Command(
                ["systemd-socket-activate", "--seqpacket", "--listen", socket] + arguments))
        try activated.expectError("Listening on")
        return activated
    }

    /// Says of a password what the password itself says, so that each verdict can be had.
    private static let passwordCheck = """
        #!/bin/sh
        echo "$1" >>"${0%/*}/checked"
        IFS= read -r password
        case $password in
        right*) exit 80 ;;
        wrong) exit 81 ;;
        denied) exit 82 ;;
        expired) exit 84 ;;
        outdated) exit 85 ;;
        slow) exec sleep 1000 ;;
        *) exit 0 ;;
        esac

        """
}

extension DaemonFixture {
    /// Has so many seconds more have passed since the machine's start, as the daemon has it.
    func passTime(_ seconds: Int) throws {
        let (now, next) = (directory + "/passed", directory + "/passed.next")
        let text = (try? Layout.read(now)).map { String(decoding: $0, as: UTF8.self) }
        try Self.write("\(seconds + (text.flatMap { Int($0) } ?? 0))", to: next)
        try #require(unsafe rename(next, now) == 0)
    }

    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    static func write(_ bytes: Bytes, to path: String, mode: mode_t = 0o600) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(file >= 0, "\(path)")
        defer { close(file) }
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    static func remove(_ directory: String) {
        let remover = try? TestSupport.Program(Command(["rm", "-rf", "--", directory]))
        _ = try? remover?.expectEnd()
    }

    /// Under /run, where no parent is writable by others; with our pid, so that what a killed run
    /// left can be told and removed.
    private static func makeDirectory() throws -> String {
        let prefix = "signet-daemon-tests."
        for entry in Layout.entries(of: "/run") where entry.hasPrefix(prefix) {
            let owner = entry.dropFirst(prefix.count).prefix { $0 != "." }
            if kill(Int32(owner) ?? 0, 0) != 0 { remove("/run/" + entry) }
        }
        var template = Array("/run/\(prefix)\(getpid()).XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map {
                unsafe String(cString: $0)
            }
        }
        let directory = try #require(made)
        try #require(unsafe chmod(directory, 0o755) == 0)
        return directory
    }
}
