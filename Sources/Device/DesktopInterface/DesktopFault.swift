// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol

/// The error with which a call of the interface ends.
package struct DesktopFault: Error, Equatable, Sendable {
    /// The errors of the interface; the raw value is the end of the name on the bus.
    package enum Kind: String, CaseIterable, Sendable {
        /// The device must be claimed first.
        case claimDevice = "ClaimDevice"
        /// The device is claimed, or another call of its claimer is in progress.
        case alreadyInUse = "AlreadyInUse"
        /// Anything that no other error says.
        case `internal` = "Internal"
        /// The caller may not do this, here or now.
        case permissionDenied = "PermissionDenied"
        /// No finger is enrolled, or not the one that is named.
        case noEnrolledPrints = "NoEnrolledPrints"
        /// There is nothing to stop.
        case noActionInProgress = "NoActionInProgress"
        /// The text names no finger.
        case invalidFingername = "InvalidFingername"
        /// There is no such device.
        case noSuchDevice = "NoSuchDevice"
        /// The fingers could not be deleted.
        case printsNotDeleted = "PrintsNotDeleted"
        /// The fingers are deleted, but a reader still stores their prints.
        case printsNotDeletedFromDevice = "PrintsNotDeletedFromDevice"
    }

    /// Which error it is.
    package let kind: Kind
    /// What happened, for developers.
    package let message: String

    /// Creates an error.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The name of the error on the bus.
    package var name: String { InterfaceDescription.errorPrefix + kind.rawValue }
}

extension DesktopFault {
    /// Translates the daemon's denial of a request that has not begun to scan.
    package init(of denial: Denial) {
        let kind: Kind =
            switch denial.reason {
            case .notPermitted, .remoteSession, .otherRequester, .notAtMachine, .notServed,
                .inBackground, .otherSeat, .unknownAccount, .tooManyRequests, .passwordOnly,
                .settingsNotUnderstood:
                .permissionDenied
            // Without a credential that fits the fingers, no finger can be verified.
            case .notEnrolled, .notEnabled, .invalidated, .unknownFinger, .printLost:
                .noEnrolledPrints
            case .readerBusy, .queueFull: .alreadyInUse
            default: .internal
            }
        self.init(kind, "signetd refused it: \(denial.reason.protocolName)")
    }

    /// The fingers are deleted and open nothing, but a reader still stores their prints: it is
    /// unplugged, or has failed.
    ///
    /// fprintd sends this error, too, after it has forgotten the fingers itself.
    package static let printsLeftOnReader = DesktopFault(
        .printsNotDeletedFromDevice,
        "the fingers are deleted and open nothing any more, but the reader still stores their prints"
    )

    /// The daemon cannot be reached, or has ended the connection.
    package static let noDaemon = DesktopFault(
        .internal, "signetd does not answer. See 'systemctl status signetd'")
}
