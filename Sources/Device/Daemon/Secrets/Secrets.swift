// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import Domain
import Gate
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import Sealing
import SignedFormats
import State

/// Stores secrets of an account, and releases them by touch.
///
/// A secret is sealed to the fingers as they are when it is stored; if they change, it is stale
/// until it is stored again. Storing, listing and deleting need no touch. Releasing needs one in
/// the same request, and leaves a receipt whose purpose names the secret. Contents are in locked
/// memory, apart from the packets that carry them, which are wiped.
///
/// Root or the account itself may make all these requests.
@ServiceActor
final class Secrets {
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let guards: TouchGuards
    let touches: Touches
    /// The accounts that are sending a secret now; each may send one at a time.
    private var sendingSecrets: Set<UInt32> = []

    init(
        vaults: Vaults, accounts: Accounts, credentials: Credentials, guards: TouchGuards,
        touches: Touches
    ) {
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.guards = guards
        self.touches = touches
    }
}

extension Secrets {
    /// The handlers for storing, releasing, listing and deleting secrets.
    var handlers: [RequestHandler] {
        [
            RequestHandler(keepSecret), RequestHandler(releaseSecret), RequestHandler(listSecrets),
            RequestHandler(deleteSecret),
        ]
    }

    /// How many accounts may send a secret at the same time, since each occupies locked memory.
    private static let senders = 8

    /// Receives a secret in parts and stores it, sealed to the current fingers.
    ///
    /// The account must be able to release it by touch: it needs fingers and a valid credential.
    /// Throws `badRequest` for a name or size that is not allowed, `secretExists` if the name is
    /// taken and the request does not replace it, `tooManySecrets`, and `tooManyRequests` if the
    /// account or too many others are sending one.
    func keepSecret(
        _ request: SecretSetRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard SecretName.fault(request.name) == nil,
            let announced = SecretProgress(count: request.size)
        else { throw Denial(.badRequest) }
        // Check this before the client sends anything, so that no secret is sent in vain.
        _ = try place(for: request, account: account)
        guard sendingSecrets.count < Self.senders, sendingSecrets.insert(account.uid).inserted
        else { throw Denial(.tooManyRequests) }
        return try await keep(
            try await delivery(announced, account: account, client: client), request: request,
            account: account)
    }

    /// Receives the secret from the client, and then lets the account send the next one.
    private func delivery(
        _ announced: SecretProgress, account: Account, client: any Client
    ) async throws(Denial) -> SecretBytes {
        defer { sendingSecrets.remove(account.uid) }
        return try await client.askSecret(announced)
    }

    /// Seals a secret in the credential's vault and stores it.
    ///
    /// Throws the denial of `.changedMeanwhile`, and stores nothing, if the fingers, the credential
    /// or the secret of that name changed while the vault was at work.
    private func keep(
        _ secret: SecretBytes, request: SecretSetRequest, account: Account
    ) async throws(Denial) -> Answer {
        let place = try place(for: request, account: account)
        let snapshot = place.snapshot
        return try await accounts.answering(account) {
            let context = try snapshot.kept.secrets.context(
                place.identifier, name: request.name, state: snapshot.enrolment.state)
            let kind = snapshot.credential.vault
            let sealed = try await sealing(secret, context: context, by: kind)
            // Fingers or secrets may have changed while the vault was at work.
            guard let again = try? self.place(for: request, account: account),
                again.snapshot.credential == snapshot.credential,
                again.isNew ? place.isNew : again.identifier == place.identifier
            else { throw StoreFault.changedMeanwhile }
            try snapshot.kept.secrets.keep(
                sealed, as: place.identifier, name: request.name, by: kind, context: context,
                now: accounts.instant)
            return .done(DoneAnswer())
        }
    }

    private func sealing(
        _ secret: SecretBytes, context: SealingContext, by kind: VaultKind
    ) async throws(StoreFault) -> SealedContent {
        do throws(VaultError) {
            return try await vaults.call(kind) { vault throws(VaultError) in
                try SealedContent.seal(secret, context: context, by: vault)
            }
        } catch { throw .vault(error) }
    }

    /// Finds where a secret is to be stored.
    ///
    /// Throws unless the account could release it by touch.
    private func place(
        for request: SecretSetRequest, account: Account
    ) throws(Denial) -> PlaceForSecret {
        let snapshot = try credentials.revokingSnapshot(of: account)
        let place = try accounts.reading(account) { () throws(StoreFault) in
            try snapshot.kept.secrets.place(for: request.name, replacing: request.replaces)
        }
        switch place {
        case .new(let identifier):
            return PlaceForSecret(snapshot, identifier: identifier, isNew: true)
        case .over(let identifier):
            return PlaceForSecret(snapshot, identifier: identifier, isNew: false)
        case .taken: throw Denial(.secretExists, subject: request.name)
        case .full: throw Denial(.tooManySecrets)
        }
    }
}

/// The place for a secret, and the account's records with which it was found.
private struct PlaceForSecret {
    let snapshot: AccountSnapshot
    let identifier: SecretID
    /// Whether no secret has this name yet.
    let isNew: Bool

    init(_ snapshot: AccountSnapshot, identifier: SecretID, isNew: Bool) {
        self.snapshot = snapshot
        self.identifier = identifier
        self.isNew = isNew
    }
}

