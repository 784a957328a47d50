// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Something that is done elsewhere while the test goes on.
final class Worker: Sendable {
    private let answer = Mutex<Bool>(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Bool) {
        DispatchQueue.global().async { [self] in
            let result = body()
            answer.withLock { $0 = result }
            done.signal()
        }
    }

    /// What it came to; waits for that. To be asked once.
    var result: Bool {
        done.wait()
        return answer.withLock(\.self)
    }
}
