// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A message bus of a test's own (`dbus-daemon`), and a mock of logind on it.
///
/// Anybody may own any name and send anything there, which the system's bus forbids: it is as bad
/// as a bus can be.
package final class PrivateBus: Sendable {
    /// What happened as the machine fell asleep.
    package struct Sleep: Equatable, Sendable {
        /// Whether all who delayed it let go in time.
        package let isInTime: Bool
        /// Whether a process listened at the socket that was to be looked at, at that moment.
        package let wasHeard: Bool
    }

    /// The bus's socket, as programs there name it.
    package let socket: String
    private let daemon: Program
    private let run: @Sendable ([String]) throws -> Program

    /// Starts a bus that listens at `socket`; its configuration is written beside it. `run` starts
    /// programs where the bus is to be, and `prefix` is how that place's files are named from here.
    /// `policy` is a file of rules that hold beside.
    package init(
        socket: String, prefix: String = "", policy: String? = nil,
        run: @escaping @Sendable ([String]) throws -> Program = { try Program(Command($0)) }
    ) throws {
        self.socket = socket
        self.run = run
        let configuration = socket + ".conf"
        try Self.write(Self.configuration(socket, policy), to: prefix + configuration)
        daemon = try run([
            "dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile",
            "--nosyslog", "--print-address=1",
        ])
        try daemon.expect("unix:")
    }

    deinit { end() }

    /// Kills the bus.
    package func end() {
        daemon.signal(SIGKILL)
        _ = try? daemon.expectEnd()
    }

    /// Stops the bus, which then answers no client until `proceed()`.
    package func stop() { daemon.signal(SIGSTOP) }

    /// Lets a stopped bus go on.
    package func proceed() { daemon.signal(SIGCONT) }

    /// Starts a mock of logind and waits until it has its name.
    package func startLogind() throws -> Program {
        let mock = try run([try Built.program("mock-logind"), socket])
        try mock.expect("ready")
        return mock
    }

    /// Has the machine fall asleep, and reports how that went; a reader at `path` should be closed by then.
    package func sleep(lookingAt path: String = "/nonexistent") throws -> Sleep {
        let answer = try ask("Sleep", "string:\(path)").split(whereSeparator: \.isWhitespace)
        let values = answer.filter { $0 == "true" || $0 == "false" }.map { $0 == "true" }
        guard values.count == 2 else {
            throw TestFault.closed(awaited: "sleep", transcript: "\(answer)")
        }
        return Sleep(isInTime: values[0], wasHeard: values[1])
    }

    /// Has the machine wake up.
    package func wake() throws { try ask("Wake") }

    /// Closes or opens the lid.
    package func setLid(closed: Bool) throws { try ask("SetLid", "boolean:\(closed)") }

    /// Has systemd say that the readers' process is starting, or that it runs.
    package func setStarting(_ isStarting: Bool) throws {
        try ask("SetStarting", "boolean:\(isStarting)")
    }

    /// Has systemd say that the readers' process uses the processor, or that it uses none.
    package func setWorking(_ isWorking: Bool) throws {
        try ask("SetWorking", "boolean:\(isWorking)")
    }

    /// Has logind answer nothing any more, or answer again.
    package func setSilent(_ isSilent: Bool) throws { try ask("SetSilent", "boolean:\(isSilent)") }

    /// Waits until so many delay sleep.
    package func awaitInhibitors(_ count: Int) throws {
        try ask("AwaitInhibitors", "uint32:\(count)")
    }

    /// What, who, why and how of the last one that delayed sleep.
    package func lastInhibitor() throws -> String {
        let line = try ask("LastInhibitor").split(separator: "\n").first ?? ""
        return String(line.drop { $0 == " " })
    }

    /// Sends a signal as any client of the bus can; to `destination` alone, if there is one.
    package func forge(
        _ member: String, _ argument: String, to destination: String? = nil
    ) throws {
        let addressed = destination.map { ["--dest=\($0)"] } ?? []
        try send(
            ["--type=signal"] + addressed
                + ["/org/freedesktop/login1", "org.freedesktop.login1.Manager.\(member)", argument])
    }

    /// Whether the bus lets an account send anything to the owner of a name.
    package func lets(uid: UInt32, sendTo name: String) throws -> Bool {
        let call = [
            "dbus-send", "--bus=unix:path=\(socket)", "--print-reply", "--dest=\(name)",
            "/org/signet", "org.signet.Any.Thing",
        ]
        let asAnother = ["setpriv", "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups"]
        let outcome = try run((uid == 0 ? [] : asAnother) + call).expectEnd()
        return !outcome.errors.contains("AccessDenied")
    }

    /// The unique names on the bus.
    package func names() throws -> [String] {
        let list = try send([
            "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.ListNames",
        ])
        return list.split(separator: "\"").map(String.init).filter { $0.hasPrefix(":") }
    }

    @discardableResult
    private func ask(_ method: String, _ arguments: String...) throws -> String {
        try send(
            [
                "--print-reply=literal", "--reply-timeout=20000", "--dest=org.freedesktop.login1",
                "/org/freedesktop/login1", "org.freedesktop.login1.Mock.\(method)",
            ] + arguments)
    }

    @discardableResult
    private func send(_ arguments: [String]) throws -> String {
        let outcome = try run(["dbus-send", "--bus=unix:path=\(socket)"] + arguments)
            .expectEnd()
        guard outcome.succeeded else {
            throw TestFault.closed(
                awaited: arguments.joined(separator: " "), transcript: outcome.errors)
        }
        return outcome.output
    }

    private static func write(_ text: String, to path: String) throws(TestFault) {
        let opened = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        try file.write(Array(text.utf8))
    }

    private static func configuration(_ socket: String, _ policy: String?) -> String {
        let more = policy.map { "<include>\($0)</include>" } ?? ""
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(socket)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                <allow user="*"/>
              </policy>
              \(more)
            </busconfig>

            """
    }
}
