// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// The keys that seal the stored prints (templates).
///
/// A key is opened before prints are read, created before a print is added, and changed when the
/// credential moves to another vault. Such a key cannot be sealed to the fingers, because they are
/// what it protects: it is sealed to this machine's TPM, and to the boot state if PCRs are
/// configured. With the file vault, a key derived from the host secret takes its place and is
/// always open.
///
/// Opened keys stay in memory until the daemon ends or root trusts another TPM. While a key is
/// closed, for example because the TPM does not answer, reading prints throws `StoreFault.closed`.
@ServiceActor
final class TemplateKeyOpener {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let vaults: Vaults
    let accounts: Accounts
    /// Whether a TPM took so long to open a key that people would notice if it had to be opened again.
    private(set) var isWorthKeeping = false

    /// How long a TPM may take for a key before the daemon keeps it open.
    private static let noticeable = Duration.milliseconds(250)

    init(
        journal: DecisionJournal, readers: ReaderPool, state: StateDirectory, vaults: Vaults,
        accounts: Accounts
    ) {
        self.journal = journal
        self.readers = readers
        self.state = state
        self.vaults = vaults
        self.accounts = accounts
    }
}

extension TemplateKeyOpener {
    /// Opens the keys that an account's prints are sealed with.
    ///
    /// Failures are not thrown here: reading the prints throws `StoreFault.closed` instead.
    func openTemplates(of account: Account) async {
        // This runs for nearly every request: if all keys are open, read no record.
        guard hasClosedTemplates, let kept = try? accounts.kept(account) else { return }
        await openTemplates(of: kept)
    }

    /// Opens the keys of an account whose records are open already.
    func openTemplates(of kept: AccountState) async {
        for key in (try? kept.prints.keys()) ?? [] { await open(key) }
    }

    /// Whether a key is not open yet; false if the keys cannot be listed.
    private var hasClosedTemplates: Bool {
        let keys = (try? state.templateKeys.identifiers()) ?? []
        return !keys.allSatisfy(state.templateKeys.isOpen)
    }

    /// Opens all keys, for work that compares the prints of several accounts.
    func openAllTemplates() async {
        for key in (try? state.templateKeys.identifiers()) ?? [] { await open(key) }
    }

    /// Opens all keys if a connected reader can list the prints that it stores.
    ///
    /// Whose prints these are can only be told with the prints of every account.
    func openTemplatesForListing() async {
        if await !readers.listing().isEmpty { await openAllTemplates() }
    }

    /// Returns the key for sealing a new print of an account.
    ///
    /// It belongs to the vault of the account's credential, or to the vault that a new credential
    /// would get. Throws `.vault` if a key is needed and the vault cannot make one.
    func sealingKey(of account: Account) async throws(StoreFault) -> TemplateKeyID {
        let former = try accounts.kept(account)?.credential.state().vault
        let vault: VaultKind
        do throws(VaultError) { vault = try await vaults.chosen(after: former) } catch {
            throw .vault(error)
        }
        return try await templateKey(in: vault)
    }

    /// Returns the key for sealing new prints if the credential is in this vault.
    ///
    /// If no stored key opens and was sealed under the current policy, a new one is created and
    /// stored on disk. All accounts share the key.
    func templateKey(in vault: VaultKind) async throws(StoreFault) -> TemplateKeyID {
        guard vault != .file else { return .host }
        await openAllTemplates()
        if let open = try openTemplateKey(among: state.templateKeys.identifiers()) {
            return .kept(open)
        }
        return .kept(try await makeTemplateKey(in: vault))
    }

    /// Reseals an account's prints for the vault of its credential, because the user may give up
    /// the other vault.
    ///
    /// If that fails, returns false and logs why; each print then has its old key or the new one,
    /// and all stay readable.
    func moveTemplates(
        of account: Account, kept: AccountState, to vault: VaultKind
    ) async -> Bool {
        do throws(StoreFault) {
            let key = try await templateKey(in: vault)
            // Another request may have issued the credential again while the key was created.
            guard try kept.credential.state().vault == vault else { throw .changedMeanwhile }
            let former = try kept.prints.keys()
            try kept.prints.seal(with: key)
            tidyTemplateKeys(former.filter { .kept($0) != key })
            return true
        } catch {
            journal.fault(
                "the fingerprints could not be moved to another vault: \(error)",
                account: account.name)
            return false
        }
    }

