// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix

// Where a match opens a key or data, whatever the vault. A vault signs only with a
// `SigningPermission`, and no other file can create one. The uses that need no match are in
// `WithoutMatch.swift`, except for the signature on a removal, which is in this file. A key that is
// sealed to fingers signs for a `Match`, and one that is sealed to a password for a
// `PasswordMatch`; only the statement of a registration, which both of its new keys sign, is signed
// for either.

/// The permission to sign one message, created for a match of a finger or of a password, or for
/// the statement of a removal.
package struct SigningPermission: ~Copyable {
    fileprivate init() {}
}

extension ReadyKey {
    /// Signs the SHA-256 of a message with ECDSA on P-256, for a match.
    ///
    /// The caller computes the context again after the match. Throws `.doesNotOpen` unless the
    /// context equals the one that the key was sealed to, and `.trouble` if the match belongs to
    /// another account or is 60 seconds old or more, or if the key is sealed to a password.
    package func sign(
        _ message: [UInt8], context: SealingContext, for match: borrowing Match
    ) throws(VaultError) -> P256Signature {
        try context.check(match)
        try context.checkOpener(.finger)
        return try sign(message, context: context, by: SigningPermission())
    }

    /// Signs the SHA-256 of a message with ECDSA on P-256, for a password that was accepted.
    ///
    /// The caller computes the context from the account's present entry in shadow(5). Throws
    /// `.doesNotOpen` unless the context equals the one that the key was sealed to, and `.trouble`
    /// if the password is another account's or was accepted 60 seconds ago or more, or if the key is
    /// sealed to fingers.
    package func sign(
        _ message: [UInt8], context: SealingContext, for match: borrowing PasswordMatch
    ) throws(VaultError) -> P256Signature {
        try context.check(match)
        try context.checkOpener(.password)
        return try sign(message, context: context, by: SigningPermission())
    }

    /// Signs the statement of a registration with a key that it registers, for a match of less than
    /// 300 seconds.
    package func sign(
        _ registration: RegistrationMessage, context: SealingContext, for match: borrowing Match
    ) throws(VaultError) -> P256Signature {
        try context.check(match, longestAge: SealingContext.registrationAge)
        return try sign(registration.bytes, context: context, by: SigningPermission())
    }

    /// Signs the statement of a registration with a key that it registers, for a password that was
    /// accepted less than 300 seconds ago.
    package func sign(
        _ registration: RegistrationMessage, context: SealingContext,
        for match: borrowing PasswordMatch
    ) throws(VaultError) -> P256Signature {
        try context.check(match, longestAge: SealingContext.registrationAge)
        return try sign(registration.bytes, context: context, by: SigningPermission())
    }

    /// Signs the statement that gives up a registration, the only kind of statement that needs no
    /// match; see `RemovalMessage`.
    package func sign(
        _ removal: RemovalMessage, context: SealingContext
    ) throws(VaultError) -> P256Signature {
        try sign(removal.bytes, context: context, by: SigningPermission())
    }
}

extension ReadyData {
    /// Opens the data for a match.
    ///
    /// The context is computed again after the match. Throws as `ReadyKey.sign(_:context:for:)`
    /// does.
    package func open(
        _ context: SealingContext, for match: borrowing Match
    ) throws(VaultError) -> SecretBytes {
        try context.check(match)
        try context.checkOpener(.finger)
        return try lift(context).content
    }
}

/// The check that precedes every use of a key or data for a match.
extension SealingContext {
    /// The maximum age of a match.
    ///
    /// A slow TPM that opens several keys for one touch takes some seconds.
    fileprivate static let longestAge = Duration.seconds(60)
    /// The same for a registration, for which the TPM has made two keys since, and maybe one of RSA to
    /// prove itself with.
    fileprivate static let registrationAge = Duration.seconds(300)

    /// Throws `.trouble` unless the match belongs to the account of this context and is younger than
    /// `longestAge`.
    ///
    /// The account is compared by uid. A match from the future is rejected as well.
    fileprivate func check(
        _ match: borrowing Match, longestAge: Duration = longestAge
    ) throws(VaultError) {
        guard match.age >= .zero, match.age < longestAge else {
            throw .trouble(.failed("the finger matched too long ago"))
        }
        guard match.account == uid else {
            throw .trouble(.failed("the finger that matched belongs to another account"))
        }
    }

    /// Throws `.trouble` unless the password belongs to the account of this context and was accepted
    /// less than `longestAge` ago.
    fileprivate func check(
        _ match: borrowing PasswordMatch, longestAge: Duration = longestAge
    ) throws(VaultError) {
        guard match.age >= .zero, match.age < longestAge else {
            throw .trouble(.failed("the password was accepted too long ago"))
        }
        guard match.account == uid else {
            throw .trouble(.failed("the password that was accepted belongs to another account"))
        }
    }

    /// Throws `.trouble` unless what is sealed to this context opens for such a match.
    fileprivate func checkOpener(_ opener: KeyOpener) throws(VaultError) {
        guard use.opener == opener else {
            throw .trouble(
                .failed(
                    opener == .finger
                        ? "the key opens for the password, not for a finger"
                        : "the key opens for a finger, not for the password"))
        }
    }
}
