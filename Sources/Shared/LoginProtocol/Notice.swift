// SPDX-License-Identifier: Apache-2.0
import Domain

/// How a reader scans a finger; the raw value is on the wire.
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
    /// The reader process ended, and a new one is waiting for the finger.
    case restarted = 6
    /// The reader was unplugged, and the request waits for it to return.
    case unplugged = 7
}

/// The kinds of notices; the raw value is on the wire.
///
/// A case's comment names the fields of `Notice` that are set with it.
package enum NoticeKind: UInt8, CaseIterable, Sendable {
    /// The reader is waiting for a finger. `scan`; `subject`: the reader's name; `total` for an
    /// enrolment.
    case touch = 1
    /// Another request is served first. `subject`: that request.
    case waiting = 2
    /// The scan was poor and does not count as an attempt. `retry`.
    case retry = 3
    /// The finger did not match. `triesLeft`.
    case noMatch = 4
    /// A stage of an enrolment is complete. `done`, `total`.
    case stage = 5
    /// The finger is on the reader.
    case fingerPresent = 6
    /// The finger has left the reader.
    case fingerGone = 7
    /// The login password was changed since it was stored, so a touch does not unlock the keyring.
    case passwordStale = 8
    /// A server is being asked and may act on the request from now on. `subject`: its URL. Sent to
    /// commands only, never to a login.
    case askingServer = 9
    /// Another request for the same account has arrived. `subject`: for example "su (bob, pts/1)".
    case contended = 10
    /// The reader is being prepared.
    ///
    /// Sent if there was no other notice within a tenth of a second, and a second time if preparing
    /// takes long; only the second one is worth showing.
    case preparing = 11
    /// A reader has lost a stored print; the request continues with the others. `subject`: the
    /// finger.
    case printLost = 12
    /// The account has no finger and could enrol one. Sent only to the PAM module, which asked.
    case offer = 13
    /// The TPM is at work, and has been for more than a second.
    case tpm = 14
}

/// A message for the user while a request continues.
///
/// Only the fields that apply to the kind are set; see the cases of `NoticeKind`.
package struct Notice: Equatable, Sendable {
    /// The kind of notice.
    package var kind: NoticeKind
    /// How the reader scans the finger.
    package var scan: ScanType?
    /// Why the scan must be repeated.
    package var retry: RetryReason?
    /// The number of stages that are complete.
    package var done: UInt8?
    /// The total number of stages.
    package var total: UInt8?
    /// The number of tries left in this request.
    package var triesLeft: UInt8?
    /// A text for people, depending on the kind: the reader's name, or another request.
    package var subject: Bytes?
    /// The user who asked, for `touch`, if that is not the account itself.
    package var requester: AccountName?
    /// Whether the client must send `shown` once the notice has been shown.
    package var wantsAcknowledgement: Bool

    /// Creates a notice; set only the fields that apply to the kind.
    package init(
        _ kind: NoticeKind, scan: ScanType? = nil, retry: RetryReason? = nil, done: UInt8? = nil,
        total: UInt8? = nil, triesLeft: UInt8? = nil, subject: Bytes? = nil,
        requester: AccountName? = nil, wantsAcknowledgement: Bool = false
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
