// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A request of a client to the daemon: its verb, its rule, its fields on the wire, and the facts
/// about it that other parts need.
///
/// Each request is a type that is an `AccountRequest`, a `MachineRequest` or a `ContinuingRequest`,
/// and has an entry in `Request.all`. The feature of the daemon that serves it has its handler.
/// ARCHITECTURE.md has the steps for adding one.
package protocol DaemonRequest: Equatable, Sendable {
    /// The kind of its frame, and its name.
    static var verb: Verb { get }
    /// Who may make it, with which proof, and what must hold before a finger is asked for.
    static var rule: VerbRule { get }
    /// How much room the journal gives to the decision about it; `full` unless stated otherwise.
    static var logging: DecisionLogging { get }
    /// The command that asks for a touch by it, as those who wait for the reader are shown it;
    /// empty for none.
    static var command: String { get }
    /// The same command as `signet log` shows it for a refused attempt; usually the same text.
    static var loggedCommand: String { get }

    /// The account that it is about; nil if it is about none.
    var accountName: Bytes? { get }
    /// What the journal and receipts show of it; nothing unless stated otherwise.
    var context: RequestContext { get }
    /// What a server may have done when the user interrupts it; nothing unless stated otherwise.
    var interruption: ServerInterruption { get }

    /// Appends the fields to a frame. Throws if a value does not fit.
    func put(into frame: inout FrameWriter) throws(WireFault)
    /// Reads the fields from a frame, but not the frame's end. Throws if they are malformed.
    init(from frame: inout FrameReader) throws(WireFault)
}

extension DaemonRequest {
    package static var logging: DecisionLogging { .full }
    package static var command: String { "" }
    package static var loggedCommand: String { command }
    package var context: RequestContext { RequestContext() }
    package var interruption: ServerInterruption { .none }
}

/// A request about an account.
package protocol AccountRequest: DaemonRequest {
    /// Whether the account's prints must be readable to serve it in any case, so that they are
    /// opened first; true unless stated otherwise.
    static var readsPrints: Bool { get }
    /// The account.
    var account: Bytes { get }
    /// Whether the password itself is kept, so that root must give it too.
    var keepsPassword: Bool { get }
}

extension AccountRequest {
    package static var readsPrints: Bool { true }
    package var accountName: Bytes? { account }
    package var keepsPassword: Bool { false }
}

/// A request about the machine, and no account.
package protocol MachineRequest: DaemonRequest {}

extension MachineRequest {
    package var accountName: Bytes? { nil }
}

/// A frame that belongs to the request in progress on its connection, and begins none.
package protocol ContinuingRequest: DaemonRequest {}

extension ContinuingRequest {
    package static var rule: VerbRule { VerbRule(.anyone, beginsRequest: false) }
    package var accountName: Bytes? { nil }
}

/// A request whose only field is the account.
package protocol PlainAccountRequest: AccountRequest {
    /// Creates a request.
    init(account: Bytes)
}

extension PlainAccountRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(account: try frame.accountName())
    }
}

/// A request without fields.
package protocol PlainRequest: DaemonRequest {
    /// Creates a request.
    init()
}

extension PlainRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {}

    package init(from frame: inout FrameReader) throws(WireFault) { self.init() }
}

/// What the journal and receipts show of a request. Never contents.
///
/// The texts are the client's, and are not escaped here.
package struct RequestContext: Equatable, Sendable {
    /// The PAM service of a login.
    package var service: Bytes = []
    /// The terminal of a login.
    package var terminal: Bytes = []
    /// What a login or touch is for, or the secret, token or server that the request is about.
    package var purpose: Bytes = []
    /// The position of a login's process relative to its terminal; nil for a command.
    package var presence: TerminalPosition?
    /// The server that must approve a login as well.
    package var server: Bytes = []
}

/// How much room the journal gives to the decision about a request.
package enum DecisionLogging: Sendable {
    /// A decision is shown, and an answer that only shows something is for debugging.
    case full
    /// Only a denial is shown: a client that polls would flood the journal.
    case denials
    /// For debugging: nothing is decided.
    case debugging
}

/// What a server may have done when the user interrupts a request.
package enum ServerInterruption: Equatable, Sendable {
    /// Nothing that matters to the user.
    case none
    /// It may have carried out the request; nothing shows it.
    case unknown
    /// It may have carried out the request; `signet` with these words shows it.
    case shown(by: String)
}
