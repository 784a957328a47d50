// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Asks how long the machine has run: answered by `pulse`, then `done`.
package struct PulseRequest: MachineRequest {
    package static let verb = Verb(200, name: "pulse")
    package static let rule = VerbRule(.anyone)

    /// How many answers the caller wants, at most 9.
    package let beats: UInt8

    func check() throws(WireFault) {
        guard beats <= 9 else { throw .malformedValue }
    }
}

/// How long the machine has run.
package struct PulseAnswer: DaemonAnswer {
    package static let kind = AnswerKind(220, name: "pulse")

    /// The seconds since it was started.
    package let seconds: UInt32
}

extension Field {
    package static var beats: Field { Field(250, size: 1) }
}
