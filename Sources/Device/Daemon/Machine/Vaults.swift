// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import Sealing
import SignedFormats
import State

/// The vaults of this machine, and the choice between them.
///
/// The file vault is called directly. Calls of the TPM block, so they run one after the other on a
/// side thread, while the service continues. A call throws `.trouble(.noAnswer)` if the TPM has not
/// answered a command for longer than the limit; how long all commands of a call take does not matter.
@ServiceActor
final class Vaults {
    /// The vault in which new keys are made, as configured.
    enum Preference: String {
        /// The TPM if there is one that may be used, otherwise files.
        case auto = "auto"
        case tpm = "tpm"
        case file = "file"
    }

    let file: FileVault
    private let tpm: any RootedVault
    private let preference: Preference
    private let limit: Duration
    private let journal: DecisionJournal
    private let thread: SideThread
    /// Whether the TPM has been used since the last `rest()`.
    private var isTPMInUse = false
    /// How many calls await the TPM.
    private var awaited = 0
    /// Whether the TPM's last call since then succeeded, so that it need not be checked again.
    private var isTPMKnownToWork = false
    /// Whether the TPM has been used since the daemon started.
    private var wasTPMInUse = false
    /// The last logged choice, which is not logged again.
    private var told: String?

    /// Uses these vaults; a command of the TPM may take at most `limit`.
    init(
        file: FileVault, tpm: any RootedVault, preference: Preference, limit: Duration,
        journal: DecisionJournal
    ) {
        self.file = file
        self.tpm = tpm
        self.preference = preference
        self.limit = limit
        self.journal = journal
        thread = SideThread { tpm.lastAnswer }
    }

    /// The vault in which new keys are made.
    ///
    /// With the preference `auto`, that is the TPM if it works, and otherwise the file vault. The
    /// choice is logged whenever it changes.
    ///
    /// Throws if there is a TPM that cannot be used at the moment: what was made in a file meanwhile
    /// would stay there.
    func chosen() async throws(VaultError) -> VaultKind {
        switch preference {
        case .file: return .file
        case .tpm: return .tpm
        case .auto: break
        }
        do throws(VaultError) {
            try await check(.tpm)
            tell("new keys are stored in the TPM")
            return .tpm
        } catch {
            guard case .trouble(let trouble) = error, trouble.meansNone else {
                tell("no new keys are made meanwhile: \(error)")
                throw error
            }
            tell("new keys are stored in files: \(error)")
            return .file
        }
    }

    /// The vault for a credential that replaces another: the former one's vault if it works, else
    /// as `chosen()` says.
    func chosen(after former: VaultKind?) async throws(VaultError) -> VaultKind {
        guard let former, (try? await check(former)) != nil else { return try await chosen() }
        return former
    }

    /// The vault to name as the one for new keys: the TPM also while it does not answer.
    func announced() async -> VaultKind { (try? await chosen()) ?? .tpm }

    /// Throws if a vault does not work; asks the TPM only if it has not just shown that it does.
    private func check(_ kind: VaultKind) async throws(VaultError) {
        if kind == .tpm, isTPMKnownToWork { return }
        _ = try await describe(kind)
    }

    /// The description of a vault for the administrator; throws if the vault does not work.
    func describe(_ kind: VaultKind) async throws(VaultError) -> VaultDescription {
        try await call(kind) { vault throws(VaultError) in try vault.describe() }
    }

    /// Accepts the present TPM as the one in which keys are made, and logs its old and new root
    /// key.
    func trust() async throws(VaultError) {
        let tpm = tpm
        let change = try await onThread { () throws(VaultError) in try tpm.trust() }
        let old = change.old.map(hexadecimal) ?? "none"
        journal.service("the TPM's root key is now \(hexadecimal(change.new)); it was \(old)")
    }

    /// Whether data were sealed under the policy that a vault uses now, such as the configured
    /// PCRs.
    ///
    /// Does not ask the TPM.
    func isUnderPresentPolicy(data sealed: [UInt8], in kind: VaultKind) -> Bool {
        switch kind {
        case .file: file.isUnderPresentPolicy(data: sealed)
        case .tpm: tpm.isUnderPresentPolicy(data: sealed)
        }
    }

