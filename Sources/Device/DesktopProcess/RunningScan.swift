// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import LoginProtocol
import MainContext

/// A request for a scan, until the daemon has ended it.
@ServiceActor
final class RunningScan {
    let action: DeviceState.Action
    let client: String
    let vocabulary: ClientVocabulary
    private let call: DaemonCall
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
        call: DaemonCall
    ) {
        self.action = action
        self.client = client
        self.vocabulary = vocabulary
        self.call = call
    }

    func cancel() { call.cancel() }

    func last(_ hear: (Answer) async -> Void) async -> Answer? { await call.last(hear) }
}
