// SPDX-License-Identifier: Apache-2.0
import Dispatch

// Not where programs are built with the static standard library: no test is built there.
#if canImport(Testing)
import Testing

/// Runs each test on a thread of its own, where it may block.
///
/// Tasks share as many threads as the machine has cores. A test that blocks one of them while the
/// neighbouring test blocks the other would wait for a handler that no thread is left to resume.
package struct ThreadOfItsOwn: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor(), operation: function)
    }
}

extension Trait where Self == ThreadOfItsOwn {
    /// The tests block, and what they wait for needs one of the threads that tasks share.
    package static var threadOfItsOwn: Self { ThreadOfItsOwn() }
}

/// Runs jobs on a queue, for which the system starts a thread beside those that tasks share.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
#endif
