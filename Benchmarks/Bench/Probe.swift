// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// CLOCK_MONOTONIC in nanoseconds, as the probe tells it.
func monotonicNow() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// One authentication by the probe (Benchmarks/probe.c), observed from outside.
struct Probe {
    /// What the probe tells.
    struct Event {
        let name: Substring
        let nanoseconds: Int64
        let number: Int
        let kilobytes: Int
        let text: Substring
    }

    static let path = "/usr/local/bin/probe"
    let program: Program

    /// Starts the probe; `under` goes before it, as of valgrind.
    init(
        on host: HostFixture, mode: String = "authenticate", service: String, account: Account,
        environment: [String: String], under wrapper: [String] = [],
        in place: FixturePlace = .session(of: nil)
    ) throws {
        let arguments = wrapper + [Self.path, mode, service, account.name]
        program = try host.start(arguments, in: place, environment: environment)
    }

    /// How long a person takes to react.
    static let reactionMicroseconds: UInt32 = 100_000

    /// Waits until the module asks for the finger, and a moment longer, as a person would need to
    /// react: all that the peer does before it waits for the finger is then done.
    func waitForPrompt(
        of peer: any Peer, reaction: UInt32 = reactionMicroseconds
    ) throws {
        try program.expect(peer.asking, within: .seconds(60))
        try peer.prompted()
        usleep(reaction)
    }

    /// Waits for the end and returns all that was told.
    func finish(within limit: Duration = .seconds(60)) throws -> [Event] {
        let outcome = try program.expectEnd(within: limit)
        guard outcome.succeeded else {
            throw BenchFault.unexpected("the probe: \(outcome.ending) \(outcome.errors)")
        }
        return outcome.output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 4)
            guard words.count >= 4, let time = Int64(words[1]), let number = Int(words[2]),
                let kilobytes = Int(words[3])
            else { return nil }
            return Event(
                name: words[0], nanoseconds: time, number: number, kilobytes: kilobytes,
                text: words.count > 4 ? words[4] : "")
        }
    }
}

extension [Probe.Event] {
    /// The first event of a name.
    func first(_ name: String) throws -> Probe.Event {
        guard let event = first(where: { $0.name == name }) else {
            throw BenchFault.unexpected("the probe told no '\(name)'")
        }
        return event
    }

    /// The message that asked for the finger.
    func prompt(of peer: any Peer) throws -> Probe.Event {
        guard
            let event = first(where: { $0.name == "message" && $0.text.contains(peer.asking) })
        else { throw BenchFault.unexpected("the probe told of no prompt") }
        return event
    }

    /// The return, which must or must not be PAM_SUCCESS.
    func returned(success: Bool) throws -> Probe.Event {
        let event = try first("return")
        guard (event.number == 0) == success else {
            throw BenchFault.unexpected("PAM returned \(event.number)")
        }
        return event
    }
}
