// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Measures both peers side by side, in turn, and prints the table.
struct Bench {
    private let host: HostFixture
    private let measures: Measures
    private let fprintd: any Peer
    private let signet: (any Peer)?

    private let mocksPolkit: Bool
    private let floor: Floor

    /// Sets both peers up in a fixture.
    init(_ workshop: Workshop, mocksPolkit: Bool) throws {
        self.mocksPolkit = mocksPolkit
        host = try workshop.host()
        measures = Measures(host: host)
        fprintd = try FprintdPeer(
            on: host, directory: workshop.directory, mocksPolkit: mocksPolkit)
        floor = try Floor(on: host, directory: workshop.directory, runs: 30)
        signet = try SignetPeer(on: host)
    }

    /// Runs everything (some minutes) and prints the table.
    func run() throws {
        showTable(of: figures)
        compare()
    }

    /// Measures a touch alone, and prints its row.
    func runTouch() throws { showTable(of: [touch]) }

    private func showTable(of figures: [Figure]) {
        print("| figure | \(fprintd.name) | signet | ratio | aim |")
        print("|---|---|---|---|---|")
        for figure in figures { show(figure) }
    }

    private func compare() {
        print()
        for name in ["pam_deny", "pam_unix"] {
            var samples = Samples()
            let module = "\(host.moduleDirectory)/\(name).so"
            for _ in 0..<30 { samples.take { try measures.load(module) } }
            print("\(name) loads in \(samples.text(.milliseconds))")
        }
        var denial = Samples()
        for _ in 0..<30 { denial.take { try measures.decline(by: "bench-deny") } }
        print("pam_authenticate with pam_deny alone takes \(denial.text(.milliseconds))")
        print("libfprint alone answers a touch in \(floor.match.text(.milliseconds))")
        print("a signature and its verification take \(floor.crypto.text(.milliseconds))")
        let polkit = mocksPolkit ? "a mock that answers at once" : "Debian's polkitd"
        print("polkit is \(polkit), logind a mock that answers at once")
        print("values are medians, with the 90th percentile")
    }

    private func show(_ figure: Figure) {
        var theirs = Samples()
        var ours = Samples()
        for _ in 0..<figure.runs {
            theirs.take { try figure.measure(fprintd) }
            if let signet { ours.take { try figure.measure(signet) } }
        }
        let ratio = ours.ratio(to: theirs)
        let cells = [
            figure.name, theirs.text(figure.unit), ours.text(figure.unit), ratio, figure.aim,
        ]
        print("| \(cells.joined(separator: " | ")) |")
    }

    private var figures: [Figure] { timing + declines + cost }

    private var touch: Figure {
        Figure(
            name: "touch to PAM_SUCCESS, running daemon", aim: "≤ 1.2×",
            unit: .milliseconds, runs: 30, measure: measures.touchToReturn)
    }

    private var timing: [Figure] {
        [
            touch,
            Figure(
                name: "pam_authenticate to prompt, running daemon", aim: "≤ 20 ms, ≤ 0.25×",
                unit: .milliseconds, runs: 30, measure: measures.callToPrompt(.running)),
            Figure(
                name: "the same, daemon started by the call", aim: "≤ 60 ms, ≤ 0.5×",
                unit: .milliseconds, runs: 30, measure: measures.callToPrompt(.startedByCall)),
            Figure(
                name: "decline, no daemon", aim: "≤ 0.5×",
                unit: .milliseconds, runs: 30, measure: measures.decline(.absent, HostFixture.alice)
            ),
            Figure(
                name: "module load, cold", aim: "≤ 1.5× pam_deny",
                unit: .milliseconds, runs: 30, measure: { try measures.load($0.module) }),
        ]
    }

    private var declines: [Figure] {
        Refusal.allCases.map { refusal in
            Figure(
                name: "decline, \(refusal.rawValue), running daemon", aim: "≤ 5 ms, ≤ 0.5×",
                unit: .milliseconds, runs: 30, measure: measures.decline(refusal))
        }
    }

    private var cost: [Figure] {
        [
            Figure(
                name: "instructions for one match, above pam_permit", aim: "≤ 1×",
                unit: .instructions, runs: 3, measure: measures.instructions()),
            Figure(
                name: "the same, without libcrypto's", aim: "reported",
                unit: .instructions, runs: 3, measure: measures.instructions(without: "libcrypto")),
            Figure(
                name: "application's PSS above pam_permit, at the prompt", aim: "≤ 0.25×",
                unit: .kilobytes, runs: 30, measure: measures.memory(at: "message")),
            Figure(
                name: "the same, at the return", aim: "reported",
                unit: .kilobytes, runs: 30, measure: measures.memory(at: "return")),
            Figure(
                name: "daemon idle: RSS", aim: "no process after the idle time",
                unit: .kilobytes, runs: 1,
                measure: measures.idle { try Accounting.status($0, "VmRSS") }),
            Figure(
                name: "daemon idle: PSS", aim: "≤ 1× while up",
                unit: .kilobytes, runs: 1, measure: measures.idle(Accounting.pss)),
            Figure(
                name: "daemon idle: private dirty memory", aim: "reported",
                unit: .kilobytes, runs: 1, measure: measures.idle(Accounting.privateDirty)),
            Figure(
                name: "the same, of the process that decides (signetd) alone", aim: "≤ 1× while up",
                unit: .kilobytes, runs: 1, measure: measures.alone(Accounting.privateDirty)),
            Figure(
                name: "daemon idle: threads", aim: "no process after the idle time",
                unit: .number, runs: 1,
                measure: measures.idle { try Accounting.status($0, "Threads") }),
            Figure(
                name: "wake-ups a second while a finger is awaited", aim: "0",
                unit: .number, runs: 3, measure: measures.wakeUps),
            Figure(
                name: "daemon stopped after the prompt, timeout 10 s: PAM returns after",
                aim: "10.1 s", unit: .seconds, runs: 1, measure: measures.stopped),
        ]
    }
}
