// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// A verification that a program of a desktop asks for on the system bus: fprintd, signet-fprint with
/// signetd, and a program that answers and does nothing, each on a machine of its own with the same
/// bus, logind and polkit.
struct DesktopSection {
    private struct Side {
        let host: HostFixture
        /// The virtual reader's socket.
        let reader: String
    }

    /// What runs beside signetd.
    private struct Desktop {
        let bus: PrivateBus
        let programs: [Program]
    }

    private static let finger = "alice-right-index"
    private static let figures = [
        ("first call to VerifyFingerSelected", "reported"),
        ("claim to VerifyFingerSelected", "≤ 0.5×"),
        ("VerifyStart to VerifyFingerSelected", "reported"),
        ("claim until the reader waits for a finger", "reported"),
        ("touch to VerifyStatus", "≤ 1.2×"),
    ]

    let workshop: Workshop
    private let runs = 30

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures both in turn, and prints the table.
    func run() throws {
        let theirs = try workshop.host()
        let fprintd = try FprintdPeer(on: theirs, directory: workshop.directory, mocksPolkit: true)
        _ = try fprintd.arrange(.running)
        try fprintd.prompted()
        let site = try LoginSite(workshop, .file)
        let desktop = try startDesktop(on: site)
        let bare = try workshop.host()
        let floor = try startFloor(on: bare)
        let sides = [
            Side(host: theirs, reader: "/run/bench/fprintd-reader"),
            Side(host: site.host, reader: "/run/bench/signet-reader"),
            Side(host: bare, reader: Self.floorReader),
        ]
        for side in sides {
            try side.host.install("\(workshop.directory)/desktop-probe", at: probe)
        }
        for (name, option) in [("the account's own program", "user"), ("root's program", nil)] {
            try measure(sides, of: name, option: option)
        }
        print("polkit and logind are mocks that answer at once")
        for program in desktop.programs + floor.programs { program.signal(SIGKILL) }
    }

    /// Measures the sides in turn, and prints the table of one kind of program.
    private func measure(_ sides: [Side], of name: String, option: String?) throws {
        var samples = sides.map { _ in Self.figures.map { _ in Samples() } }
        for run in 0...runs {
            for (index, side) in sides.enumerated() {
                let values = try verify(on: side, option: option)
                // signet-fprint lets a user make five calls a second.
                usleep(400_000)
                // The first one warms all up.
                if run == 0 { continue }
                for figure in values.indices { samples[index][figure].take { values[figure] } }
            }
        }
        print("| \(name) on the bus | the bus alone | fprintd | signet-fprint | ratio | aim |")
        print("|---|---|---|---|---|---|")
        for (index, figure) in Self.figures.enumerated() {
            let (theirs, ours, floor) = (samples[0][index], samples[1][index], samples[2][index])
            print(
                "| \(figure.0) | \(floor.text(.milliseconds)) |",
                "\(theirs.text(.milliseconds)) | \(ours.text(.milliseconds)) |",
                "\(ours.ratio(to: theirs)) | \(figure.1) |")
        }
        print()
    }

    private static let floorReader = "/run/bench/floor-reader"

    /// Starts a bus, and on it the program that answers and does nothing.
    private func startFloor(on host: HostFixture) throws -> Desktop {
        try host.run(["mkdir", "-p", "/run/bench"])
        let bus = try PrivateBus(
            socket: "/run/dbus/system_bus_socket", prefix: host.path("")
        ) { try host.start($0) }
        try host.install("\(workshop.directory)/desktop-floor", at: "/usr/local/bin/desktop-floor")
        let program = try host.start(["desktop-floor", Self.floorReader])
        try program.expect("ready")
        return Desktop(bus: bus, programs: [program])
    }

    private let probe = "/usr/local/bin/desktop-probe"

    /// Starts a bus with its services, and signet-fprint on it.
    private func startDesktop(on site: LoginSite) throws -> Desktop {
        let host = site.host
        let socket = "/run/dbus/system_bus_socket"
        let bus = try PrivateBus(socket: socket, prefix: host.path("")) { try host.start($0) }
        try host.install("\(workshop.directory)/bus-services", at: "/usr/local/bin/bus-services")
        let services = try host.start(["bus-services", "polkit"])
        try services.expect("ready")
        // The daemon finds the bus when it starts.
        try site.peer.kill()
        _ = try site.peer.arrange(.running)
        let desktop = try host.start(
            [
                "\(Layout.package)/build/testfixture", "desktop", "/run/signet/signetd.sock",
                socket,
                "-", "/run/bench/passed",
            ])
        for _ in 0..<200 {
            let named = try host.run([
                "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                "org.freedesktop.DBus.GetNameOwner", "string:net.reactivated.Fprint",
            ])
            if named.succeeded { break }
        }
        // Its reader keeps the prints while no process runs.
        return Desktop(bus: bus, programs: [services, desktop])
    }

    /// One verification of alice's finger: milliseconds for each figure.
    private func verify(on side: Side, option: String?) throws -> [Double] {
        // As root, who alone can play the person at the reader.
        let outcome = try side.host.run(
            [probe, side.reader, Self.finger, HostFixture.alice.name] + (option.map { [$0] } ?? []),
            in: .session(of: HostFixture.alice))
        let values = outcome.output.split(whereSeparator: \.isWhitespace).compactMap {
            Double($0)
        }
        guard outcome.succeeded, values.count == Self.figures.count else {
            throw BenchFault.unexpected("desktop-probe: \(outcome.output) \(outcome.errors)")
        }
        return values.map { $0 / 1e6 }
    }
}
