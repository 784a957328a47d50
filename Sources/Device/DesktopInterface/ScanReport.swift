// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol

/// What a signal reports of a scan: `VerifyStatus` or `EnrollStatus`.
package struct ScanReport: Equatable, Sendable {
    /// The result in the interface's words.
    package let result: String
    /// Whether the scan has ended, so that the claimer must stop it before the next one.
    package let isDone: Bool

    init(_ result: String, isDone: Bool) {
        self.result = result
        self.isDone = isDone
    }
}

extension ScanReport {
    /// Translates a notice about a verification; nil if the claimer is not told.
    package static func verifying(_ notice: Notice) -> ScanReport? {
        guard notice.kind == .retry else { return nil }
        return retry(notice.retry).map { ScanReport("verify-" + $0, isDone: false) }
    }

    /// Translates the end of a verification.
    package static func verified(_ end: ScanEnd) -> ScanReport {
        let result =
            switch end {
            case .done: "verify-match"
            case .denied(let denial):
                switch denial.reason {
                // What the interface calls the result of a scan that was stopped, too. After this
                // one alone, lockers begin the next scan, which a login's touch has to leave
                // possible: to hyprlock, any other means that the reader is of no use.
                case .noMatch, .cancelled, .enrolmentYielded: "verify-no-match"
                case .readerRemoved, .readerTooHot, .noReader, .readerConfused:
                    "verify-disconnected"
                case .printLost: "verify-no-match"
                default: "verify-unknown-error"
                }
            case .lost: "verify-unknown-error"
            }
        return ScanReport(result, isDone: true)
    }

    /// Translates a notice about an enrolment; nil if the claimer is not told.
    package static func enrolling(_ notice: Notice) -> ScanReport? {
        switch notice.kind {
        case .retry: retry(notice.retry).map { ScanReport("enroll-" + $0, isDone: false) }
        // The last stage is reported as the end.
        case .stage where notice.done != notice.total:
            stagePassed
        default: nil
        }
    }

    /// Reports that the finger was compared with others, which is the first of the scans.
    package static let compared = stagePassed
    private static let stagePassed = ScanReport("enroll-stage-passed", isDone: false)

    /// Translates the end of an enrolment.
    ///
    /// A finger of another account is reported as a failure like any other.
    package static func enrolled(_ end: ScanEnd) -> ScanReport {
        let result =
            switch end {
            case .done: "enroll-completed"
            case .denied(let denial):
                switch denial.reason {
                case .readerFull: "enroll-data-full"
                case .fingerKnown, .fingerOnReader: "enroll-duplicate"
                case .readerRemoved, .readerTooHot, .noReader, .readerConfused:
                    "enroll-disconnected"
                case .readerFailed, .readerBusy, .printLost, .storage, .vaultUnavailable,
                    .suspending:
                    "enroll-unknown-error"
                default: "enroll-failed"
                }
            case .lost: "enroll-unknown-error"
            }
        return ScanReport(result, isDone: true)
    }

    /// The words for a scan that must be repeated; nil while no finger is awaited, because the
    /// reader is unplugged or searched for anew.
    private static func retry(_ reason: RetryReason?) -> String? {
        switch reason {
        case .tooShort: "swipe-too-short"
        case .offCentre: "finger-not-centered"
        case .removeFinger: "remove-and-retry"
        case .tooFast: "too-fast"
        case .unclear, nil: "retry-scan"
        case .restarted, .unplugged: nil
        }
    }
}

/// How a request for a scan has ended.
package enum ScanEnd: Equatable, Sendable {
    /// The finger matched, or is enrolled.
    case done
    /// The daemon denied it.
    case denied(Denial)
    /// The daemon cannot be reached any more.
    case lost

    /// Whether a verification goes on after this, and its claimer is not told.
    ///
    /// The interface knows no end of the time for a finger, and lockers that are told of one ask
    /// for no finger again. The lid may be closed while a screen is locked.
    package var isPassing: Bool {
        guard case .denied(let denial) = self else { return false }
        return DesktopVerifyRequest.passing.contains(denial.reason)
    }
}
