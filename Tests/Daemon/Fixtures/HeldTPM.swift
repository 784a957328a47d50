// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization
import TestSupport

/// A TPM that stands still at one command of the daemon's until it is told to go on.
///
/// What the daemon does with its vault waits for it, and other requests go on meanwhile.
final class HeldTPM: Sendable {
    private let bus: TPMInterposer
    private let pause: Pause

    private final class Pause: Sendable {
        let asked = DispatchedEvent()
        let goOn: Event
        let isOver = Mutex(false)

        init() throws { goOn = try Event() }
    }

    init() throws {
        pause = try Pause()
        bus = try TPMInterposer(try SoftwareTPM())
    }

    /// What the daemon is told of it: keys go there, and it may stand still for longer than usual.
    var configuration: String { "[vault]\nkind = tpm\ntpm = \(bus.tcti)\ntimeout = 20s\n" }

    /// Stands still before the first command from now on of which this is true.
    func stop(before isMoment: @escaping @Sendable (TPMExchange) -> Bool) {
        bus.setRule(at: .command) { [pause] exchange in
            guard isMoment(exchange) else { return .pass }
            let isFirst = pause.isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst {
                pause.asked.happen()
                hold(until: pause.goOn)
            }
            return .pass
        }
    }

    /// Waits until it stands still.
    func awaitStop() throws { try pause.asked.wait() }

    /// Lets it go on.
    func goOn() { pause.goOn.happen() }
}
