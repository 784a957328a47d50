// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// Asks servers by HTTP/1.1: verified, without redirects and cookies, within its limits.
///
/// The environment decides nothing unless the configuration says so.
package final class HTTPClient: Sendable {
    private let configuration: ClientConfiguration
    /// Handles that nobody uses now, with their connections.
    private let idle = Mutex<[Transfer]>([])

    /// Connects when it is first asked.
    package init(_ configuration: ClientConfiguration = ClientConfiguration()) {
        self.configuration = configuration
    }

    /// Asks, and blocks the calling thread until the answer is there.
    package func perform(_ request: ClientRequest) throws(ClientFault) -> HTTPAnswer {
        try perform(request, cancelled: CancelFlag())
    }

    /// Asks on a thread of its own; ends early, within about a second, where the task is cancelled.
    package func send(_ request: ClientRequest) async throws(ClientFault) -> HTTPAnswer {
        let cancelled = CancelFlag()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = { [self] in
                    continuation.resume(
                        returning: Result { () throws(ClientFault) in
                            try perform(request, cancelled: cancelled)
                        })
                }
                // Without a thread, here.
                do throws(SystemFault) { try onThread(work) } catch { work() }
            }
        } onCancel: {
            cancelled.set()
        }
        return try result.get()
    }

    private func perform(
        _ request: ClientRequest, cancelled: CancelFlag
    ) throws(ClientFault) -> HTTPAnswer {
        let kept = idle.withLock { $0.popLast() }
        let transfer = if let kept { kept } else { try Transfer() }
        defer { idle.withLock { $0.append(transfer) } }
        return try transfer.perform(request, configuration, cancelled: cancelled)
    }
}
