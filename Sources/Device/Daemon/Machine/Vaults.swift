// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import Sealing
import SignedFormats

/// The vaults of this machine, and the choice between them.
///
/// The file vault is called directly. Calls of the TPM block, so they run one after the other on a
/// side thread with a time limit, and the service goes on meanwhile; a call that takes longer
/// throws `.trouble(.noAnswer)`.
@ServiceActor
final class Vaults {
    /// Which vault new keys are made in, as configured.
    enum Preference: String {
        /// The TPM if it works, otherwise files.
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
    /// Whether the TPM has been used since the last `rest()`.
    private var isTPMInUse = false
    /// Whether the TPM has been used since the daemon started.
    private var wasTPMInUse = false
    /// The last choice that was logged; repetitions are not.
    private var told: String?

    /// Calls of the TPM may take at most `limit`.
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
    /// With the preference `auto`, a TPM that does not work is passed over. The journal records
    /// which vault was chosen, when that changes.
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

    /// The vault for a credential that replaces another: the same vault if it works, else the
    /// preferred one.
    func chosen(after former: VaultKind?) async -> VaultKind {
        guard let former, (try? await describe(former)) != nil else { return await chosen() }
        return former
    }

    /// The description of a vault for the administrator. Throws if the vault does not work.
    func describe(_ kind: VaultKind) async throws(VaultError) -> VaultDescription {
        try await call(kind) { vault throws(VaultError) in try vault.describe() }
    }

    /// Accepts the current TPM as the one that keys are made in, and logs its root key.
    func trust() async throws(VaultError) {
        let tpm = tpm
        let change = try await onThread { () throws(VaultError) in try tpm.trust() }
        let old = change.old.map(hexadecimal) ?? "none"
        journal.service("the TPM's root key is \(hexadecimal(change.new)) now; it was \(old)")
    }

    /// Whether data were sealed under the policy that a vault uses now, such as the configured
    /// PCRs. Does not ask the TPM.
    func isUnderPresentPolicy(data sealed: [UInt8], in kind: VaultKind) -> Bool {
        switch kind {
        case .file: file.isUnderPresentPolicy(data: sealed)
        case .tpm: tpm.isUnderPresentPolicy(data: sealed)
        }
    }

    /// Calls a vault: the file vault at once, the TPM on the side thread.
    ///
    /// Throws `.trouble(.noAnswer)` if the TPM takes too long.
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

    /// Releases prepared items once the vault has time for it. Returns at once.
    func giveBack(_ items: ReadyItems) {
        if items.keyVault == .file { items.key.release() }
        if items.dataVault == .file { items.releaseData() }
        guard items.keyVault == .tpm || items.dataVault == .tpm else { return }
        thread.later {
            if items.keyVault == .tpm { items.key.release() }
            if items.dataVault == .tpm { items.releaseData() }
        }
    }

    /// Releases what is held in the TPM, once it is not needed for a while. Returns at once.
    func rest() {
        guard isTPMInUse else { return }
        isTPMInUse = false
        let tpm = tpm
        thread.later { tpm.rest() }
    }

    /// Waits, for two seconds at most, until everything is released. Called when the daemon stops.
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
