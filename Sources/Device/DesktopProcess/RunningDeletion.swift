// SPDX-License-Identifier: Apache-2.0
import DBus

/// A request for a deletion, until the daemon has ended it.
struct RunningDeletion {
    let client: String
    let call: DaemonCall
    /// Tells when the client leaves.
    let following: BusSubscription?
}
