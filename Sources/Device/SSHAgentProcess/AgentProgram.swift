// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Domain
import LoginMessages
import MainContext
import Posix
import SSHAgentProtocol
import Systemd

/// The command line of `signet-agent`.
package enum AgentCommand {
    private static let socket = OptionSyntax(
        "socket", ValueSyntax("PATH", kind: .file), short: "a",
        summary: "listen at this socket, in the foreground, without systemd")
    private static let upstream = OptionSyntax(
        "upstream", ValueSyntax("PATH", kind: .absoluteFile), short: "u",
        summary: "the socket of the agent that all other keys are passed on to")
    private static let config = OptionSyntax(
        "config", ValueSyntax("FILE", kind: .absoluteFile),
        summary: "the settings, instead of ~/.config/signet/agent.conf")

    package static let syntax = ProgramSyntax(
        "signet-agent",
        summary: "offers ssh keys that a touch unlocks to programs that use ssh-agent",
        options: [socket, upstream, config],
        notes: [
            """
            the user's systemd starts it when a program connects to \
            $XDG_RUNTIME_DIR/signet/agent.sock; it exits after 30 seconds without a client
            """
        ])

    /// The socket that a command line names; nil to take over systemd's.
    static func socketPath(_ arguments: Arguments) -> String? { arguments.value(socket) }

    /// The other agent that a command line names.
    static func upstreamPath(_ arguments: Arguments) -> String? { arguments.value(upstream) }

    /// The configuration file that a command line names.
    static func configurationPath(_ arguments: Arguments) -> String? { arguments.value(config) }
}

/// Hardens the process; call it before anything else.
package func enterAgent() throws(SystemFault) {
    try hardenProcess()
    try clearEnvironment(keeping: [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "XDG_CONFIG_HOME",
    ])
}

/// The agent's process, from start to exit.
///
/// It runs as its user and holds no key: each signature is a request to signetd, which asks for a touch
/// and decides by itself. Only processes of the same user are served.
@ServiceActor
package final class AgentProgram {
    private let host: AgentHost
    private let listener: AgentListener
    private let isActivated: Bool
    private let end: () -> Void
    private var connections: [ObjectIdentifier: AgentConnection] = [:]
    private var watch: FileWatch?
    private var idle: Timer?
    private var signals: Signals?
    private var isStopping = false

    /// The maximum number of connections; for one more, the one that is idle longest is closed.
    private static let mostConnections = 64

    private init(
        _ host: AgentHost, listener: AgentListener, isActivated: Bool, end: @escaping () -> Void
    ) {
        self.host = host
        self.listener = listener
        self.isActivated = isActivated
        self.end = end
    }

    /// Serves until SIGTERM or SIGINT, or, if systemd has passed the socket, until it is idle.
    ///
    /// Must be called on the process's main thread, which runs the main loop.
    ///
    /// - Returns: the exit status, 1 if the process could not start.
    package nonisolated static func run(
        _ arguments: Arguments, paths: AgentPaths = AgentPaths(), clock: Clock = .system
    ) -> Int32 {
        outliveClosedPipes()
        guard let account = try? Account.with(uid: effectiveUID()) else {
            complain("signet-agent: there is no account with uid \(effectiveUID())")
            return 1
        }
        let settings: AgentSettings
        do throws(ConfigurationFault) {
            let directory =
                environmentValue("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
                ?? account.home + "/.config"
            let file = AgentCommand.configurationPath(arguments) ?? directory + "/signet/agent.conf"
            var read = try AgentSettings.load(file, owner: account.uid)
            if let upstream = AgentCommand.upstreamPath(arguments) { read.upstream = upstream }
            settings = read
        } catch {
            complain("signet-agent: \(error.text)")
            return 1
        }
        let path = AgentCommand.socketPath(arguments)
        let listener: AgentListener
        do {
            listener = try AgentListener.begin(at: path)
        } catch {
            complain("signet-agent: \(error.text)")
            return 1
        }
        // As `ssh-agent -D -a` writes it, now that programs can connect.
        if let path {
            writeAll(Array("SSH_AUTH_SOCK=\(path); export SSH_AUTH_SOCK;\n".utf8), to: 1)
        }
        let keeper = AgentKeeper()
        onService {
            let host = AgentHost(
                settings, paths: paths, account: AccountName(account.name),
                own: listener.ownSocket(at: path), clock: clock)
            let program = AgentProgram(host, listener: listener, isActivated: path == nil) {
                MainLoop.quit()
            }
            keeper.program = program
            program.begin()
        }
        MainLoop.run()
        if let path { PacketListener.remove(path) }
        return 0
    }

    private func begin() {
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop() }
        host.changed = { [weak self] in self?.settle() }
        watch = FileWatch(listener.number, for: .readable) { [weak self] _ in self?.accept() }
        settle()
    }

    private func accept() {
        while hasRoom, let socket = listener.accept() {
            guard let peer = AgentPeer(of: socket.descriptor) else {
                host.complain("a program of another user was turned away")
                continue
            }
            if connections.count >= Self.mostConnections, let idle = longestIdle {
                host.complain("too many connections: the one that was idle longest is closed")
                connections[ObjectIdentifier(idle)] = nil
                idle.close()
            }
            let connection = AgentConnection(AgentStream(socket), peer: peer, host: host)
            connections[ObjectIdentifier(connection)] = connection
            onService { [self] in
                await connection.serve()
                connections[ObjectIdentifier(connection)] = nil
                settle()
            }
        }
        settle()
    }

    /// Whether one more connection can be served; if none is idle, it waits in the socket's queue.
    private var hasRoom: Bool {
        connections.count < Self.mostConnections || longestIdle != nil
    }

    private var longestIdle: AgentConnection? {
        connections.values.filter { $0.idleSince != nil }
            .min { ($0.idleSince ?? .zero) < ($1.idleSince ?? .zero) }
    }

    /// Accepts connections while there is room, and starts the idle timer if there is none.
    private func settle() {
        watch?.watch(for: hasRoom ? .readable : [])
        idle?.cancel()
        idle = nil
        guard isActivated, connections.isEmpty, !host.remembers, !isStopping else { return }
        idle = Timer(after: host.paths.idle) { [weak self] in self?.stop() }
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        watch?.cancel()
        idle?.cancel()
        signals = nil
        for connection in connections.values { connection.close() }
        end()
    }
}