extension Secrets {
    /// Releases a secret: a touch opens its key, and the content is sent to the client in the same
    /// request.
    ///
    /// The receipt is written before the content is sent. If recording that it was granted fails,
    /// that is logged and the secret is sent nevertheless. Throws `unknownSecret`, `secretStale` if
    /// it was sealed to other fingers, `suspending` if the machine began to sleep after the touch,
    /// `storage` if the secret is damaged, or the denial of a guard or the touch.
    func releaseSecret(
        _ request: SecretGetRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let plan = guards.plan(
            for: SecretGetRequest.self, account: account, milliseconds: request.timeoutMilliseconds)
        let presence = try await guards.admit(plan, client: client)
        let (wanted, context) = try secret(named: request.name, account: account)
        let matter: SignedMatter
        do throws(SystemFault) {
            matter = try SignedMatter(secret: request)
        } catch { throw accounts.denial(for: .file(.system(error)), account: account) }
        let proof = try await touches.settledTouch(
            plan, presence: presence, matter: matter, client: client
        ) { snapshot in
            try item(wanted, snapshot: snapshot)
        }
        touches.settleCommand(proof, account: account, by: presence.requester, client: client)
        if touches.hasSlept(since: proof) { throw Denial(.suspending) }
        let content: SecretBytes
        do throws(VaultError) {
            guard let key = try proof.released?.get() else { throw .doesNotOpen }
            content = try SealedContent.open(wanted.content, key: key, context: context)
        } catch { throw accounts.denial(for: .vault(error), account: account) }
        await client.send(content)
        return .done(DoneAnswer())
    }

    /// Finds a secret that a touch could release now, and the context that it opens with.
    private func secret(
        named name: Bytes, account: Account
    ) throws(Denial) -> (StoredSecret, SealingContext) {
        let snapshot = try credentials.revokingSnapshot(of: account)
        return try accounts.reading(account) {
            let list = try snapshot.kept.secrets.list()
            guard let found = list.intact.first(where: { $0.name == name }) else {
                let isDamaged = list.damaged.contains { $0.name == name }
                throw isDamaged ? .damagedSecret : Denial(.unknownSecret, subject: name)
            }
            return (found, try item(found, snapshot: snapshot).context)
        }
    }

    /// Returns the sealed key of a secret for the current fingers.
    ///
    /// Throws `secretStale` if it was sealed to other fingers, and `badRequest` if it was changed
    /// or deleted since it was found.
    private func item(
        _ wanted: StoredSecret, snapshot: AccountSnapshot
    ) throws -> SealedItem {
        let secrets = snapshot.kept.secrets
        let state = snapshot.enrolment.state
        guard try secrets.secret(wanted.identifier) == wanted else {
            throw Denial(.badRequest)
        }
        guard let sealing = wanted.sealing(for: state) else {
            throw Denial(.secretStale, subject: wanted.name)
        }
        return SealedItem(
            vault: sealing.vault, sealed: sealing.key,
            context: try secrets.context(wanted.identifier, name: wanted.name, state: state))
    }
}

extension Secrets {
    /// Sends the name and state of each secret of an account, even of damaged ones, but no content.
    func listSecrets(
        _: SecretListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let secrets = try accounts.reading(account) { () throws(StoreFault) -> [SecretAnswer] in
            guard let kept = try accounts.kept(account) else { return [] }
            let state = try kept.prints.enrolment().state
            let list = try kept.secrets.list()
            return list.intact.map { SecretAnswer($0, state: state) }
                + list.damaged.map(SecretAnswer.init)
        }
        for secret in secrets { await client.send(.secret(secret)) }
        return .done(DoneAnswer())
    }

    /// Deletes a secret, intact or damaged; throws `unknownSecret` if there is none with that name.
    func deleteSecret(
        _ request: SecretDeleteRequest, account: Account, client: any Client
    ) throws(Denial) -> Answer {
        let isDeleted = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.secrets.delete(request.name) ?? false
        }
        guard isDeleted else { throw Denial(.unknownSecret, subject: request.name) }
        return .done(DoneAnswer())
    }
}

extension SecretAnswer {
    fileprivate init(_ secret: StoredSecret, state: EnrolmentState) {
        self.init(
            name: secret.name, size: UInt32(clamping: secret.size),
            since: secret.created.seconds, vault: Bytes(secret.vault.rawValue.utf8),
            state: secret.fits(state) ? .fits : .stale)
    }

    fileprivate init(_ secret: DamagedSecret) {
        self.init(name: secret.name, size: 0, since: 0, vault: [], state: .damaged)
    }
}

extension SignedMatter {
    /// Creates the statement for the receipt of a released secret.
    ///
    /// No caller verifies it, so the daemon chooses the challenge itself, at random.
    fileprivate init(secret request: SecretGetRequest) throws(SystemFault) {
        self.init(
            namespace: .secret, challenge: Challenge(random: try randomBytes(Challenge.count)),
            service: .signet, terminal: [], purpose: request.context.purpose)
    }
}

extension Denial {
    /// The denial for a stored secret that is damaged or was altered.
    fileprivate static var damagedSecret: Denial {
        Denial(.storage, subject: Detail.secretDamaged.bytes)
    }
}
