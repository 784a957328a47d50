// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Tells how long the machine has run.
@ServiceActor
final class Pulse: RequestService {
    private let clock: Clock

    init(_ parts: Collaborators) { clock = parts.clock }

    var handlers: [RequestHandler] { [RequestHandler(answerPulse)] }

    /// Sends as many answers as the request asks for.
    private func answerPulse(_ request: PulseRequest, client: any Client) async -> Answer {
        for _ in 0..<request.beats {
            let seconds = clock.sinceBoot().components.seconds
            await client.send(.of(PulseAnswer(seconds: UInt32(clamping: seconds))))
        }
        return .done(DoneAnswer())
    }
}
