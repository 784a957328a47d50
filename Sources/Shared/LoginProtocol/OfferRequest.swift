// SPDX-License-Identifier: Apache-2.0
import Domain

/// Asks whether to offer enrolment to an account that has just logged in with its password.
package struct OfferRequest: Equatable, Sendable {
    /// The account that logged in.
    package var account: AccountName
    /// The PAM service.
    package var service: ServiceName
    /// The position of the login's process relative to its terminal.
    package var presence: TerminalPosition

    /// Creates a request; sizes are checked when it is encoded.
    package init(account: AccountName, service: ServiceName, presence: TerminalPosition) {
        self.account = account
        self.service = service
        self.presence = presence
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(account: account, service: service)
        try frame.put(.presence, number: presence.rawValue)
    }
}
