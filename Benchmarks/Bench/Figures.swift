// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// One row of the table: what is measured, in which unit, how often, and what is aimed at.
struct Figure {
    let name: String
    let aim: String
    let unit: Unit
    let runs: Int
    let measure: (any Peer) throws -> Double
}

/// The ways to measure, each for either peer.
struct Measures {
    let host: HostFixture

    /// Milliseconds from a touch to PAM_SUCCESS.
    func touchToReturn(_ peer: any Peer) throws -> Double {
        let probe = try probe(peer, .running)
        try probe.waitForPrompt(of: peer)
        let touched = try peer.touch()
        let returned = try probe.finish().returned(success: true)
        return Double(returned.nanoseconds - touched) / 1e6
    }

    /// Milliseconds from a finger's being put on, and held, to PAM_SUCCESS.
    func heldToReturn(_ peer: any Peer) throws -> Double {
        let milliseconds = try touchToReturn(peer)
        try peer.lift()
        return milliseconds
    }

    /// What one login costs beside the person's own time, in milliseconds.
    struct Login {
        /// From pam_authenticate to the message that asks for the finger.
        let toPrompt: Double
        /// From the touch to PAM_SUCCESS.
        let fromTouch: Double
    }

    /// One login by a running daemon; the finger comes after `reaction` microseconds.
    func login(
        _ peer: any Peer, reaction: UInt32 = Probe.reactionMicroseconds
    ) throws -> Login {
        let probe = try probe(peer, .running)
        try probe.waitForPrompt(of: peer, reaction: reaction)
        let touched = try peer.touch()
        let events = try probe.finish()
        let returned = try events.returned(success: true).nanoseconds
        let start = try events.first("start").nanoseconds
        return Login(
            toPrompt: Double(try events.prompt(of: peer).nanoseconds - start) / 1e6,
            fromTouch: Double(returned - touched) / 1e6)
    }

    /// Milliseconds from pam_authenticate to the message that asks for the finger.
    func callToPrompt(_ situation: Situation) -> (any Peer) throws -> Double {
        { peer in
            let probe = try self.probe(peer, situation)
            try probe.waitForPrompt(of: peer)
            _ = try peer.touch()
            let events = try probe.finish()
            _ = try events.returned(success: true)
            return Double(
                try events.prompt(of: peer).nanoseconds - events.first("start").nanoseconds)
                / 1e6
        }
    }

    /// Milliseconds of a pam_authenticate that declines by itself.
    func decline(_ situation: Situation, _ account: Account) -> (any Peer) throws -> Double {
        { peer in
            let events = try self.probe(peer, situation, account: account).finish()
            let returned = try events.returned(success: false)
            return Double(returned.nanoseconds - (try events.first("start").nanoseconds)) / 1e6
        }
    }

    /// Milliseconds of a pam_authenticate by a module that does nothing but refuse.
    func decline(by service: String) throws -> Double {
        let events = try Probe(
            on: host, service: service, account: HostFixture.alice, environment: [:]
        ).finish()
        let returned = try events.returned(success: false)
        return Double(returned.nanoseconds - (try events.first("start").nanoseconds)) / 1e6
    }

    /// Milliseconds of one that declines in one way to stay out while the daemon runs.
    func decline(_ refusal: Refusal) -> (any Peer) throws -> Double {
        { peer in
            let declined = try peer.arrange(refusal)
            let probe = try Probe(
                on: self.host, service: declined.service, account: declined.account,
                environment: declined.environment, under: declined.wrapper,
                in: declined.place)
            let events = try probe.finish()
            let returned = try events.returned(success: false)
            return Double(returned.nanoseconds - (try events.first("start").nanoseconds)) / 1e6
        }
    }

