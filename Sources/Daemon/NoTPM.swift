import Posix
import Vault

struct NoTPM: RootedVault {
    let kind = VaultKind.tpm
    private let why = VaultError.trouble(.absent("none"))
    func create(_ context: SealingContext) throws(VaultError) -> NewCredential { throw why }
    func seal(_ data: SecretBytes, _ context: SealingContext) throws(VaultError) -> [UInt8] { throw why }
    func ready(key sealed: [UInt8], _ context: SealingContext) throws(VaultError) -> any ReadyKey { throw why }
    func ready(data sealed: [UInt8], _ context: SealingContext) throws(VaultError) -> any ReadyData { throw why }
    func reseal(key sealed: [UInt8], from old: SealingContext, to new: SealingContext) throws(VaultError) -> [UInt8] { throw why }
    func describe() throws(VaultError) -> VaultDescription { throw why }
    func rest() {}
    func trust() throws(VaultError) { throw why }
}
