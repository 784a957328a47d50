// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What the message bus costs a login, and how long the reader takes to be of use after sleep.
struct SleepSection {
    let workshop: Workshop
    private let runs = 30

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures without a bus and with one, then around sleep, and prints the tables.
    func run() throws {
        let site = try LoginSite(workshop, .file)
        let without = try figures(of: site)
        let host = site.host
        let bus = try PrivateBus(
            socket: "/run/dbus/system_bus_socket", prefix: host.path("")
        ) { try host.start($0) }
        let logind = try bus.startLogind()
        try site.peer.kill()
        let with = try figures(of: site)
        print("| figure | no message bus | logind on one | ratio |")
        print("|---|---|---|---|")
        for (none, some) in zip(without, with) {
            let unit = none.unit
            print(
                "| \(none.name) | \(none.samples.text(unit)) | \(some.samples.text(unit)) |",
                "\(some.samples.ratio(to: none.samples)) |")
        }
        print()
        try showSleep(of: site, bus)
        logind.signal(SIGKILL)
    }

    private typealias Measured = (name: String, unit: Unit, samples: Samples)

    private func figures(of site: LoginSite) throws -> [Measured] {
        let measures = site.measures
        let figures: [(String, Unit, Int, (any Peer) throws -> Double)] = [
            (
                "pam_authenticate to prompt, running daemon", .milliseconds, runs,
                measures.callToPrompt(.running)
            ),
            (
                "the same, daemon started by the call", .milliseconds, runs,
                measures.callToPrompt(.startedByCall)
            ),
            ("touch to PAM_SUCCESS, running daemon", .milliseconds, runs, measures.touchToReturn),
            ("wake-ups a second while a finger is awaited", .number, 3, measures.wakeUps),
        ]
        return figures.map { name, unit, runs, measure in
            var samples = Samples()
            for _ in 0..<runs { samples.take { try measure(site.peer) } }
            return (name, unit, samples)
        }
    }

    private func showSleep(of site: LoginSite, _ bus: PrivateBus) throws {
        var (call, wake) = (Samples(), Samples())
        for _ in 0..<runs {
            let probe = try Probe(
                on: site.host, service: site.peer.service, account: HostFixture.alice,
                environment: [:])
            try probe.waitForPrompt(of: site.peer)
            guard try bus.sleep(lookingAt: "/run/bench/signet-reader").isInTime else {
                throw BenchFault.unexpected("sleep was held up")
            }
            _ = try probe.finish().returned(success: false)
            try bus.wake()
            let awake = monotonicNow()
            let next = try Probe(
                on: site.host, service: site.peer.service, account: HostFixture.alice,
                environment: [:])
            try next.waitForPrompt(of: site.peer)
            _ = try site.peer.touch()
            let events = try next.finish()
            _ = try events.returned(success: true)
            let prompt = try events.prompt(of: site.peer).nanoseconds
            let start = try events.first("start").nanoseconds
            call.take { Double(prompt - start) / 1e6 }
            wake.take { Double(prompt - awake) / 1e6 }
        }
        print("| after sleep | |")
        print("|---|---|")
        print("| pam_authenticate to prompt, the first login | \(call.text(.milliseconds)) |")
        print(
            "| waking up to prompt, a program's start included | \(wake.text(.milliseconds)) |")
    }
}
