// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

// The requests of signet-fprint, the process on the system bus that desktops ask. Each names the
// client of the bus that it is for; the daemon asks the bus itself who that is, and judges
// presence, authority and the readers as for that client. None of them opens a key or admits a
// user.

/// The unique name of a client of the system bus, such as `:1.42`.
package struct BusClientName: Hashable, Sendable {
    /// The longest name that the bus gives (D-Bus specification, "Valid Names").
    package static let longest = 255

    /// The name, which has the form of a unique name.
    package let text: String

    /// Takes a name; nil unless it is a colon and the characters of unique names.
    package init?(_ text: String) {
        let rest = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: ":"), !rest.isEmpty,
            text.utf8.count <= Self.longest, rest.allSatisfy(Self.isPart)
        else { return nil }
        self.text = text
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// Asks whether a client of the bus may use the readers for an account: answered by
/// `desktopAccount`.
///
/// It reserves nothing and gives no right: every later request is judged anew.
package struct DesktopClaimRequest: MachineRequest {
    package static let verb = Verb(70, name: "desktopClaim")
    package static let rule = VerbRule(.desktopInterface)
    package static let logging = DecisionLogging.denials

    /// The client.
    package let client: BusClientName  // .busClient
    /// The account, which need not exist; nil for the client's own.
    package let account: AccountName?
}

/// Ends `desktopClaim`: the account that the client may use the readers for.
package struct DesktopAccountAnswer: DaemonAnswer {
    package static let kind = AnswerKind(180, name: "desktopAccount")
    package static let meaning = AnswerMeaning.end

    /// The account, which need not exist.
    package let account: AccountName
    /// The name of the client's program, which that chooses itself; nil if it is not known.
    package let program: Bytes?  // .busProgram
}

/// Lists an account's fingers for a client of the bus: answered by `print` for each, then `done`.
package struct DesktopListRequest: AccountRequest {
    package static let verb = Verb(71, name: "desktopList")
    package static let rule = VerbRule(.desktopInterface)
    package static let logging = DecisionLogging.denials

    /// The client.
    package let client: BusClientName  // .busClient
    /// The account.
    package let account: AccountName
}

/// Requests a touch for a client of the bus: answered by `desktopAdmitted`, notices, and `done` with
/// the finger that matched.
///
/// The touch leaves a receipt of its own kind, and releases nothing else.
package struct DesktopVerifyRequest: AccountRequest {
    package static let verb = Verb(72, name: "desktopVerify")
    package static let rule = VerbRule(
        .desktopInterface,
        touch: TouchRule(
            guards: [.presence, .credential, .reader, .lid], releases: [.statement]))
    package static let command = "a desktop verification"

    /// The denials after which a verification goes on: `signet-fprint` makes the request again,
    /// without the client's doing.
    package static let passing: Set<DenialReason> = [.timedOut, .lidClosed]

    /// A screen that is locked for hours ends a request every half minute. Nobody was refused
    /// anything then, nor if the client does not wait for the finger any longer.
    package static func records(_ denial: Denial) -> Bool {
        denial.mismatches > 0 || !(passing.contains(denial.reason) || denial.reason == .cancelled)
    }

    /// The client.
    package let client: BusClientName  // .busClient
    /// The account.
    package let account: AccountName
    /// The only finger that may match; nil for any of the account's.
    package let finger: Finger?
}

/// Reports, once, that a scan was admitted: from now on a finger is awaited.
package struct DesktopAdmittedAnswer: DaemonAnswer {
    package static let kind = AnswerKind(181, name: "desktopAdmitted")

    /// The only finger that can match; nil if it is one of several.
    package let finger: Finger?
}

/// Reports, during an enrolment, that the finger was compared with others and is scanned further.
package struct DesktopComparedAnswer: DaemonAnswer {
    package static let kind = AnswerKind(182, name: "desktopCompared")
}

/// Adds a finger for a client of the bus, after polkit has authorised it with the password:
/// answered by `desktopAdmitted`, on readers that can compare `desktopCompared`, then as `enroll`.
package struct DesktopEnrollRequest: AccountRequest {
    package static let verb = Verb(73, name: "desktopEnroll")
    // The proof is polkit's, and is asked for by the handler.
    package static let rule = VerbRule(
        .desktopInterface, touch: TouchRule(guards: [.presence]))
    package static let command = "a desktop enrolment"

    /// The client.
    package let client: BusClientName  // .busClient
    /// The account.
    package let account: AccountName
    /// The finger to add.
    package let finger: Finger
    /// The reader to use; nil for the first one.
    package let readerID: Bytes?
}

/// Removes one finger or all of them for a client of the bus, after polkit has authorised it with
/// the password: answered as `delete`.
package struct DesktopDeleteRequest: AccountRequest {
    package static let verb = Verb(74, name: "desktopDelete")
    // The proof is polkit's, and is asked for by the handler.
    package static let rule = VerbRule(.desktopInterface)

    /// The client.
    package let client: BusClientName  // .busClient
    /// The account.
    package let account: AccountName
    /// The finger to delete; nil for all fingers of the account.
    package let finger: Finger?
}

/// Has `desktopReaders` sent whenever a reader may have been plugged in or unplugged, until the
/// request is cancelled.
///
/// It says nothing about a client of the bus, and is for no account.
package struct DesktopWatchRequest: MachineRequest {
    package static let verb = Verb(75, name: "desktopWatch")
    package static let rule = VerbRule(.desktopInterface)
    package static let logging = DecisionLogging.denials
}

/// Reports that the list of readers may have changed.
package struct DesktopReadersAnswer: DaemonAnswer {
    package static let kind = AnswerKind(183, name: "desktopReaders")
}

extension BusClientName: FieldValue {
    package var bytes: Bytes { Bytes(text.utf8) }

    package init?(bytes: Bytes) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(text)
    }
}

extension Field {
    package static var busClient: Field { Field(190, size: 2...BusClientName.longest) }
    /// The kernel keeps 15 bytes of a program's name; proc(5).
    package static var busProgram: Field { Field(191, size: 0...15) }
}
