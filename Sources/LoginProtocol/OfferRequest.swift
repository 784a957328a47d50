// SPDX-License-Identifier: Apache-2.0
/// Asks for a word on enrolling, for an account that has just logged in with its password.
package struct OfferRequest: Equatable, Sendable {
    /// Whose login it was.
    package var account: Bytes
    /// The PAM service.
    package var service: Bytes
    /// Where the login came from.
    package var presence: TerminalPosition

    /// All of it.
    package init(account: Bytes, service: Bytes, presence: TerminalPosition) {
        self.account = account
        self.service = service
        self.presence = presence
    }
}
