// SPDX-License-Identifier: Apache-2.0
import Domain
import Gate
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State

/// The part of a signed statement that depends on the request.
///
/// The daemon adds the rest: audience, account, requester, device, credential, factor, enrolment,
/// counter, the digest of the previous receipt, and the time.
struct SignedMatter: Sendable {
    let namespace: SignatureNamespace
    let challenge: Challenge
    let service: ServiceName
    let terminal: Bytes
    let purpose: Bytes
    /// SHA-256 of the whole command line; empty if there is none.
    var command: Bytes = []
    /// The server that also has to approve the login, if any.
    var server: ServerLines?
}

/// A touch that has signed a statement, with everything that is left to do for it.
///
/// The caller must settle the attempt (`keepSuccess`) and the receipt (`place`). While this value
/// exists, no other touch of the account can append a receipt, unless `place` is ended or lets
/// another touch follow.
struct TouchProof {
    let assertion: Assertion
    let touch: Touch<ScannedFinger>
    /// The account's records as they were after the match.
    let snapshot: AccountSnapshot
    let place: ReceiptTicket
    /// The released secret, or why it did not open; nil if there was none to release.
    ///
    /// The proof is valid either way.
    let released: Result<SecretBytes, VaultError>?
    /// The sealed item that was prepared before the match; nil for none.
    let openedItem: SealedItem?
    /// The reader contents to record with the credential; nil if it covers the reader that matched
    /// already.
    let unrecorded: [ReaderStorage]?

    var kept: AccountState { snapshot.kept }
    var credential: StoredCredential { snapshot.credential }
}

/// The turn at the readers together with the end of the account's receipt chain; see
/// `Touches.signingTurn`.
struct SigningTurn: ~Copyable {
    let turn: Turn
    let slot: ReceiptSlot
}
