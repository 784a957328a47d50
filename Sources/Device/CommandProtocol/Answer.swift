// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// The kind of an answer: that of its frame, and its name.
package struct AnswerKind: Hashable, Sendable {
    /// The frame's kind.
    package let rawValue: UInt8
    /// The name in docs/developer/PROTOCOL.md.
    package let protocolName: String

    init(_ rawValue: UInt8, name: String) {
        self.rawValue = rawValue
        protocolName = name
    }
}

extension AnswerKind: ProtocolNamed {}

extension AnswerKind: RawRepresentable {
    /// Looks up the kind with this number; nil if there is none.
    package init?(rawValue: UInt8) {
        guard let kind = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = kind
    }
}

extension AnswerKind: CaseIterable {
    /// All kinds in the order of their numbers: those that `Answer` has by name, and those of every
    /// `DaemonAnswer`.
    package static let allCases =
        (CommonAnswerKind.allCases.map(AnswerKind.init) + OwnAnswer.kinds)
        .sorted { $0.rawValue < $1.rawValue }

    /// Returns a kind that `Answer` has by name.
    init(_ kind: CommonAnswerKind) { self.init(kind.rawValue, name: kind.name) }
}

/// The kinds of the answers that `Answer` has by name; the raw value is the kind of the frame.
package enum CommonAnswerKind: UInt8, CaseIterable, Sendable {
    /// A message for the user while the request continues.
    case notice = 128
    /// Ends `authenticate` with the statement and its signature.
    case assertion = 129
    /// Ends any request that is denied, with the reason.
    case denial = 130
    /// The request continues once the client has sent the account's password.
    case passwordWanted = 131
    /// Ends a successful request that no other kind ends.
    case done = 132
    /// The account's status.
    case status = 133
    /// One finger.
    case print = 134
    /// One reader.
    case reader = 135
    /// One receipt.
    case receipt = 136
    /// One public key that has signed receipts.
    case signer = 137
    /// The digest and the counter with which the chain of receipts must end.
    case chainHead = 139
    /// A part of a secret that a touch released.
    case secretPart = 140
    /// One secret, without its contents.
    case secret = 141
    /// The request continues once the client has sent the announced secret in parts.
    case secretWanted = 143
    /// A touch without a terminal is requested, or has ended; sent only in answer to `watch`.
    case event = 144
    /// One of fprintd's prints, and the result of importing it.
    case importedPrint = 145
    /// Ends `confirm`: the touch is still valid.
    case confirmed = 146
    /// Refused attempts of the same kind, combined into one record.
    case refusal = 148
    /// Ends `serverEnable`: the device is registered.
    case serverEnabled = 150
    /// Ends `serverLogin` with the tokens.
    case token = 151
    /// One server.
    case server = 152
    /// Ends `sign` with the signature, and with the signed text if the daemon composed it.
    case signed = 153
    /// The account's signing key.
    case signingKey = 154
    /// One MAC token.
    case macToken = 156
    /// Ends `macTokenHeader` with the header's value.
    case authorization = 157
    /// One operation.
    case operation = 158
    /// The reason why one of several servers gave no answer.
    case serverTrouble = 159
    /// Ends `operationDecide` with the operation's new state.
    case decided = 160

    /// The name in docs/developer/PROTOCOL.md.
    fileprivate var name: String {
        switch self {
        case .notice: "notice"
        case .assertion: "assertion"
        case .denial: "denial"
        case .passwordWanted: "passwordWanted"
        case .done: "done"
        case .status: "status"
        case .print: "print"
        case .reader: "reader"
        case .receipt: "receipt"
        case .signer: "signer"
        case .chainHead: "chainHead"
        case .secretPart: "secretPart"
        case .secret: "secret"
        case .secretWanted: "secretWanted"
        case .event: "event"
        case .importedPrint: "importedPrint"
        case .confirmed: "confirmed"
        case .refusal: "refusal"
        case .serverEnabled: "serverEnabled"
        case .token: "token"
        case .server: "server"
        case .signed: "signed"
        case .signingKey: "signingKey"
        case .macToken: "macToken"
        case .authorization: "authorization"
        case .operation: "operation"
        case .serverTrouble: "serverTrouble"
        case .decided: "decided"
        }
    }
}

/// One frame from the daemon to a client; `CommonAnswerKind` describes each kind but `own`.
package enum Answer: Equatable, Sendable {
    case notice(Notice)
    case assertion(Assertion)
    case denial(Denial)
    case passwordWanted(account: AccountName)
    case done(DoneAnswer)
    case status(StatusAnswer)
    case print(PrintAnswer)
    case reader(ReaderAnswer)
    case receipt(ReceiptAnswer)
    case refusal(Refusal)
    /// A line of an OpenSSH allowed_signers file.
    case signer(Bytes)
    /// The counter and SHA-256 digest of the newest receipt that the daemon has recorded.
    case chainHead(counter: UInt64, digest: Bytes)
    case secretPart(Bytes)
    case secret(SecretAnswer)
    case secretWanted
    case event(EventAnswer)
    case importedPrint(ImportedPrintAnswer)
    /// The touch is still valid; the login password is included if it was requested and released.
    case confirmed(password: Bytes?)
    case serverEnabled(ServerEnabledAnswer)
    case token(TokenAnswer)
    case server(ServerAnswer)
    case signed(SignedAnswer)
    case signingKey(SigningKeyAnswer)
    case macToken(MACTokenAnswer)
    /// The value of the header `Authorization`.
    case authorization(Bytes)
    case operation(OperationAnswer)
    case serverTrouble(ServerTroubleAnswer)
    case decided(OperationState)
    /// An answer of one family of requests, declared there; a new one is of this case.
    case own(OwnAnswer)
}

/// The end of a successful request, with its results.
///
/// Only the fields that apply to the request are set.
package struct DoneAnswer: FrameContent {
    /// The finger that matched, was added or was deleted.
    package var finger: Finger? = nil
    /// The number of fingers that are now enrolled.
    package var prints: UInt8? = nil  // .total
    /// The state of the credential after the request.
    package var state: CredentialState? = nil
    /// Whether a touch now unlocks the keyring; nil if this was never enabled.
    package var keyring: KeyringState? = nil  // .keyringState
    /// The number of secrets that a change of fingers makes, or has just made, impossible to open.
    package var secrets: UInt32? = nil  // .count
    /// The number of ssh keys that open to the fingers as they are now.
    package var sshKeysKept: UInt32? = nil
    /// The number of ssh keys that a change of fingers has just destroyed.
    package var sshKeysEnded: UInt32? = nil
    /// The setting that excludes the account from fingerprint login; nil if none does.
    package var keptOut: Bytes? = nil  // .name
    /// The number of deleted fingers whose prints a reader still stores; nil if there is none.
    package var printsLeft: UInt8? = nil
}

extension Field {
    package static var sshKeysKept: Field { Field(210, size: 4) }
    package static var sshKeysEnded: Field { Field(211, size: 4) }
    package static var printsLeft: Field { Field(230, size: 1) }
}
