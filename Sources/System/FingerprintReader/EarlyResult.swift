// SPDX-License-Identifier: Apache-2.0
import MainContext

/// Lets an operation hand its caller a result before the driver is done.
@ReaderActor
final class EarlyResult<Value: Sendable> {
    /// Whether the caller has accepted the result; it then never sees a later one.
    private(set) var isGiven = false
    private let take: (Value) -> Bool

    init(_ take: @escaping (Value) -> Bool) {
        self.take = take
    }

    /// Hands over the result, unless the operation already has a result or is being ended.
    func give(_ value: Value) {
        if !isGiven { isGiven = take(value) }
    }
}
