// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a program said and how it ended.
package struct Outcome: Sendable {
    /// How it ended.
    package let ending: Ending
    /// Standard output.
    package let output: String
    /// Standard error.
    package let errors: String

    /// Whether it exited with 0.
    package var succeeded: Bool { ending == .exited(0) }
}

/// A program without a terminal, a daemon for example: its outputs are collected as they come,
/// signals can be sent, its end awaited. Killed when this is released.
package final class Program: Sendable {
    private let command: Command
    private let child: ChildProcess
    private let standardOutput: Collector
    private let standardError: Collector

    /// Starts it in a session of its own, with `input` (up to 64 KB) as its whole standard input.
    package init(_ command: Command, input: String = "") throws(TestFault) {
        let given = try Pipe()
        let said = try Pipe()
        let warned = try Pipe()
        try given.write.write(Array(input.utf8))
        child = try ChildProcess(
            command, terminal: nil,
            standard: (given.read.number, said.write.number, warned.write.number))
        self.command = command
        standardOutput = try Collector(from: said.read)
        standardError = try Collector(from: warned.read)
    }

    /// The process id as the machine sees it (for `/proc/PID`).
    package var pid: Int32 { child.pid }
    /// Standard output until now.
    package var output: String { String(decoding: standardOutput.bytes, as: UTF8.self) }
    /// Standard error until now.
    package var errors: String { String(decoding: standardError.bytes, as: UTF8.self) }
    /// How it ended; nil while it runs.
    package var ended: Ending? { child.ended }

    /// Sends a signal (SIGTERM, SIGKILL, SIGCONT …) if it still runs.
    package func signal(_ number: Int32) { child.signal(number) }

    /// Sends SIGSTOP and returns when it stands still.
    package func suspend() { child.suspend() }

    /// Waits until standard output holds `text` so many times, from its beginning.
    package func expect(
        _ text: String, times: Int = 1, within limit: Duration = .patience
    ) throws(TestFault) {
        try expect(text, times, in: standardOutput, within: limit)
    }

    /// Waits until standard error holds `text`, from its beginning.
    package func expectError(
        _ text: String, within limit: Duration = .patience
    ) throws(TestFault) {
        try expect(text, 1, in: standardError, within: limit)
    }

    /// Waits until it ended and its outputs are closed.
    @discardableResult
    package func expectEnd(within limit: Duration = .patience) throws(TestFault) -> Outcome {
        guard let ending = child.end(within: limit) else {
            throw .deadline(awaited: "the end of \(title)", transcript: transcript)
        }
        for collector in [standardOutput, standardError] {
            let isClosed = collector.first(within: limit) { _, isClosed in isClosed ? true : nil }
            guard isClosed == true else {
                throw .deadline(awaited: "closed outputs of \(title)", transcript: transcript)
            }
        }
        return Outcome(ending: ending, output: output, errors: errors)
    }

    private var title: String { command.arguments.joined(separator: " ") }
    private var transcript: String { "output:\n\(output)\nerrors:\n\(errors)" }

    private func expect(
        _ text: String, _ times: Int, in collector: Collector, within limit: Duration
    ) throws(TestFault) {
        let wanted = Array(text.utf8)
        let isThere = collector.first(within: limit) { chunks, _ in
            chunks.flatMap(\.bytes).ranges(of: wanted).count >= times ? true : nil
        }
        if isThere == true { return }
        let awaited = "'\(text)' from \(title)" + (times > 1 ? ", \(times) times" : "")
        throw collector.isClosed
            ? .closed(awaited: awaited, transcript: transcript)
            : .deadline(awaited: awaited, transcript: transcript)
    }
}
