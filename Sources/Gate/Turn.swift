// SPDX-License-Identifier: Apache-2.0
import Loop

/// Possession of the readers for one request: whoever holds it is served, nobody else.
///
/// The next request in line gets its turn when this value goes out of scope, however the request
/// ends. There is no other way to end a turn.
package struct Turn: ~Copyable, Sendable {
    let id: UInt64
    private let release: @Sendable @ServiceActor (UInt64) -> Void

    init(_ id: UInt64, release: @escaping @Sendable @ServiceActor (UInt64) -> Void) {
        self.id = id
        self.release = release
    }

    deinit {
        let (id, release) = (id, release)
        onService { release(id) }
    }
}

/// A turn that outlives the function that got it: until the last reference to this goes.
package final class HeldTurn: Sendable {
    /// The turn.
    package let turn: Turn

    /// Holds a turn.
    package init(_ turn: consuming Turn) { self.turn = turn }
}
