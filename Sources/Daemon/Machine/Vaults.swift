// SPDX-License-Identifier: Apache-2.0
import Loop
import Posix
import SignedFormats
import Vault

/// The vaults of this machine, and the way to them: what blocks does not block the service.
@ServiceActor
final class Vaults {
    /// Which vault new keys are made in, as the administrator says.
    enum Preference: String {
        /// The TPM if it works.
        case auto = "auto"
        case tpm = "tpm"
        case file = "file"
    }

    let file: FileVault
    private let tpm: any RootedVault
    private let preference: Preference
    private let limit: Duration
    private let journal: DecisionJournal
    private let thread = SideThread()
    private var isTPMInUse = false
    private var wasTPMInUse = false
    /// What the journal heard last of a choice.
    private var told: String?

    /// Calls of the TPM may take `limit` at the most.
    init(
        file: FileVault, tpm: any RootedVault, preference: Preference, limit: Duration,
        journal: DecisionJournal
    ) {
        self.file = file
        self.tpm = tpm
        self.preference = preference
        self.limit = limit
        self.journal = journal
    }

    /// The vault that new keys are made in.
    ///
    /// A TPM that does not work is passed over where the preference is `auto`; the journal hears
    /// which vault it came to.
    func chosen() async -> VaultKind {
        switch preference {
        case .file: return .file
        case .tpm: return .tpm
        case .auto: break
        }
        do throws(VaultError) {
            _ = try await describe(.tpm)
            tell("new keys are kept in the TPM")
            return .tpm
        } catch {
            tell("new keys are kept in files: \(error)")
            return .file
        }
    }

    /// The vault for a credential that takes the place of another: the same one, if it works.
    func chosen(after former: VaultKind?) async -> VaultKind {
        guard let former, (try? await describe(former)) != nil else { return await chosen() }
        return former
    }

    /// What an administrator wants to know of a vault.
    func describe(_ kind: VaultKind) async throws(VaultError) -> VaultDescription {
        try await call(kind) { vault throws(VaultError) in try vault.describe() }
    }

    /// Takes the TPM as it is now for the one that keys are made in.
    func trust() async throws(VaultError) {
        let tpm = tpm
        let change = try await onThread { () throws(VaultError) in try tpm.trust() }
        let old = change.old.map(hexadecimal) ?? "none"
        journal.service("the TPM's root key is \(hexadecimal(change.new)) now; it was \(old)")
    }

    /// Whether data were sealed under the policy that a vault seals under now; asks no TPM.
    func isUnderPresentPolicy(data sealed: [UInt8], in kind: VaultKind) -> Bool {
        switch kind {
        case .file: file.isUnderPresentPolicy(data: sealed)
        case .tpm: tpm.isUnderPresentPolicy(data: sealed)
        }
    }

    /// Calls a vault: the file vault at once, the TPM on the thread beside.
    ///
    /// Throws `.trouble(.noAnswer)` where the TPM takes too long.
    func call<Value: Sendable>(
        _ kind: VaultKind,
        _ body: @escaping @Sendable (any Vault) throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        switch kind {
        case .file: return try body(file)
        case .tpm:
            let tpm = tpm
            return try await onThread { () throws(VaultError) in try body(tpm) }
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        isTPMInUse = true
        wasTPMInUse = true
        let result = await thread.run(limit: limit) { () -> Result<Value, VaultError> in
            do throws(VaultError) {
                return .success(try body())
            } catch { return .failure(error) }
        }
        guard let result else { throw .trouble(.noAnswer) }
        return try result.get()
    }

    /// Gives back what was got ready, when the vault has time for it.
    func giveBack(_ items: ReadyItems) {
        if items.keyVault == .file { items.key.release() }
        if items.dataVault == .file { items.releaseData() }
        guard items.keyVault == .tpm || items.dataVault == .tpm else { return }
        thread.later {
            if items.keyVault == .tpm { items.key.release() }
            if items.dataVault == .tpm { items.releaseData() }
        }
    }

    /// Gives back what the TPM is held by, when nobody needs it for a while.
    func rest() {
        guard isTPMInUse else { return }
        isTPMInUse = false
        let tpm = tpm
        thread.later { tpm.rest() }
    }

    /// Waits until all is given back, for the end of the daemon.
    func close() async {
        guard wasTPMInUse else { return }
        let tpm = tpm
        _ = await thread.run(limit: .seconds(2)) { tpm.close() }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(bytes), as: UTF8.self)
    }

    private func tell(_ what: String) {
        guard told != what else { return }
        told = what
        journal.service(what)
    }
}
