// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import LoginProtocol
import Testing

@Suite("what a desktop is told of a scan")
struct ScanReportTests {
    /// The words of fprintd 1.94 that desktops know.
    private static let results: Set<String> = [
        "verify-match", "verify-no-match", "verify-disconnected", "verify-unknown-error",
        "verify-retry-scan", "verify-swipe-too-short", "verify-finger-not-centered",
        "verify-remove-and-retry",
        "enroll-completed", "enroll-failed", "enroll-data-full", "enroll-disconnected",
        "enroll-unknown-error", "enroll-stage-passed", "enroll-retry-scan",
        "enroll-swipe-too-short", "enroll-finger-not-centered", "enroll-remove-and-retry",
    ]

    @Test("is a match only for a finger that matched")
    func match() {
        #expect(ScanReport.verified(.done).result == "verify-match")
        for reason in DenialReason.allCases {
            let report = ScanReport.verified(.denied(Denial(reason)))
            #expect(report.result != "verify-match" && report.isDone, "\(reason)")
            #expect(Self.results.contains(report.result), "\(report.result)")
        }
        #expect(ScanReport.verified(.lost).result == "verify-unknown-error")
    }

    @Test("is complete only for a finger that is enrolled, and has words that desktops know")
    func enrolled() {
        #expect(ScanReport.enrolled(.done).result == "enroll-completed")
        for reason in DenialReason.allCases {
            let report = ScanReport.enrolled(.denied(Denial(reason)))
            #expect(report.result != "enroll-completed" && report.isDone, "\(reason)")
            #expect(Self.results.contains(report.result), "\(report.result)")
        }
        // KDE's settings hang on 'enroll-duplicate'.
        for reason in [DenialReason.fingerKnown, .fingerNotEnrolled, .fingerOnReader] {
            #expect(ScanReport.enrolled(.denied(Denial(reason))).result == "enroll-failed")
        }
    }

    @Test("tells a finger that did not match, a stopped scan, and a reader that is gone apart")
    func endings() {
        let words: [(DenialReason, String)] = [
            (.noMatch, "verify-no-match"), (.cancelled, "verify-no-match"),
            (.readerRemoved, "verify-disconnected"), (.readerTooHot, "verify-disconnected"),
            (.enrolmentYielded, "verify-unknown-error"), (.timedOut, "verify-unknown-error"),
            (.lockedForNow, "verify-unknown-error"),
        ]
        for (reason, word) in words {
            #expect(ScanReport.verified(.denied(Denial(reason))).result == word, "\(reason)")
        }
    }

    @Test("goes on after a scan that must be repeated", arguments: RetryReason.allCases)
    func retries(reason: RetryReason) throws {
        let notice = Notice(.retry, retry: reason)
        for report in [ScanReport.verifying(notice), .enrolling(notice)] {
            let report = try #require(report)
            #expect(!report.isDone && Self.results.contains(report.result), "\(report.result)")
        }
    }

    @Test("counts the stages but the last, which is the end; other notices are not told")
    func stages() {
        let passed = ScanReport.enrolling(Notice(.stage, done: 4, total: 5))
        #expect(passed?.result == "enroll-stage-passed" && passed?.isDone == false)
        #expect(ScanReport.enrolling(Notice(.stage, done: 5, total: 5)) == nil)
        for kind in NoticeKind.allCases where kind != .retry {
            #expect(ScanReport.verifying(Notice(kind)) == nil)
            if kind != .stage { #expect(ScanReport.enrolling(Notice(kind)) == nil) }
        }
    }
}

@Suite("the names of a desktop")
struct DesktopNameTests {
    @Test("there is one for each finger, and no other")
    func fingers() throws {
        for finger in Finger.allCases {
            #expect(FingerName.finger(named: FingerName.text(finger)) == finger)
        }
        #expect(Set(Finger.allCases.map(FingerName.text)).count == 10)
        for name in ["any", "", "right-index", "Left-thumb", "left-thumb "] {
            #expect(FingerName.finger(named: name) == nil)
            #expect(throws: DesktopFault.self) { try FingerName.required(name) }
        }
    }

    @Test("errors have the interface's names, and a refusal never looks like a missing finger")
    func errors() {
        #expect(
            DesktopFault(.claimDevice, "").name == "net.reactivated.Fprint.Error.ClaimDevice")
        for reason in [
            DenialReason.notPermitted, .remoteSession, .otherRequester, .notAtMachine,
            .unknownAccount, .tooManyRequests, .passwordOnly,
        ] {
            #expect(DesktopFault(of: Denial(reason)).kind == .permissionDenied, "\(reason)")
        }
        for reason in [DenialReason.notEnrolled, .notEnabled, .invalidated, .unknownFinger] {
            #expect(DesktopFault(of: Denial(reason)).kind == .noEnrolledPrints, "\(reason)")
        }
        #expect(DesktopFault(of: Denial(.lockedForNow)).kind == .internal)
    }
}
