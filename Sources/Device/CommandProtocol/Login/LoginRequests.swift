// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

// The requests of a login, which the PAM module makes. It encodes them itself. This file adds what
// only the daemon needs to the requests of LoginProtocol.

extension AuthenticateRequest: AccountRequest {
    package static let verb = Verb(.authenticate, name: "authenticate")
    package static let rule = VerbRule(.rootOrAccount, touch: .login)
    // The handler opens the prints itself if it needs them.
    package static let readsPrints = false

    package var context: RequestContext {
        RequestContext(
            service: service, terminal: terminal, purpose: purpose, presence: presence,
            server: server?.url ?? .none)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            account: try frame.accountName(),
            challenge: try frame.fixed(.challenge),
            service: try frame.name(.service),
            terminal: try frame.bytes(.terminal),
            remoteHost: try frame.bytes(.remoteHost),
            requester: try frame.name(.requester),
            purpose: try frame.bytes(.purpose),
            timeoutMilliseconds: try frame.number(.timeoutMilliseconds),
            maximumTries: try frame.number(.maximumTries))
        guard maximumTries > 0 else { throw .malformedValue }
        wantsKeyring = try frame.yes(.keyring)
        presence = try frame.choice(.presence)
        background = try frame.choice(.background)
        commandDigest = try frame.bytesIfPresent(.commandDigest) ?? []
        agent = try frame.numberIfPresent(.agent)
        agentUser = try frame.numberIfPresent(.agentUser)
        server = try ServerLoginRequest(from: &frame)
    }
}

extension TouchRule {
    /// The rule for a login through PAM.
    ///
    /// Only here may other users request an account's finger (su, polkit). Only here do the lists
    /// of `[login]` apply, because they are about PAM services. Only a PAM module can report
    /// whether a request comes from the background of a terminal.
    package static let login = TouchRule(
        guards: [.presence, .loginLists, .background, .credential, .reader, .lid],
        releases: [.statement, .loginPassword], mayServeOthers: true)
}

extension ServerLoginRequest {
    fileprivate init?(from frame: inout FrameReader) throws(WireFault) {
        guard let url: ServerURL = try frame.nameIfPresent(.server) else { return nil }
        let audience: Audience = try frame.name(.audience)
        let hours: UInt32? = try frame.numberIfPresent(.offlineHours)
        // A missing field means 0 hours, so an explicit 0 is malformed.
        guard hours != 0 else { throw .malformedValue }
        let token: TokenDelivery? = try frame.choiceIfPresent(.tokenDelivery)
        self.init(
            url: url, audience: audience, key: try frame.fixed(.verdictKey),
            offlineHours: hours ?? 0, token: token)
    }
}

/// Asks, once and immediately, whether the touch that signed a challenge is still valid.
package struct ConfirmRequest: AccountRequest {
    package static let verb = Verb(.confirm, name: "confirm")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    /// The account of the login.
    package let account: AccountName
    /// The challenge of the login, 32 bytes.
    package let challenge: Challenge
}

/// Reports that a password was accepted in the same login.
package struct PasswordAcceptedRequest: AccountRequest {
    package static let verb = Verb(.passwordAccepted, name: "passwordAccepted")
    package static let rule = VerbRule(.root)
    package static let readsPrints = false

    /// The account that logged in.
    package let account: AccountName
    /// The PAM service.
    package let service: ServiceName
}

extension OfferRequest: AccountRequest {
    package static let verb = Verb(.offer, name: "offer")
    // It reveals which accounts have no enrolled finger, and is meant for programs that log users
    // in.
    package static let rule = VerbRule(.root)
    package static let readsPrints = false
    package static let logging = DecisionLogging.debugging

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            account: try frame.accountName(), service: try frame.name(.service),
            presence: try frame.choice(.presence))
    }
}

extension TouchRule {
    /// The conditions for telling an account without fingers that it could enrol one.
    ///
    /// They are those of a login, except for the credential. No touch is requested.
    package static let offer = TouchRule(
        guards: [.presence, .loginLists, .background, .reader, .lid], mayServeOthers: true)
}

/// Reports the account's new password.
package struct PasswordChangedRequest: AccountRequest {
    package static let verb = Verb(.passwordChanged, name: "passwordChanged")
    package static let rule = VerbRule(.root)

    /// The account.
    package let account: AccountName
    /// The PAM service.
    package let service: ServiceName
    /// The new password.
    ///
    /// The daemon takes it out of the packet before decoding, so that it is all zeros there.
    package let password: Bytes
}

extension Request {
    package static func authenticate(_ request: AuthenticateRequest) -> Request {
        Request(request)
    }

    package static func offer(_ request: OfferRequest) -> Request { Request(request) }
}
