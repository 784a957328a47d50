// SPDX-License-Identifier: Apache-2.0
import Configuration
import Gate
import MainContext
import Posix
import State

/// A part of the daemon that serves requests and that no other part uses.
///
/// A new one is a file here or in the directory of its feature: the build lists every type of this
/// protocol, and `Assembly` makes it. A part that others use, or that others must be told of, is
/// made in `Assembly` itself.
@ServiceActor
protocol RequestService: SendableMetatype {
    /// Makes the part; it keeps those collaborators that it uses, and never all of them.
    init(_ parts: Collaborators)
    /// The handlers of its requests.
    var handlers: [RequestHandler] { get }
}

/// What a `RequestService` may use of the daemon.
@ServiceActor
struct Collaborators {
    let clock: Clock
    let gate: TouchGate<ReaderPool>
    let journal: DecisionJournal
    let queue: TouchQueue
    let readers: ReaderPool
    let settings: Configuration
    let state: StateDirectory
    let vaults: Vaults
    let accounts: Accounts
    let coverage: StorageCoverage
    let credentials: Credentials
    let enrolments: Enrolments
    let examiner: PresenceExaminer
    let fingers: Fingers
    let guards: TouchGuards
    let holdings: Holdings
    let logind: Logind
    let pendingChanges: PendingFingerChanges
    let policy: LoginPolicy
    let templates: TemplateKeyOpener
    let touches: Touches
    let upkeep: ReaderUpkeep
    /// The directory of the nodes of USB devices.
    let usbNodes: String
}