    /// Calls a vault: the file vault at once, the TPM on the side thread.
    ///
    /// Throws what `body` throws, and `.trouble(.noAnswer)` if a command takes longer than the
    /// limit.
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

    /// Opens a sealed key in one vault and seals it in another, to the same context.
    ///
    /// Needs no touch: only the vaults can read the key in between. Throws the error of the vault
    /// that failed.
    func move(
        _ sealed: [UInt8], from old: VaultKind, to new: VaultKind, context: SealingContext
    ) async throws(StoreFault) -> [UInt8] {
        do throws(VaultError) {
            let key = try await call(old) { vault throws(VaultError) in
                let data = try vault.ready(data: sealed, context: context)
                defer { data.release() }
                return try data.lift(context)
            }
            return try await call(new) { vault throws(VaultError) in
                try vault.seal(key, context: context)
            }
        } catch { throw .vault(error) }
    }

    /// What the TPM offers to a server that wants proof of it; nil if it has no certificate.
    func attestationOffer() async throws(VaultError) -> AttestationOffer? {
        let tpm = tpm
        return try await onThread(atLeast: Self.keyTime) { () throws(VaultError) in
            try tpm.attestationOffer()
        }
    }

    /// Has the TPM prove that a key is its own; see `RootedVault.attest`.
    func attest(
        key sealed: [UInt8], context: SealingContext, offer: AttestationOffer,
        order: AttestationOrder
    ) async throws(VaultError) -> AttestationAnswer {
        let tpm = tpm
        return try await onThread { () throws(VaultError) in
            try tpm.attest(key: sealed, context: context, offer: offer, order: order)
        }
    }

    /// How long a chip may take to make an RSA key, as that of an endorsement.
    private static let keyTime = Duration.seconds(120)

    private func onThread<Value: Sendable>(
        atLeast time: Duration = .zero,
        _ body: @escaping @Sendable () throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        isTPMInUse = true
        wasTPMInUse = true
        awaited += 1
        defer { awaited -= 1 }
        let result = await WaitTeller.during {
            await thread.run(limit: max(limit, time)) { () -> Result<Value, VaultError> in
                do throws(VaultError) {
                    return .success(try body())
                } catch { return .failure(error) }
            }
        }
        isTPMKnownToWork = if case .success = result { true } else { false }
        guard let result else { throw .trouble(.noAnswer) }
        return try result.get()
    }

    /// Releases prepared items when their vault has time for it.
    ///
    /// Returns at once.
    func giveBack(_ items: ReadyItems) {
        if items.keyVault == .file { items.key.release() }
        if items.dataVault == .file { items.releaseData() }
        guard items.keyVault == .tpm || items.dataVault == .tpm else { return }
        thread.later {
            if items.keyVault == .tpm { items.key.release() }
            if items.dataVault == .tpm { items.releaseData() }
        }
    }

    /// Releases what is loaded in the TPM, when it is not expected to be needed soon.
    ///
    /// Returns at once.
    func rest() {
        guard isTPMInUse else { return }
        isTPMInUse = false
        isTPMKnownToWork = false
        let tpm = tpm
        thread.later { tpm.rest() }
    }

    /// Whether a call awaits the TPM.
    var isAwaited: Bool { awaited > 0 }

    /// Whether a call awaits the TPM, which has answered a command within this time.
    func isAtWork(within time: Duration) -> Bool {
        guard isAwaited, let answered = tpm.lastAnswer else { return false }
        return SuspendingClock.now - answered < time
    }

    /// Waits until everything in the TPM is released, or the TPM is silent, for at most `time`.
    ///
    /// Called when the daemon stops.
    func close(within time: Duration) async {
        guard wasTPMInUse else { return }
        let (tpm, thread, limit) = (tpm, thread, limit)
        _ = await unlessLate(time) { await thread.run(limit: limit) { tpm.close() } }
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

extension VaultTrouble {
    /// Whether this machine has no TPM that Signet may use, or another one than it has used.
    fileprivate var meansNone: Bool {
        switch self {
        case .absent, .notPermitted, .anotherRoot: true
        case .lockout, .outOfSlots, .platformChanged, .noAnswer, .failed: false
        }
    }
}
