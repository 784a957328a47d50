/// What a touch produced: the signed statement.
package struct Assertion: Equatable, Sendable {
    /// The statement's canonical text.
    package var statement: Bytes
    /// The SSHSIG blob over it, not armoured.
    package var signature: Bytes
    /// The login password, where the request wanted it and the account lets the keyring have it.
    package var password: Bytes?

    /// A statement and its signature.
    package init(statement: Bytes, signature: Bytes, password: Bytes? = nil) {
        self.statement = statement
        self.signature = signature
        self.password = password
    }
}
