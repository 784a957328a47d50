// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import Sealing
import State
import StateSupport
import Testing

/// Secrets, as the daemon keeps and opens them.
extension StateFixture {
    /// The fingers as they are.
    var present: EnrolmentState {
        get throws { try account.prints.enrolment().state }
    }

    func path(of secret: StoredSecret) -> String {
        file("secrets/\(hexadecimal(secret.identifier))")
    }

    /// Keeps a secret for the fingers as they are, as the daemon does.
    @discardableResult
    func keep(
        _ content: [UInt8], as name: String, replacing: Bool = false,
        in account: AccountState? = nil
    ) throws -> StoredSecret {
        let secrets = (account ?? self.account).secrets
        let name = Array(name.utf8)
        let identifier: SecretID
        switch try secrets.place(for: name, replacing: replacing) {
        case .new(let id), .over(let id): identifier = id
        case .taken, .full: throw StoreFault.changedMeanwhile
        }
        let context = try secrets.context(identifier, name: name, state: try present)
        let sealed = try SealedContent.seal(
            unsafe try SecretBytes(copying: content.span.bytes), context: context, by: vault)
        try secrets.keep(
            sealed, as: identifier, name: name, by: vault.kind, context: context, now: Self.now)
        return try #require(try secrets.secret(identifier))
    }

    /// What a secret is, under the fingers as they are.
    func open(_ secret: StoredSecret) throws -> [UInt8] {
        let state = try present
        return try open(secret, try #require(secret.sealing(for: state)).key, under: state)
    }

    func open(
        _ secret: StoredSecret, _ sealed: [UInt8], under state: EnrolmentState
    ) throws -> [UInt8] {
        let context = try account.secrets.context(
            secret.identifier, name: secret.name, state: state)
        let key = try vault.ready(data: sealed, context: context).open(context)
        let content = try SealedContent.open(secret.content, key: key, context: context)
        return content.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Seals the key of a secret anew, as for a move between vaults.
    func reseal(_ secret: StoredSecret, in account: AccountState? = nil) throws {
        let secrets = (account ?? self.account).secrets
        let state = try present
        let context = try secrets.context(secret.identifier, name: secret.name, state: state)
        let sealed = try #require(secret.sealing(for: state)).key
        let key = try vault.ready(data: sealed, context: context).open(context)
        try secrets.keep(
            secret, resealed: try vault.seal(key, context: context), by: vault.kind,
            enrolment: state)
    }
}