    /// Opens a key and records the result, good or bad, for reading prints.
    private func open(_ identifier: StoredTemplateKeyID) async {
        let keys = state.templateKeys
        guard !keys.isOpen(identifier) else { return }
        do throws(VaultError) {
            keys.settle(identifier, outcome: .success(try await opened(identifier)))
        } catch {
            // Do not overwrite the success of another request that opened it meanwhile.
            if !keys.isOpen(identifier) { keys.settle(identifier, outcome: .failure(error)) }
        }
    }

    /// Opens a stored key in its vault.
    ///
    /// Throws `.doesNotOpen`, which is final and makes its prints damaged, if the key is missing or
    /// damaged; other errors may pass.
    private func opened(_ identifier: StoredTemplateKeyID) async throws(VaultError) -> TemplateSeal
    {
        let key: SealedTemplateKey?
        do throws(StoreFault) {
            key = try state.templateKeys.key(identifier)
        } catch {
            if case .damaged = error { throw .doesNotOpen }
            throw .trouble(.failed(error.description))
        }
        guard let key, let context = SealingContext.templates(identifier) else {
            throw .doesNotOpen
        }
        let (seal, time) = try await vaults.call(key.vault) { vault throws(VaultError) in
            let start = SuspendingClock.now
            let data = try vault.ready(data: key.sealed, context: context)
            defer { data.release() }
            return (try TemplateSeal(data, context: context), SuspendingClock.now - start)
        }
        if key.vault == .tpm { isWorthKeeping = time > Self.noticeable }
        return seal
    }

    /// Creates a random key, seals it in the vault and stores it.
    ///
    /// Returns its identifier.
    ///
    /// If another request has created one meanwhile, returns that instead.
    private func makeTemplateKey(in vault: VaultKind) async throws(StoreFault)
        -> StoredTemplateKeyID
    {
        let made: (SealedTemplateKey, TemplateSeal)
        do {
            let identifier = StoredTemplateKeyID(random: try randomBytes(StoredTemplateKeyID.count))
            let key = try SecretBytes.random(AESGCM.keyCount)
            guard let context = SealingContext.templates(identifier) else {
                throw VaultError.malformed
            }
            let sealed = try await vaults.call(vault) { vault throws(VaultError) in
                try vault.seal(key, context: context)
            }
            made = (
                SealedTemplateKey(identifier: identifier, vault: vault, sealed: sealed),
                try TemplateSeal(key: key)
            )
        } catch let error as VaultError {
            throw .vault(error)
        } catch { throw .vault(.trouble(.failed("\(error)"))) }
        // Another request may have created one meanwhile.
        let known = try state.templateKeys.identifiers()
        if let open = try openTemplateKey(among: known) { return open }
        tidyTemplateKeys(known)
        try state.templateKeys.keep(made.0, opened: made.1)
        return made.0.identifier
    }

    /// The first key that is open and may seal new prints.
    private func openTemplateKey(
        among known: [StoredTemplateKeyID]
    ) throws(StoreFault) -> StoredTemplateKeyID? {
        for identifier in known where try isForNewPrints(identifier) { return identifier }
        return nil
    }

    /// Whether a key is open and was sealed under the policy that applies now.
    ///
    /// The administrator may have configured other PCRs since it was created.
    private func isForNewPrints(_ identifier: StoredTemplateKeyID) throws(StoreFault) -> Bool {
        guard state.templateKeys.isOpen(identifier),
            let key = try state.templateKeys.key(identifier)
        else { return false }
        return vaults.isUnderPresentPolicy(data: key.sealed, in: key.vault)
    }

    /// Deletes those of the keys that no print uses and that must not seal new prints.
    ///
    /// Deletes none if that cannot be determined, which is logged.
    private func tidyTemplateKeys(_ known: [StoredTemplateKeyID]) {
        do throws(StoreFault) {
            try removeUnused(known)
        } catch { journal.fault("unused fingerprint keys could not be deleted: \(error)") }
    }

    private func removeUnused(_ known: [StoredTemplateKeyID]) throws(StoreFault) {
        var left: [StoredTemplateKeyID] = []
        for key in known where try !isForNewPrints(key) { left.append(key) }
        guard !left.isEmpty else { return }
        let used = try state.templateKeysInUse()
        for key in left where !used.contains(key) { try state.templateKeys.remove(key) }
    }
}
