// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import JSONFormat
import LoginMessages

/// `signet pulse`: shows how long the machine has run, with a request of its own.
struct PulseCommand: Command {
    static let helpPosition = 95
    static let syntax = CommandSyntax(
        "pulse", summary: "show how long the machine has run", options: [.json])

    let run: Invocation

    func perform() throws(CommandFault) {
        let beats: [PulseAnswer] = try run.collect(.pulse(beats: 1)) { $0.own() }
        guard let beat = beats.first, beats.count == 1 else {
            throw .fault(CommonMessages.unexpected)
        }
        run.say(
            .document("pulse", members: [("seconds", .number(UInt64(beat.seconds)))]),
            [PulseResultMessages.running(for: beat.seconds)])
    }
}

/// What `signet pulse` shows.
enum PulseResultMessages {
    /// The machine runs.
    static func running(for seconds: UInt32) -> Text {
        "the machine has run for \(number: seconds) s"
    }
}
