// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing
import State
import StateSupport
import Testing

/// The login password for the keyring, as the daemon keeps and opens it.
extension StateFixture {
    struct NotKept: Error {}

    /// What shadow(5) says of a password.
    static func entry(
        _ hash: String = "$6$salt$hash", changed: Int = 20_000
    ) throws -> ShadowEntry {
        var bytes = Array(hash.utf8)
        return ShadowEntry(hash: try SecretBytes(moving: &bytes), changed: changed)
    }

    /// Keeps a password for the fingers as they are.
    @discardableResult
    func keep(_ password: SecretBytes, _ entry: ShadowEntry?) throws -> KeyringPassword {
        let draft = try account.keyring.draft(try account.prints.enrolment(), entry: entry)
        let sealed = try SealedContent.seal(password, context: draft.context, by: vault)
        try account.keyring.keep(draft, sealed: sealed, by: .file, now: Self.now)
        guard case .kept(let kept) = try account.keyring.state() else { throw NotKept() }
        return kept
    }

    /// Opens what is kept with the fingers as they are.
    func open(_ password: KeyringPassword) throws -> SecretBytes {
        let context = try account.keyring.context(
            of: password, enrolment: try account.prints.enrolment())
        let ready = try vault.ready(data: password.sealed.key, context: context)
        defer { ready.release() }
        return try SealedContent.open(
            password.sealed.content, key: try ready.open(context), context: context)
    }
}
