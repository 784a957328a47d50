// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Caches what is needed to verify a proof, by the id that the proof names.
///
/// Whether an item is still the right one, and still valid, is not known here: callers check that in
/// the database, in the transaction that decides. The cache has two generations: when the newer one
/// is full, it becomes the older one, and the former older one is dropped.
final class ProvenItems<ID: Hashable & Sendable, Item: Sendable>: Sendable {
    private struct Halves {
        var newer: [ID: Item] = [:]
        var older: [ID: Item] = [:]

        mutating func keep(_ item: Item, of id: ID, most: Int) {
            guard newer[id] == nil else { return }
            if newer.count >= most {
                older = newer
                newer = [:]
            }
            newer[id] = item
        }
    }

    /// The maximum number of items per generation.
    private let half: Int
    private let halves = Mutex(Halves())

    /// Creates an empty cache for up to twice `half` items.
    init(half: Int) {
        self.half = half
    }

    /// Returns an item if it is cached, and moves it to the newer generation.
    func item(of id: ID) -> Item? {
        halves.withLock { halves -> Item? in
            if let item = halves.newer[id] { return item }
            guard let item = halves.older[id] else { return nil }
            halves.keep(item, of: id, most: half)
            return item
        }
    }

    /// Stores an item with which a proof has just been verified.
    ///
    /// Do not store any other item: strangers could then evict those of others.
    func keep(_ item: Item, of id: ID) {
        halves.withLock { $0.keep(item, of: id, most: half) }
    }

    /// Removes an item that turned out to be out of date.
    func forget(_ id: ID) {
        halves.withLock { halves in
            halves.newer[id] = nil
            halves.older[id] = nil
        }
    }
}
