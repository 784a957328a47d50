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
        "enroll-duplicate", "enroll-too-fast", "verify-too-fast",
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
        for reason in [DenialReason.fingerKnown, .fingerOnReader] {
            #expect(ScanReport.enrolled(.denied(Denial(reason))).result == "enroll-duplicate")
        }
        // A finger of another account is a failure like any other.
        #expect(
            ScanReport.enrolled(.denied(Denial(.fingerNotEnrolled))).result == "enroll-failed")
    }

    @Test(
        "has the words of an earlier fprintd for KDE's settings, which wait for ever after others")
    func vocabulary() {
        let words = [
            ("enroll-duplicate", "enroll-failed"), ("enroll-too-fast", "enroll-retry-scan"),
            ("verify-too-fast", "verify-retry-scan"), ("verify-match", "verify-match"),
            ("enroll-data-full", "enroll-data-full"),
        ]
        let reports =
            DenialReason.allCases.flatMap {
                [ScanReport.enrolled(.denied(Denial($0))), .verified(.denied(Denial($0)))]
            } + [.verified(.done), .enrolled(.done)]
            + [Notice(.retry, retry: .tooFast)].flatMap {
                [ScanReport.enrolling($0), .verifying($0)].compactMap(\.self)
            }
        for (word, early) in words {
            guard let report = reports.first(where: { $0.result == word }) else {
                Issue.record("there is no report \(word)")
                continue
            }
            for name in ["systemsettings", "kcmshell5", "kcmshell6"] {
                let worded = report.worded(for: ClientVocabulary(of: Bytes(name.utf8)))
                #expect(worded.result == early && worded.isDone == report.isDone)
            }
            for program in [nil, Bytes("gnome-control-c".utf8), [], [0xFF]] as [Bytes?] {
                #expect(report.worded(for: ClientVocabulary(of: program)) == report)
            }
        }
    }

    @Test("tells a finger that did not match, a stopped scan, and a reader that is gone apart")
    func endings() {
        let words: [(DenialReason, String)] = [
            (.noMatch, "verify-no-match"), (.cancelled, "verify-no-match"),
            (.readerRemoved, "verify-disconnected"), (.readerTooHot, "verify-disconnected"),
            (.enrolmentYielded, "verify-no-match"), (.timedOut, "verify-unknown-error"),
            (.lockedForNow, "verify-unknown-error"), (.readerConfused, "verify-disconnected"),
            (.printLost, "verify-no-match"), (.suspending, "verify-unknown-error"),
        ]
        for (reason, word) in words {
            #expect(ScanReport.verified(.denied(Denial(reason))).result == word, "\(reason)")
        }
    }

    @Test("a verification goes on after the time for a finger and a closed lid, and nothing else")
    func passing() {
        for reason in DenialReason.allCases {
            let isPassing = reason == .timedOut || reason == .lidClosed
            #expect(ScanEnd.denied(Denial(reason)).isPassing == isPassing, "\(reason)")
        }
        #expect(!ScanEnd.done.isPassing && !ScanEnd.lost.isPassing)
    }

    @Test("tells a machine that sleeps and a reader that is gone apart from a failed enrolment")
    func enrolmentEndings() {
        let words: [(DenialReason, String)] = [
            (.cancelled, "enroll-failed"), (.suspending, "enroll-unknown-error"),
            (.readerConfused, "enroll-disconnected"), (.readerRemoved, "enroll-disconnected"),
            (.readerTooHot, "enroll-disconnected"), (.readerFull, "enroll-data-full"),
            (.readerBusy, "enroll-unknown-error"), (.printLost, "enroll-unknown-error"),
        ]
        for (reason, word) in words {
            #expect(ScanReport.enrolled(.denied(Denial(reason))).result == word, "\(reason)")
        }
    }

    @Test("asks for nothing while a reader is unplugged or searched for anew")
    func unplugged() {
        for reason in [RetryReason.unplugged, .restarted] {
            #expect(ScanReport.verifying(Notice(.retry, retry: reason)) == nil)
            #expect(ScanReport.enrolling(Notice(.retry, retry: reason)) == nil)
        }
    }

    @Test(
        "goes on after a scan that must be repeated",
        arguments: RetryReason.allCases.filter { ![.unplugged, .restarted].contains($0) })
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
        #expect(ScanReport.compared == passed)
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
