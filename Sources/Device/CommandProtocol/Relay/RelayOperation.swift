// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// A signed decision on an operation, for its server.
package struct RelayDecision: FrameContent {
    /// The server's URL.
    package var server: ServerURL
    /// The operation's id.
    package var operation: OperationID
    /// The statement's canonical text.
    package var statement: Bytes  // .operationStatement
    /// The signature of the text, as an SSHSIG blob.
    package var signature: Bytes
}

/// An operation in a server's list.
package struct RelayAwaited: FrameContent {
    /// The operation's content.
    package var content: OperationContent

    /// Creates an entry.
    package init(_ content: OperationContent) { self.content = content }
}

/// An operation, with everything that the statement of a decision must name.
package struct RelayOperation: FrameContent {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The challenge that the decision must answer.
    package var challenge: Challenge
    /// The application that created it.
    package var application: ApplicationName
    /// The audience that statements must name.
    package var audience: Audience
    /// The operation's content.
    package var content: OperationContent
    /// The operation's state at the server.
    package var state: OperationState  // .operationState
    /// The number of wrong signatures so far.
    package var failures: OperationFailures
    /// The factors that approve it; nil if the server does not say.
    package var factors: OperationFactors? = nil
    /// The factor that is still missing, where both are required and the other was given.
    package var missing: ConfirmingFactor? = nil
}
