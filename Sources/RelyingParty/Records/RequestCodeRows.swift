// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import SignedFormats

/// What the database says about a request's code when its nonce is used up.
struct CodeUse<Signed> {
    /// Whether the nonce had not been used before.
    let isNew: Bool
    /// Whether nonces as old as this one may have been deleted, so that `isNew` proves nothing.
    let isForgotten: Bool
    /// Who signed, or whose MAC it is, as of after the nonce was used up; nil if unknown.
    let signed: Signed?
}

/// The rows of several tables that decide about a request's code, in one round trip.
///
/// The nonce comes first: its INSERT waits for a transaction that uses the same nonce, or that
/// deletes it, and the statements after it then see what that transaction has committed.
struct RequestCodeRows {
    let store: any Transaction
}

extension Transaction {
    var requestCodes: RequestCodeRows { RequestCodeRows(store: self) }
}

extension RequestCodeRows {
    /// Uses up the nonce of a signed request, and returns the signer that its head names.
    func use(
        _ nonce: [UInt8], ofRequestBy head: StatementHead, issued: Instant
    ) throws(DatabaseFault) -> CodeUse<Signer> {
        let outcomes = try store.run(together: [
            NonceRows.keeping(nonce, of: head.credential, issued: issued),
            SignerRows.reading(credential: head.credential),
            NonceRows.readingForgotten,
        ])
        guard outcomes.count == 3 else { throw .broken("a code's rows are not complete") }
        return CodeUse(
            isNew: outcomes[0].changes == 1,
            isForgotten: try NonceRows.isForgotten(issued: issued, by: outcomes[2].rows),
            signed: try SignerRows.signer(head, in: outcomes[1].rows))
    }

    /// Uses up the nonce of a request with a MAC, and returns the token with its signer.
    func use(
        _ nonce: [UInt8], ofMACBy token: MACTokenID, issued: Instant
    ) throws(DatabaseFault) -> CodeUse<(token: MACTokenRecord, signer: Signer)> {
        let outcomes = try store.run(together: [
            NonceRows.keeping(nonce, of: token, issued: issued),
            SignerRows.reading(macToken: token),
            NonceRows.readingForgotten,
        ])
        guard outcomes.count == 3 else { throw .broken("a code's rows are not complete") }
        return CodeUse(
            isNew: outcomes[0].changes == 1,
            isForgotten: try NonceRows.isForgotten(issued: issued, by: outcomes[2].rows),
            signed: try MACTokenRows.token(in: outcomes[1].rows))
    }
}
