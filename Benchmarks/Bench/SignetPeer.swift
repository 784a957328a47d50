import Glibc
import TestSupport

/// pam_signet and signetd as `make build` made them, the daemon on a virtual reader.
final class SignetPeer: Peer {
    let name = "signet"
    let service = "bench-signet"
    let module: String

    private static let finger = "alice-right-index"
    private static let socket = "/run/signet/signetd.sock"
    private let stage: Stage
    private let reader: String
    private let built = "\(Layout.package)/build"
    private var daemon: Program?
    private var isStorageLost = false

    /// Sets it up on the stage and enrols alice, with the key in a file if `vault`, the section of
    /// the configuration, says nothing else.
    init(on stage: Stage, vault: String = "kind = file") throws {
        self.stage = stage
        reader = stage.path("/run/bench/signet-reader")
        module = "\(stage.moduleDirectory)/pam_signet.so"
        try stage.installModule("\(built)/pam_signet.so")
        try stage.run([
            "sh", "-c",
            // logind's sessions are told by control groups.
            """
            mkdir -p /run/bench /run/signet && chmod 755 /var/lib/signet
            mount -t cgroup2 cgroup2 /sys/fs/cgroup
            """,
        ])
        try stage.writeService(
            service,
            """
            auth required pam_signet.so timeout=10
            account required pam_permit.so

            """)
        try stage.write("/etc/signet/signet.conf", "[vault]\n\(vault)\n")
        try start()
        try enrol()
    }

    func arrange(_ situation: Situation) throws -> [String: String] {
        switch situation {
        case .running:
            if try daemons().isEmpty { try start() }
        case .startedByCall:
            try kill()
            try listen()
        case .absent:
            try kill()
        }
        return [:]
    }

    func daemons() throws -> [Int32] { stage.processes(named: "testbench") }

    func prompted() throws {
        if isStorageLost { try deliver("INSERT \(Self.finger)", to: reader) }
        isStorageLost = false
    }

    func touch() throws -> Int64 {
        let time = monotonicNow()
        try deliver("SCAN \(Self.finger)", to: reader)
        return time
    }

    func kill() throws {
        for pid in try daemons() + stage.processes(named: "systemd-socket-") {
            _ = Glibc.kill(pid, SIGKILL)
        }
        _ = try daemon?.expectEnd()
        daemon = nil
        isStorageLost = true
        try stage.run(["rm", "-f", Self.socket])
    }

    private var command: [String] {
        [
            "\(built)/testbench", "daemon", "--storage", "/run/bench/signet-reader", "--lids",
            "/run/lids",
        ]
    }

    private func start() throws {
        daemon = try stage.start(command)
        try awaitFile(stage.path(Self.socket))
    }

    /// Has the daemon started by the first who connects, as systemd does it.
    private func listen() throws {
        let shim = ["systemd-socket-activate", "--seqpacket", "--listen=\(Self.socket)"]
        daemon = try stage.start(shim + command)
        try daemon?.expectError("Listening on")
    }

    private func enrol() throws {
        let program = try stage.start(["\(built)/signet", "enroll", "--account", "alice"])
        try program.expect("the reader")
        let person = VirtualReader(path: reader)
        for _ in 0..<enrolStages { try person.send(.scan(Self.finger)) }
        let outcome = try program.expectEnd()
        guard outcome.succeeded else {
            throw BenchFault.unexpected("enrolment: \(outcome.output) \(outcome.errors)")
        }
    }
}
