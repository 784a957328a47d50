// SPDX-License-Identifier: Apache-2.0

/// The users of clients that have called, by the clients' unique names.
///
/// The bus gives a unique name to one connection and never again, and the user of a connection does not
/// change, so that what it has said once about a client stays right, also when that has left. The names
/// mean nothing on another connection to the bus, with which the process ends.
package struct CallerNames: Sendable {
    /// How many clients are remembered; the oldest makes room.
    package static let capacity = 64

    private var entries: [(client: String, uid: UInt32)] = []

    /// Creates a memory of nothing.
    package init() {}

    /// The user of a client; nil if the bus has to be asked.
    package func uid(of client: String) -> UInt32? {
        entries.first { $0.client == client }?.uid
    }

    /// Notes what the bus has said about a client; names that are not unique are not noted.
    package mutating func note(_ client: String, uid: UInt32) {
        guard client.hasPrefix(":"), self.uid(of: client) == nil else { return }
        if entries.count >= Self.capacity { entries.removeFirst() }
        entries.append((client, uid))
    }
}
