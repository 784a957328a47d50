// SPDX-License-Identifier: Apache-2.0
/// What a touch produced: the signed statement.
package struct Assertion: Equatable, Sendable {
    /// The statement's canonical text.
    package var statement: Bytes
    /// The SSHSIG blob over it, not armoured.
    package var signature: Bytes
    /// What the server said, where the request named one.
    package var server: ServerProof?

    /// A statement and its signature.
    package init(statement: Bytes, signature: Bytes, server: ServerProof? = nil) {
        self.statement = statement
        self.signature = signature
        self.server = server
    }
}

/// What a server said to a login: its verdict, and the token that came with it.
///
/// A class, since each copy of so many fields is code in the PAM module.
package final class ServerProof: Equatable, Sendable {
    /// The verdict's canonical text.
    package let verdict: Bytes
    /// The SSHSIG blob over it, by the server.
    package let signature: Bytes
    /// The access token, where the request wanted it with the answer.
    package let accessToken: Bytes?
    /// Whether the access token lies in the account's file.
    package let hasTokenFile: Bool

    /// All of it.
    package init(
        verdict: Bytes, signature: Bytes, accessToken: Bytes? = nil, hasTokenFile: Bool = false
    ) {
        self.verdict = verdict
        self.signature = signature
        self.accessToken = accessToken
        self.hasTokenFile = hasTokenFile
    }

    /// Whether both say the same.
    package static func == (one: ServerProof, other: ServerProof) -> Bool {
        one.verdict == other.verdict && one.signature == other.signature
            && one.accessToken == other.accessToken && one.hasTokenFile == other.hasTokenFile
    }
}
