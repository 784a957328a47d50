// SPDX-License-Identifier: Apache-2.0
import Gate

/// The check that every vault makes before it opens a key or data for a match.
extension SealingContext {
    /// The maximum age of a match.
    ///
    /// A slow TPM that opens several keys for one touch takes some seconds.
    private static let longestAge = Duration.seconds(60)

    /// Throws `.trouble` unless the match belongs to the account of this context and is less than
    /// 60 seconds old.
    ///
    /// The account is compared by uid. A match from the future is rejected as well.
    func check(_ match: borrowing Match) throws(VaultError) {
        guard match.age >= .zero, match.age < Self.longestAge else {
            throw .trouble(.failed("the finger matched too long ago"))
        }
        guard match.account == uid else {
            throw .trouble(.failed("the finger that matched is another account's"))
        }
    }
}
