// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// An attestation that this machine can make for a registration.
struct PreparedAttestation: Sendable {
    let offer: AttestationOffer
    /// Whether the server registers no key without it.
    let isRequired: Bool
}

/// What became of an attestation.
enum AttestationOutcome: Sendable {
    /// The key's proof has this part.
    case attested(RelayKeyAttestation)
    /// The key is proven without; the server does not require it.
    case none
    /// The server requires it, and did not accept the TPM.
    case refused(RelayAnswer)
    /// The server requires it, and the TPM failed.
    case failed(VaultError)
}

/// Proves to servers that new keys are in this machine's TPM.
///
/// The server is asked what it requires before a finger is asked for, so that no user touches the
/// reader for a registration that this machine cannot complete. A server that only accepts
/// attestations gets one if the TPM can make it.
@ServiceActor
final class KeyAttestations {
    /// The maximum size of the firmware's event log, in bytes.
    private static let logLimit = 1_048_576

    private let eventLog: String
    private let journal: DecisionJournal
    private let relay: RelayClient
    private let state: StateDirectory
    private let vaults: Vaults
    private let credentials: Credentials
    private let keys: ServerKeys

    /// `eventLog` is the path of the firmware's event log.
    init(
        eventLog: String, journal: DecisionJournal, relay: RelayClient, state: StateDirectory,
        vaults: Vaults, credentials: Credentials, keys: ServerKeys
    ) {
        self.eventLog = eventLog
        self.journal = journal
        self.relay = relay
        self.state = state
        self.vaults = vaults
        self.credentials = credentials
        self.keys = keys
    }
}

extension KeyAttestations {
    /// Asks a server what a registration requires, and prepares what this machine can offer.
    ///
    /// Returns nil if the server does not check attestations, or does not require one that this
    /// machine cannot make. Throws `notAttestable` if it does, the denials of `ServerKeys.check` if
    /// its policy would refuse the registration, and the denial for a server that does not answer
    /// or does not know the code.
    func prepare(
        for url: CanonicalServerURL, code: Bytes, factor: ConfirmingFactor, account: Account
    ) async throws(Denial) -> PreparedAttestation? {
        let snapshot = try credentials.snapshot(of: account)
        let request = RelayRequest.requirements(
            server: ServerURL(url), code: code, device: state.device)
        let answer = await relay.ask(request, for: account.uid)
        guard case .requirements(let required) = answer else {
            guard !answer.isOfOlderServer else { return nil }
            throw keys.denial(of: answer, url: url, account: account, signedBy: nil)
        }
        let isInTPM: Bool
        do throws(VaultError) {
            isInTPM = try await vaults.chosen(after: snapshot.credential.vault) == .tpm
        } catch { throw Denial(of: error) }
        // Why nothing can be attested is said more precisely below.
        let claimed = required.contains(.attestedKey) ? required.subtracting(.tpmKey) : required
        try keys.check(claimed, by: factor, isInTPM: isInTPM, server: ServerURL(url))
        let isRequired = !required.isDisjoint(with: [.attestedKey, .attestedBoot])
        guard required.contains(.checksAttestations) else {
            if isRequired { throw notAttestable(Detail.serverChecksNothing) }
            return nil
        }
        let offer = try await offer(isInTPM: isInTPM, isRequired: isRequired, account: account)
        if required.contains(.attestedBoot), firmwareLog() == nil {
            throw notAttestable(Detail.noEventLog)
        }
        return offer.map { PreparedAttestation(offer: $0, isRequired: isRequired) }
    }

    /// Has the TPM prove a key that was made after `prepare`, for a statement that it will sign.
    func attest(
        _ key: ServerKey, statement: Bytes, as prepared: PreparedAttestation,
        account: Account, snapshot: AccountSnapshot
    ) async -> AttestationOutcome {
        let request = RelayAttestation(
            server: key.server, registration: key.registration,
            certificate: prepared.offer.certificate, attestationKey: prepared.offer.attestationKey)
        let answer = await relay.ask(.attest(request), for: account.uid)
        guard case .attestation(let challenge) = answer else {
            guard !prepared.isRequired else { return .refused(answer) }
            journal.warning("\(key.serverText): registered without the proof of its TPM")
            return .none
        }
        do throws(VaultError) {
            let proven = try await proof(
                of: key, statement: statement, offer: prepared.offer, challenge: challenge,
                snapshot: snapshot)
            return .attested(RelayKeyAttestation(proven))
        } catch {
            guard !prepared.isRequired else { return .failed(error) }
            journal.fault("the TPM could not prove a key: \(error)", account: account.name)
            return .none
        }
    }

    private func proof(
        of key: ServerKey, statement: Bytes, offer: AttestationOffer,
        challenge: RelayAttestationChallenge, snapshot: AccountSnapshot
    ) async throws(VaultError) -> AttestationAnswer {
        guard let sealed = key.sealed(for: snapshot.enrolment.state) else { throw .doesNotOpen }
        let context: SealingContext
        do throws(StoreFault) {
            context = try snapshot.kept.servers.context(
                key.identifier, server: key.server, enrolment: snapshot.enrolment.state)
        } catch { throw .malformed }
        let qualifier: Bytes
        do throws(CryptoFault) {
            qualifier = try SHA256.digest(statement)
        } catch { throw .crypto(error) }
        let order = AttestationOrder(
            credential: challenge.credential, seed: challenge.seed, qualifier: qualifier,
            firmwareLog: firmwareLog())
        return try await vaults.attest(
            key: sealed, context: context, offer: offer, order: order)
    }

    /// What the TPM offers; nil if there is nothing, which is a denial if it is required.
    private func offer(
        isInTPM: Bool, isRequired: Bool, account: Account
    ) async throws(Denial) -> AttestationOffer? {
        guard isInTPM else {
            if isRequired { throw notAttestable(Detail.keysInFiles) }
            return nil
        }
        let offer: AttestationOffer?
        do throws(VaultError) {
            offer = try await vaults.attestationOffer()
        } catch {
            guard isRequired else {
                journal.fault("the TPM could not be attested: \(error)", account: account.name)
                return nil
            }
            throw Denial(.vaultUnavailable, subject: Bytes("\(error)".utf8))
        }
        if offer == nil, isRequired { throw notAttestable(Detail.noEndorsement) }
        return offer
    }

    private func firmwareLog() -> Bytes? {
        guard let log = try? readFile(eventLog, cap: Self.logLimit), !log.isEmpty else {
            return nil
        }
        return log
    }

    private func notAttestable(_ why: Text) -> Denial {
        Denial(.notAttestable, subject: why.bytes)
    }
}

extension RelayAnswer {
    /// Whether a server has answered that does not know the call.
    fileprivate var isOfOlderServer: Bool {
        guard case .refused(let code, let status, _) = self else { return false }
        return status == 404 || status == 405 || code == Bytes("not-found".utf8)
    }
}

extension RelayKeyAttestation {
    fileprivate init(_ proven: AttestationAnswer) {
        self.init(
            secret: proven.secret, area: proven.area, registers: proven.registers,
            registerDigest: proven.registerDigest,
            certification: RelayTPMStatement(proven.certification),
            quote: proven.quote.map {
                Quote(signed: RelayTPMStatement($0.signed), log: $0.log)
            })
    }
}

extension RelayTPMStatement {
    fileprivate init(_ signed: AttestationAnswer.Signed) {
        self.init(statement: signed.statement, signature: signed.signature)
    }
}
