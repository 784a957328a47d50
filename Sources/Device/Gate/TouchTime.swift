// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// The time that one touch may take: the user's, which begins when a finger is first asked for, and
/// before that the machine's.
///
/// A slow machine needs long to start the readers' process and to open a reader. That is not taken
/// from the time for the finger.
@ServiceActor
package final class TouchTime {
    /// How long the machine may take until it asks for a finger; only what is dead takes longer.
    package static let preparation = Duration.seconds(90)

    /// When a finger was first asked for, as time since boot; nil before that.
    private(set) var asked: Duration?
    /// When the time is over, as time since boot; later once a finger is asked for.
    private(set) var end: Duration
    private let timeout: Duration
    private let clock: Clock
    private var timer: Timer?
    private var scan: Interruption?
    /// Whether the time was over while the reader was asked.
    private(set) var isOver = false

    /// Starts the machine's time; the user's will be `timeout`.
    init(_ timeout: Duration, clock: Clock, preparation: Duration) {
        self.timeout = timeout
        self.clock = clock
        end = clock.sinceBoot()
        count(preparation)
    }

    /// Starts the user's time with the first notice that asks for something to be done: to touch the
    /// reader, to lift the finger, or to plug the reader in.
    func hear(_ notice: Notice) {
        guard asked == nil, notice.asksUser else { return }
        asked = clock.sinceBoot()
        count(timeout)
    }

    /// The longest time until the end, which includes the user's whether or not that has begun.
    ///
    /// - Throws: `timedOut` if the time is over, `readerFailed` if no finger was asked for in it.
    func left() throws(Denial) -> Duration {
        let left = end - clock.sinceBoot()
        guard left > .zero, !isOver else { throw denial }
        return asked == nil ? left + timeout : left
    }

    /// Why a touch has failed whose time is over.
    var denial: Denial { Denial(asked == nil ? .readerFailed : .timedOut) }

    /// Ends one scan when the time is over.
    func expiry() -> Interruption {
        let expiry = Interruption()
        scan = expiry
        return expiry
    }

    private func count(_ time: Duration) {
        end = clock.sinceBoot() + time
        timer = Timer(after: time) { [weak self] in
            self?.isOver = true
            self?.scan?.raise()
        }
    }
}

extension Notice {
    /// Whether the user has to do something now.
    fileprivate var asksUser: Bool {
        switch kind {
        case .touch: true
        case .retry: retry != .restarted
        default: false
        }
    }
}
