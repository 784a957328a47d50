// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import LoginProtocol
import MainContext

/// A request for a scan, until the daemon has ended it, or the last of several requests for the same
/// scan.
@ServiceActor
final class RunningScan {
    let action: DeviceState.Action
    let client: String
    let vocabulary: ClientVocabulary
    private let request: Request
    private var call: DaemonCall
    private let daemon: DaemonConnections
    private let paths: DesktopPaths
    private var resting: CheckedContinuation<Void, Never>?
    /// Why no further request is to be made; nil while one may be.
    private var stopped: DenialReason?
    private var timer: Timer?
    private var isRepeated = false
    private var isTimeUp = false
    /// The call that began it, until it is answered.
    var start: CheckedContinuation<Result<Finger?, DesktopFault>, Never>?
    /// Resumed when the claimer has been told that it began.
    var told: CheckedContinuation<Void, Never>?
    var wasAdmitted = false
    /// Whether the finger was compared, and the claimer was not told yet.
    var isCompared = false
    /// The calls that wait for its end.
    var waiting: [CheckedContinuation<Void, Never>] = []

    init(
        _ action: DeviceState.Action, client: String, vocabulary: ClientVocabulary,
        request: Request, on daemon: DaemonConnections, paths: DesktopPaths
    ) throws(DesktopFault) {
        self.action = action
        self.client = client
        self.vocabulary = vocabulary
        self.request = request
        self.daemon = daemon
        self.paths = paths
        call = try DaemonCall.begin(request, on: daemon)
    }

    /// Ends the scan soon, also while the reader rests.
    func cancel() {
        stop(because: .cancelled)
        call.cancel()
    }

    /// Has the present request be the last; ends the rest, if there is one.
    func stop(because reason: DenialReason) {
        stopped = stopped ?? reason
        endRest()
    }

    /// Hears what the daemon says about the present request, and returns how that has ended.
    func end(_ hear: (Answer) async -> Void) async -> ScanEnd {
        let last = await call.last(hear)
        timer = nil
        switch last {
        case .done: return .done
        case .denial(let denial) where denial.reason == .cancelled && isTimeUp:
            return .denied(Denial(.timedOut))
        case .denial(let denial): return .denied(denial)
        default: return .lost
        }
    }

    /// Notes that the reader waits for a finger, which it does for `burst` only from the second
    /// request on.
    func awaitsFinger() {
        guard isRepeated, timer == nil else { return }
        timer = Timer(after: paths.burst) { [weak self] in
            self?.isTimeUp = true
            self?.call.cancel()
        }
    }

    /// Waits until the reader has rested; returns the reason if no further request is to be made.
    func rest() async -> DenialReason? {
        if let stopped { return stopped }
        await withCheckedContinuation { continuation in
            resting = continuation
            timer = Timer(after: paths.rest) { [weak self] in self?.endRest() }
        }
        // It may have been stopped after the rest had ended, and before this continues.
        return stopped
    }

    /// Ends the rest, if there is one, so that the next request may be made.
    func endRest() {
        guard let resting else { return }
        (self.resting, timer) = (nil, nil)
        resting.resume()
    }

    /// Makes the request once more.
    func repeatRequest() throws(DesktopFault) {
        (isRepeated, isTimeUp) = (true, false)
        call = try DaemonCall.begin(request, on: daemon)
    }
}
