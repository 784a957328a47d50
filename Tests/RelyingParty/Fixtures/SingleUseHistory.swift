// SPDX-License-Identifier: Apache-2.0

/// What callers saw of an item that may be used once, while they used it at the same time.
///
/// A history is right if it can be explained by uses that took effect one after the other, each at
/// one moment between its beginning and its end (Herlihy and Wing, "Linearizability", 1990): the
/// first one is granted, and every later one is refused.
struct SingleUseHistory {
    /// What a caller was told.
    enum Outcome: Equatable {
        case granted
        case refused
        /// Nothing: the server ended, or was not there. The use may have taken effect, at any time
        /// after its beginning.
        case unknown
    }

    /// One use; its moments are on one clock.
    struct Use {
        let began: ContinuousClock.Instant
        let ended: ContinuousClock.Instant
        let outcome: Outcome
    }

    private(set) var uses: [Use] = []

    mutating func add(_ use: Use) { uses.append(use) }

    /// Whether so many were told so.
    func count(_ outcome: Outcome) -> Int { uses.count { $0.outcome == outcome } }

    /// What no order of uses explains; nil if one does.
    var violation: String? {
        let granted = uses.filter { $0.outcome == .granted }
        guard granted.count <= 1 else { return "it was granted \(granted.count) times" }
        // If one was granted, no other has taken effect before it, so those that say nothing do not
        // explain a refusal.
        let effects = granted.isEmpty ? uses.filter { $0.outcome == .unknown } : granted
        let first = effects.map(\.began).min()
        for use in uses where use.outcome == .refused {
            guard let first else { return "it was refused, and no use can have taken effect" }
            guard use.ended >= first else { return "it was refused before it was used" }
        }
        return nil
    }
}
