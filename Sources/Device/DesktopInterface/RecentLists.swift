// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The lists of fingers that clients of the bus were told a moment ago.
///
/// KDE's settings ask some fifty times at once for the same list: once for each property of each
/// finger that their page draws. A client that asks again within `lifetime`, in the same words, gets
/// the same answer, which neither counts as a call of its user's nor becomes a request to signetd.
/// Nothing is kept for another client, and nothing past a change of fingers that is made here.
package struct RecentLists: Sendable {
    /// How long a list counts as told a moment ago.
    package static let lifetime = Duration.seconds(1)
    /// How many lists are kept; the oldest makes room.
    package static let capacity = 16

    /// What a client was told.
    package typealias List = Result<[Finger], DesktopFault>

    private struct Entry {
        let user: String
        let client: String
        let list: List
        let time: Duration
    }

    private var entries: [Entry] = []

    /// Creates a memory of nothing.
    package init() {}

    /// What a client was told a moment ago; nil if it has to be asked for.
    ///
    /// - Parameters:
    ///   - user: the name as the client gave it.
    ///   - client: the client's unique name on the bus.
    ///   - now: the time since boot.
    package func list(of user: String, for client: String, at now: Duration) -> List? {
        entries.last {
            $0.client == client && $0.user == user && $0.time <= now
                && now - $0.time < Self.lifetime
        }?.list
    }

    /// Notes what a client is told.
    package mutating func note(
        _ list: List, of user: String, for client: String, at now: Duration
    ) {
        entries.removeAll { now - $0.time >= Self.lifetime }
        if entries.count >= Self.capacity { entries.removeFirst() }
        entries.append(Entry(user: user, client: client, list: list, time: now))
    }

    /// Forgets all lists, because fingers may have changed.
    package mutating func forget() { entries = [] }
}
