// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The request for an account's receipts.
package struct LogRequest: Equatable, Sendable {
    /// The account.
    package var account: Bytes
    /// The number of receipts to skip at the beginning.
    package var first: UInt64
    /// The maximum number of receipts; 0 for all.
    package var count: UInt32

    /// Creates a request.
    package init(account: Bytes, first: UInt64 = 0, count: UInt32 = 0) {
        self.account = account
        self.first = first
        self.count = count
    }
}

/// The announcement of a secret, which follows in parts.
package struct SecretSetRequest: Equatable, Sendable {
    /// The account.
    package var account: Bytes
    /// The number of bytes that follow.
    package var size: UInt32
    /// Its name.
    package var name: Bytes
    /// Whether the secret may replace one with the same name.
    package var replaces: Bool

    /// Creates a request.
    package init(account: Bytes, size: UInt32, name: Bytes, replaces: Bool) {
        self.account = account
        self.size = size
        self.name = name
        self.replaces = replaces
    }
}

/// One frame from a client to the daemon; `Verb` describes each.
package enum Request: Equatable, Sendable {
    case authenticate(AuthenticateRequest)
    case verify(account: Bytes, timeoutMilliseconds: UInt32, reason: Bytes? = nil)
    /// `readerID` is the reader to use; nil for the first one.
    case enroll(account: Bytes, finger: Finger, readerID: Bytes?)
    /// `finger` is the one to delete; nil for all of the account's.
    case delete(account: Bytes, finger: Finger?)
    /// `keyring` turns the release of the login password on or off; nil leaves it unchanged.
    case enable(account: Bytes, keyring: Bool? = nil)
    case disable(account: Bytes)
    case unlock(account: Bytes)
    case status(account: Bytes)
    case list(account: Bytes)
    case readers
    case log(LogRequest)
    case configuration
    case passwordAccepted(account: Bytes, service: Bytes)
    case offer(OfferRequest)
    case password(Bytes)
    case cancel
    case secretSet(SecretSetRequest)
    case secretPart(Bytes)
    case secretGet(account: Bytes, name: Bytes, timeoutMilliseconds: UInt32)
    case secretList(account: Bytes)
    case secretDelete(account: Bytes, name: Bytes)
    case vault
    /// `vault` is the target, `file` or `tpm`.
    case migrate(account: Bytes, vault: Bytes)
    case trustVault
    case readerPrints(ReaderPrintsRequest)
    case passwordChanged(account: Bytes, service: Bytes, password: Bytes)
    case watch(account: Bytes)
    /// Imports the account's prints from fprintd.
    case importPrint(account: Bytes)
    /// Asks whether the touch that signed this challenge is still valid.
    case confirm(account: Bytes, challenge: Bytes)
    case shown
    case serverEnable(ServerEnableRequest)
    case serverDisable(account: Bytes, server: Bytes)
    case serverLogin(account: Bytes, server: Bytes, timeoutMilliseconds: UInt32)
    case serverList(account: Bytes)
    case sign(SignRequest)
    case signingEnable(account: Bytes)
    case signingDisable(account: Bytes)
    case signingKey(account: Bytes)
    case macTokenAdd(MACTokenAddRequest)
    case macTokenList(account: Bytes)
    case macTokenRemove(account: Bytes, server: Bytes, name: Bytes)
    case macTokenHeader(MACTokenHeaderRequest)
    case operationList(OperationListRequest)
    case operationShow(OperationShowRequest)
    case operationDecide(OperationDecideRequest)

    /// The verb of this request, which is its row in the verb table.
    package var verb: Verb {
        switch self {
        case .authenticate: .authenticate
        case .verify: .verify
        case .enroll: .enroll
        case .delete: .delete
        case .enable: .enable
        case .disable: .disable
        case .unlock: .unlock
        case .status: .status
        case .list: .list
        case .readers: .readers
        case .log: .log
        case .configuration: .configuration
        case .passwordAccepted: .passwordAccepted
        case .offer: .offer
        case .password: .password
        case .cancel: .cancel
        case .secretSet: .secretSet
        case .secretPart: .secretPart
        case .secretGet: .secretGet
        case .secretList: .secretList
        case .secretDelete: .secretDelete
        case .vault: .vault
        case .migrate: .migrate
        case .trustVault: .trustVault
        case .readerPrints: .readerPrints
        case .passwordChanged: .passwordChanged
        case .watch: .watch
        case .importPrint: .importPrint
        case .confirm: .confirm
        case .shown: .shown
        case .serverEnable: .serverEnable
        case .serverDisable: .serverDisable
        case .serverLogin: .serverLogin
        case .serverList: .serverList
        case .sign: .sign
        case .signingEnable: .signingEnable
        case .signingDisable: .signingDisable
        case .signingKey: .signingKey
        case .macTokenAdd: .macTokenAdd
        case .macTokenList: .macTokenList
        case .macTokenRemove: .macTokenRemove
        case .macTokenHeader: .macTokenHeader
        case .operationList: .operationList
        case .operationShow: .operationShow
        case .operationDecide: .operationDecide
        }
    }

    /// Why the caller asks for a touch, in the caller's own words; nil if no reason was given.
    package var reason: Bytes? {
        if case .verify(_, _, let reason) = self { reason } else { nil }
    }

    /// The account that the request is about; nil if it is about none.
    package var account: Bytes? {
        switch self {
        case .authenticate(let request): request.account
        case .log(let request): request.account
        case .offer(let request): request.account
        case .verify(let account, _, _), .enroll(let account, _, _), .delete(let account, _),
            .enable(let account, _), .disable(let account), .unlock(let account),
            .status(let account), .list(let account), .passwordAccepted(let account, _),
            .secretGet(let account, _, _), .secretList(let account),
            .secretDelete(let account, _), .migrate(let account, _),
            .passwordChanged(let account, _, _), .watch(let account),
            .importPrint(let account), .confirm(let account, _), .serverDisable(let account, _),
            .serverLogin(let account, _, _), .serverList(let account),
            .signingEnable(let account), .signingDisable(let account), .signingKey(let account),
            .macTokenList(let account), .macTokenRemove(let account, _, _):
            account
        case .sign(let request): request.account
        case .macTokenAdd(let request): request.account
        case .macTokenHeader(let request): request.account
        case .operationList(let request): request.account
        case .operationShow(let request): request.account
        case .operationDecide(let request): request.account
        case .serverEnable(let request): request.account
        case .secretSet(let request): request.account
        case .readers, .configuration, .password, .cancel, .shown, .secretPart, .vault,
            .trustVault, .readerPrints:
            nil
        }
    }
}
