// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import Sealing
import State

/// A key that a vault has just made, with the context to which it is sealed.
struct NewServerKey {
    let identifier: CredentialID
    let made: NewCredential
    let context: SealingContext
    let vault: VaultKind
}

extension ServerKeys {
    /// Makes a key for a server, sealed to the fingers as they were at the touch; it is not on disk
    /// yet.
    ///
    /// Throws `.changedMeanwhile` if the fingers have changed since the touch.
    func newKey(for server: ServerURL, snapshot: AccountSnapshot) async throws(StoreFault)
        -> NewServerKey
    {
        let identifier: CredentialID
        do throws(SystemFault) {
            identifier = CredentialID(random: try randomBytes(CredentialID.count))
        } catch {
            throw .file(.system(error))
        }
        let context = try snapshot.kept.servers.context(
            identifier, server: server, enrolment: snapshot.enrolment.state)
        let kind: VaultKind
        let made: NewCredential
        do throws(VaultError) {
            kind = try await vaults.chosen(after: snapshot.credential.vault)
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(context)
            }
        } catch { throw .vault(error) }
        guard try snapshot.kept.prints.enrolment().state == snapshot.enrolment.state else {
            throw .changedMeanwhile
        }
        return NewServerKey(
            identifier: identifier, made: made, context: context, vault: kind)
    }
}
