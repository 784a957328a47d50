// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// An HTTP/1.1 client on libcurl, with verified TLS, size limits and time limits.
///
/// It follows no redirects and stores no cookies. Environment variables have no effect unless the
/// configuration permits it. It may be used from any thread: each request takes an idle connection
/// or makes a new one.
package final class HTTPClient: Sendable {
    private let configuration: ClientConfiguration
    /// The transfers that are not in use, with their connections.
    private let idle = Mutex<[Transfer]>([])

    /// Creates a client; it connects on the first request.
    package init(_ configuration: ClientConfiguration = ClientConfiguration()) {
        self.configuration = configuration
    }

    /// Performs a request and blocks the calling thread until the response has arrived.
    ///
    /// A response with any status is returned; only a missing or incomplete one is a fault.
    package func perform(_ request: ClientRequest) throws(ClientFault) -> HTTPAnswer {
        try perform(request, cancelled: CancelFlag())
    }

    /// Performs a request on its own thread.
    ///
    /// If the task is cancelled, the request ends within about a second with `cancelled`.
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
                // If no thread can be created, the request runs on this one, which it then blocks.
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
        return try transfer.perform(request, configuration: configuration, cancelled: cancelled)
    }
}
