// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// A request of a client to the daemon: its verb, its rule, its fields on the wire, and facts about
/// it that other parts need.
///
/// Each request is a type that conforms to `AccountRequest`, `MachineRequest` or
/// `ContinuingRequest`; nothing else lists it. Its handler is in the daemon's feature that serves
/// it. ARCHITECTURE.md has the steps for adding one.
package protocol DaemonRequest: FrameContent {
    /// The kind of its frame, and its name.
    static var verb: Verb { get }
    /// The users who may make it, the proof that they must give, and the conditions for a touch.
    static var rule: VerbRule { get }
    /// How the journal records the decision about it; `full` unless stated otherwise.
    static var logging: DecisionLogging { get }
    /// Whether a denial of it is recorded, in the journal and for the account's owner; true unless
    /// stated otherwise.
    static func records(_ denial: Denial) -> Bool
    /// The command that requests a touch by it, as shown to users who wait for the reader.
    ///
    /// It is empty if there is no such command.
    static var command: String { get }
    /// That command as `signet log` shows it for a refused attempt; usually the same text.
    static var loggedCommand: String { get }

    /// The account that it is about; nil if it is about no account.
    var accountName: AccountName? { get }
    /// The details that the journal and receipts show; none unless stated otherwise.
    var context: RequestContext { get }
    /// The state that a server may be in if the user interrupts it; `none` unless stated otherwise.
    var interruption: ServerInterruption { get }
}

extension DaemonRequest {
    package static var logging: DecisionLogging { .full }
    package static func records(_ denial: Denial) -> Bool { true }
    package static var command: String { "" }
    package static var loggedCommand: String { command }
    package var context: RequestContext { RequestContext() }
    package var interruption: ServerInterruption { .none }
}

/// A request about an account.
package protocol AccountRequest: DaemonRequest {
    /// Whether the account's prints are opened before it is served, because serving it always needs
    /// them.
    ///
    /// It is true unless stated otherwise.
    static var readsPrints: Bool { get }
    /// The account.
    var account: AccountName { get }
    /// Whether the password itself will be stored, so that even root must give it.
    var keepsPassword: Bool { get }
    /// Whether root may make it about an account that no longer exists, by the records it has left.
    var servesDeparted: Bool { get }
    /// What the user confirms it with, if its rule has one for touches; a finger unless stated
    /// otherwise.
    var factor: ConfirmingFactor { get }
}

extension AccountRequest {
    package static var readsPrints: Bool { true }
    package var factor: ConfirmingFactor { .finger }
    package var accountName: AccountName? { account }
    package var keepsPassword: Bool { false }
    package var servesDeparted: Bool { false }
}

/// A request about the machine and not about an account.
package protocol MachineRequest: DaemonRequest {}

extension MachineRequest {
    package var accountName: AccountName? { nil }
}

/// A frame that belongs to the request in progress on its connection, and does not begin one.
package protocol ContinuingRequest: DaemonRequest {}

extension ContinuingRequest {
    package static var rule: VerbRule { VerbRule(.anyone, beginsRequest: false) }
    package var accountName: AccountName? { nil }
}

/// The details of a request that the journal and receipts show, which never include contents.
///
/// The texts are the client's, and are not escaped here.
package struct RequestContext: Equatable, Sendable {
    /// The PAM service of a login.
    package var service: ServiceName = .none
    /// The terminal of a login.
    package var terminal: Bytes = []
    /// The purpose of a login or touch, or the secret, token or server that the request is about.
    package var purpose: Bytes = []
    /// The position of a login's process relative to its terminal; nil for a command.
    package var presence: TerminalPosition?
    /// The server that must also approve a login.
    package var server = ServerURL.none
}

/// How the journal records the decision about a request.
package enum DecisionLogging: Sendable {
    /// Every decision is recorded; an answer that only reports something is for debugging.
    case full
    /// Only a denial is recorded, because a client that polls would flood the journal.
    case denials
    /// It is recorded for debugging only, because nothing is decided.
    case debugging
}

/// What a server may have done when the user interrupts a request.
package enum ServerInterruption: Equatable, Sendable {
    /// The server has done nothing that matters to the user.
    case none
    /// The server may have carried out the request, and no command shows whether it has.
    case unknown
    /// The server may have carried out the request; `signet` with these words shows whether it has.
    case shown(by: String)
}
