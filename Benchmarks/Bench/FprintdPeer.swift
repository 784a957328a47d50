// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// Debian's pam_fprintd and fprintd, unpacked but not installed, on a system bus of the fixture.
///
/// logind is a mock that answers at once; polkit is Debian's own, or a mock as well.
final class FprintdPeer: Peer {
    let name = "pam_fprintd + fprintd"
    let service = "bench-fprintd"
    let asking = "finger"
    let module: String

    private static let program = "fprintd"
    private static let busName = "net.reactivated.Fprint"
    private static let emptyBus = "unix:path=/run/dbus/empty"
    private let host: HostFixture
    private let reader: PeerReader
    private let directory: String
    private let mocksPolkit: Bool
    private var daemonsBeside: [Program] = []
    /// Tells who has fprintd's name on the bus, each time that changes.
    private var owners: Program?
    private var isStorageLost = false

    /// Sets it up and enrols alice; `directory` is the one that prepare.sh filled.
    init(
        on host: HostFixture, directory: String, mocksPolkit: Bool, reader: ReaderKind = .virtual
    ) throws {
        self.mocksPolkit = mocksPolkit
        self.host = host
        self.directory = directory
        self.reader = try PeerReader(reader, on: host, named: "fprintd")
        module = "\(host.moduleDirectory)/pam_fprintd.so"
        let built = try Layout.matching("\(directory)/peer/lib/*/security/pam_fprintd.so")
        try host.installModule(built, as: "pam_fprintd.so")
        try host.install("\(directory)/bus-services", at: "/usr/local/bin/bus-services")
        try host.writeService(
            service,
            """
            auth required pam_fprintd.so timeout=10
            account required pam_permit.so

            """)
        try startBuses()
        try enrol()
    }

    func arrange(_ situation: Situation) throws -> [String: String] {
        switch situation {
        case .running:
            try activate()
            return [:]
        case .startedByCall:
            try kill()
            return [:]
        case .absent:
            return ["DBUS_SYSTEM_BUS_ADDRESS": Self.emptyBus]
        }
    }

    func arrange(_ refusal: Refusal) throws -> Declined {
        try activate()
        guard refusal == .remote else {
            return Declined(service: service, account: HostFixture.bob)
        }
        return Declined(
            service: service, account: HostFixture.alice,
            environment: ["PROBE_RHOST": "example.org"])
    }

    func daemons() throws -> [Int32] { host.processes(named: Self.program) }

    func prompted() throws {
        if isStorageLost { try reader.restore() }
        isStorageLost = false
    }

    func touch() throws -> Int64 { try reader.touch() }

    func lift() throws { try reader.lift() }

    func kill() throws {
        guard try !daemons().isEmpty else { return }
        let owner = try owner()
        try host.kill(named: Self.program)
        isStorageLost = true
        // Until the bus knows it, it starts no other.
        try owners?.expect("string \"\(Self.busName)\"\n   string \"\(owner)\"\n   string \"\"")
    }

    /// The connection that has fprintd's name now.
    private func owner() throws -> String {
        let words = try bus("GetNameOwner", Self.busName).split(separator: "\"")
        guard words.count > 1 else { throw BenchFault.unexpected("fprintd is not on the bus") }
        return String(words[1])
    }

    private func activate() throws {
        if try !daemons().isEmpty { return }
        try bus("StartServiceByName", Self.busName, "uint32:0")
    }

    @discardableResult
    private func bus(_ method: String, _ arguments: String...) throws -> String {
        let outcome = try host.run(
            [
                "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                "org.freedesktop.DBus.\(method)",
            ] + arguments.map { $0.contains(":") ? $0 : "string:\($0)" })
        guard outcome.succeeded else { throw BenchFault.unexpected(outcome.errors) }
        return outcome.output
    }

