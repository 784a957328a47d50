// SPDX-License-Identifier: Apache-2.0
/// The result of a touch: the signed statement. Nothing in it has been verified.
package struct Assertion: Equatable, Sendable {
    /// The statement's canonical text.
    package var statement: Bytes
    /// The SSHSIG blob of its signature, without armour.
    package var signature: Bytes
    /// The server's proof, if the request named a server.
    package var server: ServerProof?

    /// Creates an assertion.
    package init(statement: Bytes, signature: Bytes, server: ServerProof? = nil) {
        self.statement = statement
        self.signature = signature
        self.server = server
    }
}

/// A server's proof for a login: its verdict, and the token that came with it. Nothing is verified.
///
/// It is a class because every copy of a struct with this many fields adds code to the PAM module.
package final class ServerProof: Equatable, Sendable {
    /// The verdict's canonical text.
    package let verdict: Bytes
    /// The SSHSIG blob of the server's signature over it.
    package let signature: Bytes
    /// The access token, if the request asked for it in the answer.
    package let accessToken: Bytes?
    /// Whether the access token was written to the account's file.
    package let hasTokenFile: Bool

    /// Creates a proof.
    package init(
        verdict: Bytes, signature: Bytes, accessToken: Bytes? = nil, hasTokenFile: Bool = false
    ) {
        self.verdict = verdict
        self.signature = signature
        self.accessToken = accessToken
        self.hasTokenFile = hasTokenFile
    }

    /// Whether all fields are equal.
    package static func == (one: ServerProof, other: ServerProof) -> Bool {
        one.verdict == other.verdict && one.signature == other.signature
            && one.accessToken == other.accessToken && one.hasTokenFile == other.hasTokenFile
    }
}
