// SPDX-License-Identifier: Apache-2.0
import Domain

/// Who has claimed a device, and what the claimer does with it.
///
/// It decides which calls are in order, and nothing else: whether the caller may have what it asks
/// for is decided by signetd, at each request anew. A claim is virtual: it keeps other clients of
/// the bus from this device, and no reader is opened for it.
///
/// A scan is identified by a number, so that what arrives late for an earlier one has no effect.
package struct DeviceState: Sendable {
    /// How long a claim lasts without a scan that began, or a deletion that succeeded.
    package static let patience = Duration.seconds(60)

    /// What a claimer can have a device do.
    package enum Action: Equatable, Sendable {
        case verify
        case enroll
    }

    /// A claim.
    package struct Claim: Equatable, Sendable {
        /// The claimer's unique name on the bus.
        package let client: String
        /// The account that was claimed for; it need not exist.
        package let account: AccountName
    }

    /// The number of a scan.
    package struct ScanID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private enum Phase: Equatable {
        /// The daemon was asked, and the claimer's call is not answered yet.
        case starting
        case scanning
        /// The end was reported; the claimer has yet to stop it.
        case over
        /// The claimer has stopped it, and the daemon has not ended it yet.
        case stopping
    }

    private struct Scan: Equatable {
        let id: ScanID
        let action: Action
        var phase: Phase
        /// Whether the daemon has waited for a finger.
        var hasBegun = false
    }

    /// The present claim; nil if there is none.
    package private(set) var claim: Claim?
    private var scan: Scan?
    private var isDeleting = false
    private var lastNumber: UInt64 = 0
    private var unusedSince = Duration.zero

    /// Creates the state of an unclaimed device.
    package init() {}

    /// The scan that the daemon has been asked for and has not ended; nil if there is none.
    package var runningScan: ScanID? { scan.flatMap { $0.phase == .over ? nil : $0.id } }

    // MARK: Claims

    /// Throws `alreadyInUse` if any client has claimed the device.
    package func checkUnclaimed() throws(DesktopFault) {
        guard claim == nil else {
            throw DesktopFault(.alreadyInUse, "the device is already claimed")
        }
    }

    /// Throws unless this client has claimed the device: `claimDevice` if no client has,
    /// `alreadyInUse` if another has.
    @discardableResult
    package func checkClaimed(by client: String) throws(DesktopFault) -> Claim {
        guard let claim else {
            throw DesktopFault(.claimDevice, "the device must be claimed first")
        }
        guard claim.client == client else {
            throw DesktopFault(.alreadyInUse, "another client has claimed the device")
        }
        return claim
    }

    /// Claims the device; throws as `checkUnclaimed`.
    package mutating func claim(
        for account: AccountName, by client: String, at now: Duration
    ) throws(DesktopFault) {
        try checkUnclaimed()
        claim = Claim(client: client, account: account)
        (scan, isDeleting, unusedSince) = (nil, false, now)
    }

    /// Ends a claim.
    ///
    /// - Returns: the scan that must be ended; nil if there is none.
    /// - Throws: as `checkClaimed`.
    package mutating func release(by client: String) throws(DesktopFault) -> ScanID? {
        try checkClaimed(by: client)
        return endClaim()
    }

    /// Ends the claim of a client that has left the bus; that of another stays.
    ///
    /// - Returns: the scan that must be ended; nil if there is none.
    package mutating func vanish(_ client: String) -> ScanID? {
        claim?.client == client ? endClaim() : nil
    }

    /// When the claim ends if nothing happens until then, as a time since boot; nil if it does not
    /// end by itself.
    package var expiry: Duration? {
        guard claim != nil, !isDeleting, runningScan == nil else { return nil }
        return unusedSince + Self.patience
    }

    /// Ends a claim that has not been used for `patience`; returns whether it has.
    package mutating func expire(at now: Duration) -> Bool {
        guard let expiry, now >= expiry else { return false }
        _ = endClaim()
        return true
    }

    private mutating func endClaim() -> ScanID? {
        defer { (claim, scan, isDeleting) = (nil, nil, false) }
        return runningScan
    }

    // MARK: Scans

    /// Throws `alreadyInUse` while the claimer has the device do something, also if that has ended
    /// and was not stopped yet.
    package func checkFree() throws(DesktopFault) {
        let action: StaticString? =
            switch scan?.action {
            case .verify: "a verification"
            case .enroll: "an enrolment"
            case nil: isDeleting ? "a deletion" : nil
            }
        guard let action else { return }
        throw DesktopFault(.alreadyInUse, "\(action) is already in progress")
    }

    /// Begins a scan; throws as `checkClaimed` and `checkFree`.
    package mutating func begin(
        _ action: Action, by client: String
    ) throws(DesktopFault) -> ScanID {
        try checkClaimed(by: client)
        try checkFree()
        lastNumber += 1
        let id = ScanID(number: lastNumber)
        scan = Scan(id: id, action: action, phase: .starting)
        return id
    }

    /// Notes that the daemon waits for a finger now; returns whether the claimer is to be told.
    package mutating func admitted(_ id: ScanID) -> Bool {
        guard scan?.id == id, scan?.phase == .starting else { return false }
        scan?.phase = .scanning
        scan?.hasBegun = true
        return true
    }

    /// Returns whether the claimer is to be told what happens during a scan.
    package func isScanning(_ id: ScanID) -> Bool { scan?.id == id && scan?.phase == .scanning }

    /// Notes that the daemon has ended a scan.
    ///
    /// One that was refused before it began is no use of the claim.
    package mutating func ended(_ id: ScanID, at now: Duration) {
        guard let ended = scan, ended.id == id else { return }
        if ended.hasBegun { unusedSince = now }
        switch scan?.phase {
        // The call that began it is answered with an error, so that there is nothing to stop.
        case .starting: scan = nil
        case .scanning: scan?.phase = .over
        case .stopping: scan = nil
        case .over, nil: break
        }
    }

    /// Stops a scan.
    ///
    /// - Returns: the scan that must be ended, after which `ended` is to be called; nil if it has
    ///   ended already.
    /// - Throws: as `checkClaimed`; `noActionInProgress` if there is none; `alreadyInUse` if it is
    ///   one of the other kind, or is being stopped.
    package mutating func stop(
        _ action: Action, by client: String
    ) throws(DesktopFault) -> ScanID? {
        try checkClaimed(by: client)
        guard let scan, !isDeleting else {
            guard !isDeleting else {
                throw DesktopFault(.alreadyInUse, "a deletion is in progress")
            }
            throw DesktopFault(.noActionInProgress, "there is nothing to stop")
        }
        guard scan.action == action else { throw DesktopFault(.alreadyInUse, "it is in use") }
        switch scan.phase {
        case .over:
            self.scan = nil
            return nil
        case .stopping: throw DesktopFault(.alreadyInUse, "it is being stopped")
        case .starting, .scanning:
            self.scan?.phase = .stopping
            return scan.id
        }
    }

    // MARK: Deletions

    /// Begins to delete fingers, for the claimer; throws as `checkClaimed` and `checkFree`.
    package mutating func beginDeletion(by client: String) throws(DesktopFault) -> Claim {
        let claim = try checkClaimed(by: client)
        try checkFree()
        isDeleting = true
        return claim
    }

    /// Notes that the deletion for a claim has ended; one that failed is no use of the claim.
    package mutating func endDeletion(_ claim: Claim, succeeded: Bool, at now: Duration) {
        guard self.claim == claim else { return }
        isDeleting = false
        if succeeded { unusedSince = now }
    }
}
