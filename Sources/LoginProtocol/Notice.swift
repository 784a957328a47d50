// SPDX-License-Identifier: Apache-2.0
/// How a reader wants the finger; the raw value is on the wire.
package enum ScanType: UInt8, CaseIterable, Sendable {
    case press = 1
    case swipe = 2
}

/// Why a scan must be repeated; the raw value is on the wire.
package enum RetryReason: UInt8, CaseIterable, Sendable {
    case unclear = 1
    case tooShort = 2
    case offCentre = 3
    case removeFinger = 4
    case tooFast = 5
    /// The process of the readers ended, and another one waits for the finger.
    case restarted = 6
    /// The reader was unplugged, and is waited for.
    case unplugged = 7
}

/// What kind of notice it is; the raw value is on the wire.
package enum NoticeKind: UInt8, CaseIterable, Sendable {
    /// The reader waits for a finger. `scan`, `subject`: the reader's name, and `total` for an
    /// enrolment.
    case touch = 1
    /// Another request is served first. `subject` names it.
    case waiting = 2
    /// The scan was bad and does not count. `retry`.
    case retry = 3
    /// The finger did not match. `triesLeft`.
    case noMatch = 4
    /// A stage of an enrolment. `done`, `total`.
    case stage = 5
    /// The finger is on the reader.
    case fingerPresent = 6
    /// The finger has left the reader.
    case fingerGone = 7
    /// The login password was changed since it was kept: the keyring does not open by touch now.
    case passwordStale = 8
    /// A server is asked, which may do what was asked for from now on. `subject`: its URL. For
    /// commands only: a login is never told.
    case askingServer = 9
    /// Another request for the same account has arrived. `subject`: "su (bob, pts/1)".
    case contended = 10
    /// The reader is being got ready. Sent where nothing else was said within a tenth of a second, and
    /// again where that takes long: only then is it worth a line.
    case preparing = 11
    /// A reader has lost a print that it kept: the others are looked for. `subject`: the finger.
    case printLost = 12
    /// The account has no finger, and could enrol one. Sent to the PAM module alone, which asked.
    case offer = 13
}

/// Something to tell the user while a request goes on.
package struct Notice: Equatable, Sendable {
    /// What it is about.
    package var kind: NoticeKind
    /// How the reader wants the finger.
    package var scan: ScanType?
    /// Why the scan is repeated.
    package var retry: RetryReason?
    /// Stages done.
    package var done: UInt8?
    /// Stages in all.
    package var total: UInt8?
    /// Tries that are left in this request.
    package var triesLeft: UInt8?
    /// The reader's name, who is served first, or what else has been asked for.
    package var subject: Bytes?
    /// Who asks, on `touch`, where that is not the account itself.
    package var requester: Bytes?
    /// Whether the client has to send `shown` when the notice has been shown.
    package var wantsAcknowledgement: Bool

    /// A notice; the rest is said where it applies.
    package init(
        _ kind: NoticeKind, scan: ScanType? = nil, retry: RetryReason? = nil, done: UInt8? = nil,
        total: UInt8? = nil, triesLeft: UInt8? = nil, subject: Bytes? = nil,
        requester: Bytes? = nil, wantsAcknowledgement: Bool = false
    ) {
        self.kind = kind
        self.scan = scan
        self.retry = retry
        self.done = done
        self.total = total
        self.triesLeft = triesLeft
        self.subject = subject
        self.requester = requester
        self.wantsAcknowledgement = wantsAcknowledgement
    }
}
