// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Runs `body` on a new, detached thread that ends with it; pthread_create(3).
///
/// - Throws: the fault, such as EAGAIN, if no thread can be created; `body` then does not run.
package func onThread(_ body: @escaping @Sendable () -> Void) throws(SystemFault) {
    let context = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let code = unsafe pthread_create(
        &thread, &attributes,
        { context in
            guard let context = unsafe context else { return nil }
            unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, context)
    guard code != 0 else { return }
    unsafe Unmanaged<Work>.fromOpaque(context).release()
    throw SystemFault("pthread_create", code: code)
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A thread of this process, by its number; gettid(2).
package struct ThreadNumber: Sendable {
    private let number = gettid()

    /// The calling thread.
    package init() {}

    /// For how long the thread has run or wanted to, on a machine that does other things: the first
    /// two numbers of schedstat, in nanoseconds (the kernel's sched-stats.rst); zero if that is not
    /// known.
    package var use: Duration {
        guard let text = try? readFile("/proc/self/task/\(number)/schedstat", cap: 128) else {
            return .zero
        }
        return text.split(separator: 0x20).prefix(2).reduce(Duration.zero) { sum, digits in
            sum + .nanoseconds(Int64(String(decoding: digits, as: UTF8.self)) ?? 0)
        }
    }
}
