// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// The keys that seal the stored prints (templates).
///
/// They are opened before prints are read, created before a print is added, and changed when the
/// credential moves to another vault. Such a key cannot be sealed to fingers, because they are what
/// it protects: it is sealed to this machine, its TPM, and the boot state if PCRs are configured.
/// With the file vault, the host secret takes its place.
@ServiceActor
final class TemplateKeys {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let vaults: Vaults
    let accounts: Accounts

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

extension TemplateKeys {
    /// Opens the keys of an account's prints. Failures are not reported here: reading the prints
    /// throws `.closed` then.
    func openTemplates(of account: Account) async {
        // Called for nearly every request: if all keys are open, no record has to be read.
        guard hasClosedTemplates, let kept = try? accounts.kept(account) else { return }
        await openTemplates(of: kept)
    }

    /// As above, for an account whose records are open already.
    func openTemplates(of kept: AccountState) async {
        for key in (try? kept.prints.keys()) ?? [] { await open(key) }
    }

    private var hasClosedTemplates: Bool {
        let keys = (try? state.templateKeys.identifiers()) ?? []
        return !keys.allSatisfy(state.templateKeys.isOpen)
    }

    /// Opens all keys, for work that compares the prints of several accounts.
    func openAllTemplates() async {
        for key in (try? state.templateKeys.identifiers()) ?? [] { await open(key) }
    }

    /// Opens all keys if a reader lists the prints it stores: whose they are can only be told with
    /// every account's prints.
    func openTemplatesForListing() async {
        if await !readers.listing().isEmpty { await openAllTemplates() }
    }

    /// The key to seal a new print of an account with: in the vault of its credential, or of the
    /// one that it would get.
    func sealingKey(of account: Account) async throws(StoreFault) -> TemplateKeyID {
        let former = try accounts.kept(account)?.credential.state().vault
        return try await templateKey(in: await vaults.chosen(after: former))
    }

    /// The key to seal new prints with, for a credential in this vault. Created, on disk, if there
    /// is none that opens.
    func templateKey(in vault: VaultKind) async throws(StoreFault) -> TemplateKeyID {
        guard vault != .file else { return .host }
        await openAllTemplates()
        if let open = try openTemplateKey(among: state.templateKeys.identifiers()) {
            return .kept(open)
        }
        return .kept(try await makeTemplateKey(in: vault))
    }

    /// Reseals an account's prints for the vault of its credential, because the other vault may be
    /// given up.
    ///
    /// Returns false if that fails; the failure is logged, and the prints stay as they were.
    func moveTemplates(
        of account: Account, kept: AccountState, to vault: VaultKind
    ) async -> Bool {
        do throws(StoreFault) {
            let key = try await templateKey(in: vault)
            // The credential may have moved on while the key was made.
            guard try kept.credential.state().vault == vault else { throw .changedMeanwhile }
            let former = try kept.prints.keys()
            try kept.prints.seal(with: key)
            tidyTemplateKeys(former.filter { .kept($0) != key })
            return true
        } catch {
            journal.fault("the fingerprints were not sealed anew: \(error)", account: account.name)
            return false
        }
    }

    private func open(_ identifier: Bytes) async {
        let keys = state.templateKeys
        guard !keys.isOpen(identifier) else { return }
        do throws(VaultError) {
            keys.settle(identifier, .success(try await opened(identifier)))
        } catch {
            // Another request may have opened it meanwhile.
            if !keys.isOpen(identifier) { keys.settle(identifier, .failure(error)) }
        }
    }

    private func opened(_ identifier: Bytes) async throws(VaultError) -> TemplateSeal {
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
        return try await vaults.call(key.vault) { vault throws(VaultError) in
            let data = try vault.ready(data: key.sealed, context: context)
            defer { data.release() }
            return try TemplateSeal(data, context: context)
        }
    }

    private func makeTemplateKey(in vault: VaultKind) async throws(StoreFault) -> Bytes {
        let made: (SealedTemplateKey, TemplateSeal)
        do {
            let identifier = try randomBytes(16)
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
        // Another request may have made one meanwhile.
        let known = try state.templateKeys.identifiers()
        if let open = try openTemplateKey(among: known) { return open }
        tidyTemplateKeys(known)
        try state.templateKeys.keep(made.0, opened: made.1)
        return made.0.identifier
    }

    private func openTemplateKey(among known: [Bytes]) throws(StoreFault) -> Bytes? {
        for identifier in known where try isForNewPrints(identifier) { return identifier }
        return nil
    }

    /// Whether a key is open and sealed under the current policy. The configured PCRs may have
    /// changed since it was made.
    private func isForNewPrints(_ identifier: Bytes) throws(StoreFault) -> Bool {
        guard state.templateKeys.isOpen(identifier),
            let key = try state.templateKeys.key(identifier)
        else { return false }
        return vaults.isUnderPresentPolicy(data: key.sealed, in: key.vault)
    }

    /// Deletes keys that no print uses and that are not for new prints. Deletes none if that cannot
    /// be determined.
    private func tidyTemplateKeys(_ known: [Bytes]) {
        do throws(StoreFault) {
            try removeUnused(known)
        } catch { journal.fault("keys of fingerprints were not tidied: \(error)") }
    }

    private func removeUnused(_ known: [Bytes]) throws(StoreFault) {
        var left: [Bytes] = []
        for key in known where try !isForNewPrints(key) { left.append(key) }
        guard !left.isEmpty else { return }
        let used = try state.templateKeysInUse()
        for key in left where !used.contains(key) { try state.templateKeys.remove(key) }
    }
}
