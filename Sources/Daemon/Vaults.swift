import Loop
import Posix
import Vault

/// The vaults of this machine, and the way to them: what blocks does not block the service.
@ServiceActor
final class Vaults {
    let file: FileVault
    private let tpm: (any Vault)?
    private let limit: Duration
    private let thread = SideThread()

    /// Calls of the TPM may take `limit` at the most.
    init(file: FileVault, tpm: (any Vault)? = nil, limit: Duration = .seconds(10)) {
        self.file = file
        self.tpm = tpm
        self.limit = limit
    }

    /// The vault that new keys are made in.
    func chosen() async throws(VaultError) -> VaultKind { .file }

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
            guard let tpm else { throw .trouble(.absent("none is set up")) }
            let result = await thread.run(limit: limit) { () -> Result<Value, VaultError> in
                do throws(VaultError) {
                    return .success(try body(tpm))
                } catch { return .failure(error) }
            }
            guard let result else { throw .trouble(.noAnswer) }
            return try result.get()
        }
    }

    /// Gives back what was got ready, when the vault has time for it.
    func giveBack(_ ready: ReadyItems) {
        switch ready.kind {
        case .file: ready.release()
        case .tpm: thread.later { ready.release() }
        }
    }
}
