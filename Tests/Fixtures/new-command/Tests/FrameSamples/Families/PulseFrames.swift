// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol

/// The expectations and samples of `Sources/Device/CommandProtocol/PulseRequest.swift`.
package enum PulseFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            PulseRequest.self, owner: true, other: true, proof: .none, isAboutAccount: false)
    ]

    package static let requests: [Request] = [.pulse(beats: 0), .pulse(beats: 9)]

    package static let answers: [Answer] = [
        .of(PulseAnswer(seconds: 0)), .of(PulseAnswer(seconds: .max)),
    ]
}
