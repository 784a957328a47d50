// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Threads of their own, which may block as long as they like without delaying anything else.
final class Workers: Sendable {
    private let running = DispatchGroup()

    /// Has a thread do this.
    func start(_ body: @escaping @Sendable () -> Void) throws(TestFault) {
        running.enter()
        let work = Work(body: body, running: running)
        let context = unsafe Unmanaged.passRetained(work)
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let work = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                work.body()
                work.running.leave()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            running.leave()
            throw .system(call: "pthread_create", subject: "a worker", code: code)
        }
        pthread_detach(thread)
    }

    /// Waits until all are done.
    func join() { running.wait() }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        let running: DispatchGroup

        init(body: @escaping @Sendable () -> Void, running: DispatchGroup) {
            self.body = body
            self.running = running
        }
    }
}