    private func startBuses() throws {
        let settings = reader.environment.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        try host.run(["mkdir", "-p", "/run/bench/services", "/run/bench/none", "/var/lib/fprint"])
        try host.write(
            "/run/bench/services/net.reactivated.Fprint.service",
            """
            [D-BUS Service]
            Name=net.reactivated.Fprint
            Exec=/usr/bin/env \(settings) \(directory)/peer/usr/libexec/fprintd --no-timeout

            """)
        try host.write(
            "/run/bench/services/org.freedesktop.PolicyKit1.service",
            """
            [D-BUS Service]
            Name=org.freedesktop.PolicyKit1
            Exec=\(directory)/peer/usr/lib/polkit-1/polkitd --no-debug

            """)
        try host.write("/etc/fprintd.conf", Layout.read("\(directory)/peer/etc/fprintd.conf"))
        let libraries = try Layout.matching("\(directory)/peer/usr/lib/*/libpolkit-gobject-1.so.0")
        let environment = ["LD_LIBRARY_PATH": Layout.directory(of: libraries)]
        let address = "unix:path=/run/dbus/system_bus_socket"
        try startBus(address, services: "/run/bench/services", environment: environment)
        try startBus(Self.emptyBus, services: "/run/bench/none", environment: [:])
        let owners = try host.start([
            "dbus-monitor", "--system",
            "type='signal',member='NameOwnerChanged',arg0='\(Self.busName)'",
        ])
        // Its own name goes when it begins to hear others' signals.
        try owners.expect("member=NameLost")
        self.owners = owners
        let services = try host.start(["bus-services"] + (mocksPolkit ? ["polkit"] : []))
        try services.expect("ready")
        daemonsBeside.append(services)
        if !mocksPolkit { try startPolkit() }
    }

    private func startPolkit() throws {
        // /usr/share is the machine's, but for polkit's directory; the account may be missing.
        let outcome = try host.run([
            "sh", "-ec",
            """
            mkdir -p /run/bench/share /etc/polkit-1/rules.d
            mount --rbind /usr/share /run/bench/share
            mount -t tmpfs share /usr/share
            ln -s /run/bench/share/* /usr/share
            rm -f /usr/share/polkit-1
            cp -r '\(directory)/peer/usr/share/polkit-1' /usr/share
            grep -q '^polkitd:' /etc/passwd ||
                echo 'polkitd:x:4299:4299::/nonexistent:/usr/sbin/nologin' >>/etc/passwd
            """,
        ])
        guard outcome.succeeded else { throw BenchFault.unexpected(outcome.errors) }
        try bus("StartServiceByName", "org.freedesktop.PolicyKit1", "uint32:0")
    }

    private func startBus(
        _ address: String, services: String, environment: [String: String]
    ) throws {
        let configuration = "\(services)/bus.conf"
        try host.write(
            configuration,
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
                <listen>\(address)</listen>
                <auth>EXTERNAL</auth>
                <servicedir>\(services)</servicedir>
                <policy context="default">
                    <allow user="*"/>
                    <allow own="*"/>
                    <allow send_destination="*"/>
                    <allow receive_sender="*"/>
                </policy>
            </busconfig>

            """)
        let bus = try host.start(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--print-address"],
            environment: environment)
        try bus.expect("unix:")
        daemonsBeside.append(bus)
    }

    private func enrol() throws {
        try activate()
        let program = try host.start(
            ["\(directory)/peer/usr/bin/fprintd-enroll", "-f", "right-index-finger", "alice"],
            environment: [
                "LD_LIBRARY_PATH": "\(directory)/peer/usr/lib", "G_MESSAGES_DEBUG": "",
            ])
        try program.expect("Enrolling right-index-finger finger")
        for scan in 1... {
            try reader.scan()
            try program.expect("Enroll result:", times: scan)
            // One more than the reader wants where fprintd looks first whether it knows the finger.
            if program.output.contains("completed") || scan > reader.scans { break }
        }
        let outcome = try program.expectEnd()
        guard outcome.output.contains("enroll-completed") else {
            throw BenchFault.unexpected("enrolment: \(outcome.output) \(outcome.errors)")
        }
    }
}