    /// Instructions of the application for one match, above those with pam_permit; all, or without
    /// those of one library.
    func instructions(without library: String? = nil) -> (any Peer) throws -> Double {
        { peer in
            let count = { (profile: Callgrind) in
                library.map { profile.total(without: $0) } ?? profile.total
            }
            let file = "/run/bench/callgrind"
            let command = Callgrind.command(into: file)
            let probe = try self.probe(peer, .running, under: command)
            try probe.waitForPrompt(of: peer)
            _ = try peer.touch()
            _ = try probe.finish().returned(success: true)
            let matched = try self.profile(file)
            _ = try Probe(
                on: self.host, service: "bench-permit", account: HostFixture.alice,
                environment: [:],
                under: command
            ).finish()
            return count(matched) - count(try self.profile(file))
        }
    }

    /// The application's PSS in kB above that with pam_permit: while it waits, or at its return.
    func memory(at event: String) -> (any Peer) throws -> Double {
        { peer in
            let probe = try self.probe(peer, .running, mode: "memory")
            try probe.waitForPrompt(of: peer)
            _ = try peer.touch()
            let events = try probe.finish()
            let permit = try Probe(
                on: self.host, mode: "memory", service: "bench-permit", account: HostFixture.alice,
                environment: [:]
            ).finish()
            return Double(try events.first(event).kilobytes - permit.first("return").kilobytes)
        }
    }

    /// A value of the daemon when idle, summed over its processes.
    func idle(_ value: @escaping (Int32) throws -> Int) -> (any Peer) throws -> Double {
        { peer in
            _ = try peer.arrange(.running)
            return Double(try peer.daemons().map(value).reduce(0, +))
        }
    }

    /// A value of the one of its processes that decides.
    func alone(_ value: @escaping (Int32) throws -> Int) -> (any Peer) throws -> Double {
        { peer in
            _ = try peer.arrange(.running)
            return Double(try peer.daemons().first.map(value) ?? 0)
        }
    }

    /// Seconds until PAM returns when the daemon was stopped after the prompt.
    func stopped(_ peer: any Peer) throws -> Double {
        let probe = try probe(peer, .running)
        try probe.waitForPrompt(of: peer)
        for daemon in try peer.daemons() { _ = kill(daemon, SIGSTOP) }
        let stopped = monotonicNow()
        defer { try? peer.kill() }
        let returned = try probe.finish(within: .seconds(180)).returned(success: false)
        return Double(returned.nanoseconds - stopped) / 1e9
    }

    /// Times a second that application and daemon run while a finger is awaited.
    func wakeUps(_ peer: any Peer) throws -> Double {
        let probe = try probe(peer, .running)
        try probe.waitForPrompt(of: peer)
        let pids = try peer.daemons() + [probe.program.pid]
        let before = try pids.map(Accounting.switches)
        // For so long it is measured.
        usleep(2_000_000)
        let after = try pids.map(Accounting.switches)
        _ = try peer.touch()
        _ = try probe.finish().returned(success: true)
        // Threads that ended meanwhile are no longer accounted; new ones began at nothing.
        let woken = zip(before, after).map { before, after in
            after.map { $0.value - before[$0.key, default: 0] }.reduce(0, +)
        }
        return Double(woken.reduce(0, +)) / 2
    }

    /// Milliseconds to load a module into a fresh process.
    func load(_ module: String) throws -> Double {
        let outcome = try host.run([Probe.path, "load", module])
        let words = outcome.output.split(whereSeparator: \.isWhitespace)
        guard outcome.succeeded, let time = words.last.flatMap({ Double($0) }) else {
            throw BenchFault.unexpected(outcome.errors)
        }
        return time / 1e6
    }

    private func profile(_ file: String) throws -> Callgrind {
        try Callgrind(profile: String(decoding: host.read(file), as: UTF8.self))
    }

    private func probe(
        _ peer: any Peer, _ situation: Situation, mode: String = "authenticate",
        account: Account = HostFixture.alice, under wrapper: [String] = []
    ) throws -> Probe {
        try Probe(
            on: host, mode: mode, service: peer.service, account: account,
            environment: peer.arrange(situation), under: wrapper)
    }
}
