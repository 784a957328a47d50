// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

/// The callback by which libfprint reports the progress of an enrolment (`FpEnrollProgress`).
@ReaderActor
final class EnrolProgress {
    enum Step: Sendable {
        case done(Int)
        case retry(RetryReason)
    }

    private let body: @ReaderActor (Step) -> Void

    init(_ body: @escaping @ReaderActor (Step) -> Void) {
        self.body = body
    }

    /// A reference that libfprint holds until it calls `release`.
    func retained() -> gpointer {
        unsafe Unmanaged.passRetained(self).toOpaque()
    }

    nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<EnrolProgress>.fromOpaque(data).release() }
    }

    nonisolated static let callback: FpEnrollProgress = { _, stages, _, data, error in
        guard let data = unsafe data else { return }
        let progress = unsafe Unmanaged<EnrolProgress>.fromOpaque(data).takeUnretainedValue()
        var step = Step.done(Int(stages))
        if let error = unsafe error { step = .retry(unsafe RetryReason(code: error.pointee.code)) }
        ReaderActor.assumeIsolated { progress.body(step) }
    }
}

/// The callback by which libfprint reports a match result as soon as it has one (`FpMatchCb`).
///
/// The operation itself continues until the finger is lifted.
@ReaderActor
final class MatchReport {
    /// Receives the matching print and the scanned one as addresses, 0 for none.
    ///
    /// libfprint owns the prints, which are valid until `body` returns.
    typealias Body = @ReaderActor (_ match: UInt, _ scanned: UInt) -> Void

    private let body: Body

    init(_ body: @escaping Body) {
        self.body = body
    }

    /// A reference that libfprint holds until it calls `release`.
    func retained() -> gpointer {
        unsafe Unmanaged.passRetained(self).toOpaque()
    }

    nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<MatchReport>.fromOpaque(data).release() }
    }

    /// Passes on a result, unless it comes with an error: that is a bad scan and no verdict.
    nonisolated static let callback: FpMatchCb = { _, match, scanned, data, error in
        guard let data = unsafe data, unsafe error == nil else { return }
        let report = unsafe Unmanaged<MatchReport>.fromOpaque(data).takeUnretainedValue()
        let prints = (UInt(bitPattern: match), UInt(bitPattern: scanned))
        ReaderActor.assumeIsolated { report.body(prints.0, prints.1) }
    }
}