/// Written on the service's thread, read when that thread is gone.
// SAFETY: MainLoop.run joins the service's thread before it returns.
private final class AgentKeeper: @unchecked Sendable {
    var program: AgentProgram?
}

/// The agent's listening socket.
private final class AgentListener: Sendable {
    private let listener: StreamListener

    /// Why there is no socket.
    struct Fault: Error {
        let text: String
    }

    private init(_ listener: consuming StreamListener) {
        self.listener = listener
    }

    /// Listens at a path, or takes over systemd's socket.
    static func begin(at path: String?) throws(Fault) -> AgentListener {
        do throws(SystemFault) {
            if let path { return AgentListener(try StreamListener.listen(at: path)) }
            return AgentListener(
                try StreamListener(adopting: Descriptor(adopting: try inherited())))
        } catch { throw Fault(text: error.description) }
    }

    private static func inherited() throws(SystemFault) -> Int32 {
        do throws(ActivationFault) {
            if let number = try Activation.streamSocket() { return number }
        } catch {}
        throw SystemFault("sd_listen_fds", on: "a socket from systemd, or --socket", code: 2)
    }

    var number: Int32 { listener.descriptor.number }

    /// What tells that a connection leads back here; `path` is nil for systemd's socket.
    func ownSocket(at path: String?) -> OwnSocket {
        guard let path else {
            // Whatever path the unit names.
            return OwnSocket(
                path: listener.path ?? "/run/user/\(effectiveUID())/signet/agent.sock",
                listener: nil)
        }
        // The kernel records who listens, and tells each client.
        return OwnSocket(path: path, listener: try? PeerCredentials(of: listener.descriptor))
    }

    /// The next connection; nil if none is waiting.
    func accept() -> StreamSocket? { (try? listener.accept()) ?? nil }
}
