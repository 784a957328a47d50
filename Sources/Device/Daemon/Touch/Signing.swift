// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginMessages
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State

extension Touches {
    /// Opens the account's key, signs the statement, and writes the receipt.
    ///
    /// The key opens only for `touch`, and only with the fingers and reader contents in `snapshot`.
    /// The item to release is opened as well. If it does not open, the signature counts
    /// nevertheless, unless the item is required: then its denial is thrown before a receipt is
    /// written. A key that does not open is destroyed with everything that depends on it, which the
    /// denial `invalidated` reports; temporary trouble destroys nothing. Throws `badRequest` if the
    /// account's credential was changed while the TPM was at work.
    ///
    /// - Parameters:
    ///   - matter: The part of the statement that depends on the request.
    ///   - snapshot: The account's records as they are after the match.
    ///   - place: The reserved place of the receipt, whose counter and predecessor are signed too.
    ///   - ready: The key and the item as prepared while the finger was awaited.
    ///   - item: The item to release; nil for none.
    /// - Returns: The assertion, and the released item or why it did not open; nil if there was
    ///   none.
    func sign(
        _ matter: SignedMatter, account: Account, snapshot: AccountSnapshot,
        place: ReceiptTicket,
        ready: Result<ReadyItems, VaultError>, item: SealedItem?,
        for touch: Touch<ScannedFinger>
    ) async throws(Denial) -> (Assertion, Result<SecretBytes, VaultError>?) {
        try await accounts.answering(account) {
            let text = statement(
                matter, account: account, snapshot: snapshot, reservation: place.reservation,
                for: touch
            ).encoded()
            let opened: Opened
            do throws(VaultError) {
                opened = try await open(
                    try ready.get(), data: try signedData(text, namespace: matter.namespace),
                    context: { () throws(StoreFault) in try snapshot.context() }, item: item,
                    for: touch)
            } catch {
                throw try denial(for: error, account: account, snapshot: snapshot)
            }
            if let item, item.isRequired, case .failure(let error) = opened.data {
                // Thrown before the receipt is written, because nothing is released.
                throw denial(forItem: error, account: account)
            }
            // The account's records may have been changed while the TPM was at work.
            if snapshot.credential.vault == .tpm || item?.vault == .tpm {
                let now = try snapshot.kept.credential.state()
                guard now == .issued(snapshot.credential) else {
                    throw Denial(.badRequest)
                }
            }
            let blob = SSHSignature(
                publicKey: snapshot.credential.publicKey, namespace: matter.namespace,
                r: opened.numbers.r, s: opened.numbers.s
            ).blob
            try place.append(Receipt.text(statement: text, signature: blob))
            return (Assertion(statement: text, signature: blob), opened.data)
        }
    }

    private struct Opened: Sendable {
        let numbers: P256Signature
        let data: Result<SecretBytes, VaultError>?
    }

    /// Signs `data` with the prepared key and opens the item, both for the same match.
    ///
    /// Throws only if the key fails; a failure of the item becomes part of the result.
    private func open(
        _ items: ReadyItems, data: [UInt8],
        context: () throws(StoreFault) -> SealingContext, item: SealedItem?,
        for touch: Touch<ScannedFinger>
    ) async throws(VaultError) -> Opened {
        let keyContext: SealingContext
        do throws(StoreFault) { keyContext = try context() } catch {
            // This says nothing about the key, which must survive it.
            if case .vault(.crypto(let fault)) = error { throw .crypto(fault) }
            throw .trouble(.failed(error.description))
        }
        let numbers = try await vaults.call(items.keyVault) { _ throws(VaultError) in
            try items.key.sign(data, context: keyContext, for: touch.match)
        }
        guard let item else { return Opened(numbers: numbers, data: nil) }
        do throws(VaultError) {
            guard let ready = try items.data?.get() else { throw .malformed }
            let opened = try await vaults.call(item.vault) { _ throws(VaultError) in
                try ready.open(item.context, for: touch.match)
            }
            return Opened(numbers: numbers, data: .success(opened))
        } catch { return Opened(numbers: numbers, data: .failure(error)) }
    }

    /// Translates the error of the account's key into a denial.
    ///
    /// A key that does not open or is malformed is destroyed, with the cause recorded, and the
    /// denial is `invalidated`. Any other error, such as an unavailable TPM, is logged and leaves
    /// the key alone.
    func denial(
        for error: VaultError, account: Account, snapshot: AccountSnapshot
    ) throws(StoreFault) -> Denial {
        switch error {
        case .doesNotOpen, .malformed:
            let cause = try snapshot.kept.credential.explain(
                snapshot.credential, enrolment: snapshot.enrolment)
            _ = try credentials.destroy(account, kept: snapshot.kept, because: cause)
            return Denial(.invalidated, cause: cause, since: accounts.instant.seconds)
        case .crypto, .trouble:
            journal.fault(error.description, account: account.name)
            return Denial(of: error)
        }
    }

    /// Translates the error of an item that does not open although the key does; neither is
    /// destroyed.
    func denial(forItem error: VaultError, account: Account) -> Denial {
        journal.fault(error.description, account: account.name)
        switch error {
        case .trouble(.platformChanged):
            return Denial(.vaultUnavailable, subject: Detail.sealedInOtherState.bytes)
        case .crypto, .trouble: return Denial(of: error)
        case .doesNotOpen, .malformed:
            return Denial(.storage, subject: Detail.sealedDoesNotOpen.bytes)
        }
    }

    /// The data that SSHSIG signs for a statement: the namespace and the statement's SHA-256 digest
    /// (PROTOCOL.sshsig).
    private func signedData(
        _ statement: [UInt8], namespace: SignatureNamespace
    ) throws(VaultError) -> [UInt8] {
        do throws(CryptoFault) {
            return SSHSignature.signedData(
                namespace: namespace.bytes, messageDigest: try SHA256.digest(statement))
        } catch { throw .crypto(error) }
    }

    /// Composes the statement from the request's part and what the daemon knows; the requester is
    /// that of the match, and the time is the present.
    private func statement(
        _ matter: SignedMatter, account: Account, snapshot: AccountSnapshot,
        reservation: Reservation, for touch: Touch<ScannedFinger>
    ) -> Statement {
        Statement(
            audience: Audience.local, account: AccountName(account.name), uid: account.uid,
            requester: touch.match.presence.requester.name,
            device: state.device, credential: snapshot.credential.identifier,
            challenge: matter.challenge, service: matter.service, terminal: matter.terminal,
            purpose: matter.purpose, command: matter.command, server: matter.server,
            factor: Factor.fingerprint,
            enrolment: snapshot.enrolment.state.generation, counter: reservation.counter,
            previous: reservation.previous, issued: accounts.instant)
    }
}
