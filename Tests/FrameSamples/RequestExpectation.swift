// SPDX-License-Identifier: Apache-2.0
import CommandProtocol

/// What must hold for a request, written down a second time and independently of its declaration.
///
/// Whoever loosens a rule in the sources has to do so here, too. Only what most requests have in
/// common may be left out.
package struct RequestExpectation: Sendable {
    package let type: any DaemonRequest.Type
    /// Whether the account that it is about may make it, another user, and root in its place.
    package let owner: Bool
    package let other: Bool
    package let root: Bool
    package let proof: Proof
    /// Whether it begins a request.
    package let begins: Bool
    package let isAboutAccount: Bool
    /// Whether prints are opened before it is served, if it is about an account.
    package let readsPrints: Bool
    /// What precedes a touch and what the touch releases; nil if none is asked for.
    package let touch: ExpectedTouch?
    /// The command as it is shown in the queue, and in the log.
    package let command: String
    package let loggedCommand: String
    package let logging: DecisionLogging

    package init(
        _ type: any DaemonRequest.Type, owner: Bool, other: Bool, proof: Proof,
        begins: Bool = true, root: Bool = true, isAboutAccount: Bool = true,
        readsPrints: Bool = true, touch: ExpectedTouch? = nil, command: String = "",
        logged: String? = nil, logging: DecisionLogging = .full
    ) {
        self.type = type
        self.owner = owner
        self.other = other
        self.root = root
        self.proof = proof
        self.begins = begins
        self.isAboutAccount = isAboutAccount
        self.readsPrints = readsPrints
        self.touch = touch
        self.command = command
        loggedCommand = logged ?? command
        self.logging = logging
    }
}

/// What must hold for the touch that a request asks for.
package struct ExpectedTouch: Sendable {
    /// The conditions in their order.
    package let guards: [TouchGuard]
    package let releases: Set<Release>
    package let mayServeOthers: Bool

    package init(
        _ guards: [TouchGuard], releases: Set<Release>, mayServeOthers: Bool = false
    ) {
        self.guards = guards
        self.releases = releases
        self.mayServeOthers = mayServeOthers
    }

    /// The conditions of a command of the account itself that a touch confirms.
    package static let confirming: [TouchGuard] = [.presence, .credential, .reader, .lid]
}
