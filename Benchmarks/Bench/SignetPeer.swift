// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// pam_signet and signetd as `make build` made them, the daemon on a virtual reader.
final class SignetPeer: Peer {
    let name = "signet"
    let service = "bench-signet"
    let asking = "the reader"
    let module: String

    private static let listed = "bench-listed"
    private static let unseen = "bench-unseen"
    private static let lockout = "/var/lib/signet/private/accounts/4242/lockout"
    private static let lid = "/run/lids/LID0/state"
    /// Has root's key lie where an account's does that login by finger is enabled for.
    private static let rootsKey =
        "cd /var/lib/signet/keys; sed s/signet:alice:/signet:root:/ 4242.pub >0.pub"
    private static let socket = "/run/signet/signetd.sock"
    private static let readerSocket = "/run/signet/reader.sock"
    /// Where the fixture has `on-demand.c`.
    static let activator = "/usr/local/bin/on-demand"
    private let host: HostFixture
    private let reader: PeerReader
    private let built = "\(Layout.package)/build"
    private var daemon: Program?
    private var isStorageLost = false
    private var hasReader = true

    /// Sets it up in the fixture and enrols alice, with the key in a file if `vault`, the section of
    /// the configuration, says nothing else.
    init(
        on host: HostFixture, vault: String = "kind = file", reader: ReaderKind = .virtual
    ) throws {
        self.host = host
        self.reader = try PeerReader(reader, on: host, named: "signet")
        module = "\(host.moduleDirectory)/pam_signet.so"
        try host.installModule("\(built)/pam_signet.so")
        try host.run([
            "sh", "-c",
            "mkdir -p /run/bench /run/signet /run/lids/LID0 && chmod 755 /var/lib/signet",
        ])
        try host.writeService(
            service,
            """
            auth required pam_signet.so timeout=10 keyring
            account required pam_permit.so

            """)
        for (name, options) in [(Self.listed, ""), (Self.unseen, "background=refuse")] {
            try host.writeService(name, "auth required pam_signet.so \(options)\n")
        }
        try host.write(
            "/etc/signet/signet.conf",
            // The probe has no terminal: it is let ask as a screen locker is.
            "[vault]\n\(vault)\n[login]\nservices = !\(Self.listed)\n"
                + "lockers = \(service), \(Self.listed), \(Self.unseen)\n"
                + "[keyring]\nservices = \(service)\n")
        try start()
        _ = try enrol()
    }

    func arrange(_ situation: Situation) throws -> [String: String] {
        if !hasReader { try kill() }
        hasReader = true
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

    func arrange(_ refusal: Refusal) throws -> Declined {
        if refusal == .noReader { try removeReader() } else { _ = try arrange(.running) }
        let failures = refusal == .lockedOut ? 20 : 0
        try host.write(
            Self.lockout, "signet-lockout: 1\nfailures: \(failures)\n", mode: 0o600)
        try host.write(Self.lid, "state:      \(refusal == .lidClosed ? "closed" : "open")\n")
        try host.show(.session(of: HostFixture.alice))
        // A seat without a reader, or the one that has it.
        let seat =
            switch refusal {
            case .otherSeat: "seat1"
            case .background: ""
            default: "seat0"
            }
        try host.changeSession(of: HostFixture.alice, ["SEAT": seat])
        switch refusal {
        case .notEnrolled:
            try host.show(.session(of: HostFixture.bob))
            return Declined(
                service: service, account: HostFixture.bob, place: .session(of: HostFixture.bob))
        case .remote:
            return Declined(
                service: service, account: HostFixture.alice,
                environment: ["PROBE_RHOST": "example.org"])
        case .background: return Declined(service: Self.unseen, account: HostFixture.alice)
        case .listed: return Declined(service: Self.listed, account: HostFixture.alice)
        case .root:
            try host.run(["sh", "-ec", Self.rootsKey])
            return Declined(service: service, account: HostFixture.root)
        case .lockedOut, .lidClosed, .noReader, .otherSeat:
            return Declined(service: service, account: HostFixture.alice)
        }
    }

    /// Deletes alice's finger and enrols it again; milliseconds from the last scan to the end.
    func enrolAgain() throws -> Double {
        let deleted = try host.run(["\(built)/signet", "delete", "--all", "--account", "alice"])
        guard deleted.succeeded else { throw BenchFault.unexpected(deleted.errors) }
        return try enrol()
    }

    func daemons() throws -> [Int32] {
        host.processes(named: "testfixture") + host.processes(named: "testreader")
    }

    func prompted() throws {
        if isStorageLost { try reader.restore() }
        isStorageLost = false
    }

    func touch() throws -> Int64 { try reader.touch() }

    func lift() throws { try reader.lift() }

    func kill() throws {
        for pid in try daemons() + host.processes(named: "on-demand") {
            _ = Glibc.kill(pid, SIGKILL)
        }
        _ = try daemon?.expectEnd()
        daemon = nil
        isStorageLost = true
        try host.run(["rm", "-f", Self.socket])
    }

    private var command: [String] {
        reader.command("\(built)/testfixture") + ["--lids", "/run/lids"]
    }

    private func start() throws {
        daemon = try host.start(command, in: SignetFixture.unit)
        try awaitFile(host.path(Self.socket))
    }

    /// Has a daemon run that finds no reader.
    private func removeReader() throws {
        guard hasReader else { return }
        try kill()
        daemon = try host.start(
            ["\(built)/testfixture", "daemon", "--lids", "/run/lids"], in: SignetFixture.unit)
        try awaitFile(host.path(Self.socket))
        hasReader = false
    }

    /// Has the daemon started by the first who connects, and the process of the readers with it, as
    /// systemd does it (`Wants=` in signetd.service).
    private func listen() throws {
        daemon = try host.start(
            [Self.activator, Self.socket] + command + ["--played-readers", Self.readerSocket]
                + ["--", Self.readerSocket] + reader.readerCommand("\(built)/testreader"),
            in: SignetFixture.unit)
        try daemon?.expectError("Listening")
    }

    /// Milliseconds from the last scan to the end of the command.
    private func enrol() throws -> Double {
        let program = try host.start(["\(built)/signet", "enroll", "--account", "alice"])
        try program.expect("the reader")
        for _ in 0..<reader.scans - 1 { try reader.scan() }
        let last = monotonicNow()
        try reader.scan()
        let outcome = try program.expectEnd(within: .seconds(90))
        guard outcome.succeeded else {
            throw BenchFault.unexpected("enrolment: \(outcome.output) \(outcome.errors)")
        }
        return Double(monotonicNow() - last) / 1e6
    }
}
