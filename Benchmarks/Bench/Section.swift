// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What is measured in one go.
enum Section: String, CaseIterable {
    /// Side by side with pam_fprintd and fprintd.
    case peers
    /// The first of those figures alone, to find out where its time goes.
    case touch
    /// The same with a finger that stays on a played reader, which a real driver drives.
    case held
    /// Commands that need no finger, side by side with fprintd's.
    case commands
    /// The vaults, against what nobody can be faster than.
    case vaults
    /// Logins with many receipts and many accounts.
    case growth
    /// Secrets of 64 KB.
    case secrets
    /// The message bus, and sleep.
    case sleep
    /// A verification on the bus, side by side with fprintd.
    case desktop
    /// A login by ssh, against one with ssh-agent.
    case ssh
    /// The server's checks, against the ECDSA that they cannot do without.
    case server
    /// Logins beside a neighbour at the same address who uses up what the address may ask.
    case neighbour
    /// The server with many registrations, on PostgreSQL by several processes, and its own process.
    case scale

    /// The sections that measure something no other does.
    static var whole: [Section] { allCases.filter { $0 != .touch } }

    /// Measures and prints.
    func run(in workshop: Workshop, mocksPolkit: Bool, scale: ScaleSection.Scale) throws {
        switch self {
        case .peers: try Bench(workshop, mocksPolkit: mocksPolkit).run()
        case .touch: try Bench(workshop, mocksPolkit: mocksPolkit).runTouch()
        case .held: try HeldSection(workshop: workshop, mocksPolkit: mocksPolkit).run()
        case .commands:
            try CommandSection(workshop: workshop, mocksPolkit: mocksPolkit).run()
        case .vaults: try VaultSection(workshop: workshop).run()
        case .growth: try GrowthSection(workshop: workshop).run()
        case .secrets: try SecretSection(workshop: workshop).run()
        case .sleep: try SleepSection(workshop: workshop).run()
        case .desktop: try DesktopSection(workshop: workshop).run()
        case .ssh: try SSHSection(workshop: workshop).run()
        case .server: try ServerSection(workshop: workshop).run()
        case .neighbour: try NeighbourSection(workshop: workshop).run()
        case .scale: try ScaleSection(workshop: workshop, scale: scale).run()
        }
        print()
        // So that whoever reads a file sees how far it is.
        fflush(nil)
    }
}

/// Where the programs are that only the bench needs.
struct Workshop {
    /// `.build/bench` of the package.
    let directory = "\(Layout.package)/.build/bench"

    /// Fetches and builds what is not there yet.
    init() throws {
        let script = "\(Layout.package)/Benchmarks/prepare.sh"
        let prepared = try Program(Command(["sh", script, directory]))
            .expectEnd(within: .seconds(300))
        guard prepared.succeeded else {
            throw BenchFault.unexpected("prepare.sh: \(prepared.errors)")
        }
    }

    /// A machine of its own with the probe on it, and the service that permits everything.
    func host() throws -> HostFixture {
        let host = try HostFixture()
        try host.install("\(directory)/probe", at: Probe.path)
        try host.install("\(directory)/on-demand", at: SignetPeer.activator)
        try host.writeService(
            "bench-permit", "auth required pam_permit.so\naccount required pam_permit.so\n")
        try host.writeService("bench-deny", "auth required pam_deny.so\n")
        return host
    }
}
