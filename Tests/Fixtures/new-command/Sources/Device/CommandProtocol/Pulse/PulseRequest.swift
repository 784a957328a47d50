// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Asks how long the machine has run: answered by `pulse`, then `done`.
package struct PulseRequest: MachineRequest {
    package static let verb = Verb(200, name: "pulse")
    package static let rule = VerbRule(.anyone)

    /// How many answers the caller wants, at most 9.
    package let beats: UInt8

    /// Creates a request.
    package init(beats: UInt8) { self.beats = beats }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.beats, number: beats)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        beats = try frame.number(.beats)
        guard beats <= 9 else { throw .malformedValue }
    }
}

/// How long the machine has run.
package struct PulseAnswer: DaemonAnswer {
    package static let kind = AnswerKind(220, name: "pulse")

    /// The seconds since it was started.
    package let seconds: UInt32

    /// Creates an answer.
    package init(seconds: UInt32) { self.seconds = seconds }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.seconds, number: seconds)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        seconds = try frame.number(.seconds)
    }
}

extension Field {
    package static var beats: Field { Field(250, size: 1) }
}

extension Request {
    package static func pulse(beats: UInt8) -> Request { Request(PulseRequest(beats: beats)) }
}
