// SPDX-License-Identifier: Apache-2.0
import MainContext

/// The right of one request to use the readers.
///
/// Only `TouchQueue` creates turns, and only one exists at a time. A turn ends when this value goes
/// out of scope, whichever way the request ends; the queue then grants the next one. Nothing else
/// ends it.
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

/// Holds a turn beyond the function that received it, until the last reference is released.
package final class HeldTurn: Sendable {
    /// The held turn.
    package let turn: Turn

    /// Takes over a turn.
    package init(_ turn: consuming Turn) { self.turn = turn }
}
