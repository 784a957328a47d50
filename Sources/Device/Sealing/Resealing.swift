// SPDX-License-Identifier: Apache-2.0
import Gate
import SignedFormats

// Where a key is sealed to another context without being opened for use, whatever the vault. A
// vault does that only with a `ResealPermission`, and no other file can create one. There are two
// reasons: the same fingers with other contents of readers, and an authorised change of fingers.

/// The permission to seal one key again, from one context to another.
package struct ResealPermission: ~Copyable {
    fileprivate init() {}
}

extension Vault {
    /// Seals a credential again for the same account, which covers other contents of readers now.
    ///
    /// Throws `.doesNotOpen` unless the key opens in the old context, and `.trouble` if the two
    /// contexts differ in more than the digest of what readers contain. The result is sealed bytes,
    /// so the caller never sees the key.
    package func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext
    ) throws(VaultError) -> [UInt8] {
        guard new.isOf(sameItemAs: old), old.relyingParty == "local",
            old.enrolment.generation == new.enrolment.generation
        else { throw .trouble(.failed("the key may not be sealed to other fingers")) }
        return try reseal(key: sealed, from: old, to: new, by: ResealPermission())
    }

    /// Seals an ssh key to the fingers after a change that was authorised with the password.
    ///
    /// Throws as the other function does; `.trouble` if the change was authorised for another
    /// account or half an hour ago or more, if the key is not one for ssh, or if the new fingers do
    /// not come after the old ones.
    package func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext,
        for change: AuthorizedChange
    ) throws(VaultError) -> [UInt8] {
        guard change.age >= .zero, change.age < AuthorizedChange.longestAge else {
            throw .trouble(.failed("the change of fingers was authorised too long ago"))
        }
        guard change.account == old.uid else {
            throw .trouble(.failed("the change of fingers was authorised for another account"))
        }
        guard new.isOf(sameItemAs: old), old.survivesAuthorizedChange,
            new.enrolment.generation > old.enrolment.generation
        else { throw .trouble(.failed("the key may not be sealed to other fingers")) }
        return try reseal(key: sealed, from: old, to: new, by: ResealPermission())
    }
}

extension AuthorizedChange {
    /// The maximum age of an authorisation.
    ///
    /// After it the finger is scanned, which may wait for its turn.
    fileprivate static let longestAge = Duration.seconds(1_800)
}

extension SealingContext {
    /// Whether a key that is sealed to this context outlives an authorised change of fingers.
    ///
    /// Only keys for ssh do: their relying party is an application that begins with `ssh:`, or that
    /// of keys for signet-agent.
    fileprivate var survivesAuthorizedChange: Bool {
        let application = [UInt8](relyingParty.utf8)
        return SSHApplication(application) != nil || application == SSHApplication.agent.bytes
    }

    /// Whether the other context differs in nothing but the fingers, and both are of a key that
    /// opens for a finger.
    fileprivate func isOf(sameItemAs other: SealingContext) -> Bool {
        account == other.account && uid == other.uid && item == other.item
            && relyingParty == other.relyingParty && use == .credential && other.use == .credential
    }
}
