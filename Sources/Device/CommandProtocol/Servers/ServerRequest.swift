// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// What the user confirms a request with; the raw value is on the wire.
package enum ConfirmingFactor: UInt8, CaseIterable, Sendable {
    /// A touch.
    case finger = 1
    /// The account's password, for servers that accept it in place of a touch.
    case password = 2
}

/// Registers this device at a server for an account, after a touch; ends with `serverEnabled`.
package struct ServerEnableRequest: AccountRequest {
    package static let verb = Verb(30, name: "serverEnable")
    package static let rule = VerbRule(
        .rootOrAccount, proof: .password, touch: .confirming(.keySignature))
    package static let command = "signet enable"
    package static let loggedCommand = "signet enable --server"

    /// The account on this machine.
    package var account: AccountName
    /// The server's URL in normal form.
    package var server: ServerURL
    /// The activation code.
    package var code: Bytes
    /// Whether a finger or the password confirms it.
    ///
    /// The password is then asked for once, and counts as a finger would.
    package var factor: ConfirmingFactor = .finger
    /// What the device calls itself at the server; nil for no name.
    package var deviceName: DeviceName? = nil

    package var context: RequestContext { RequestContext(purpose: server.bytes) }
    package var interruption: ServerInterruption { .shown(by: "login") }
}

/// A successful registration at a server.
package struct ServerEnabledAnswer: FrameContent {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The application that the registration is for.
    package var application: ApplicationName
    /// The key's fingerprint as this device computed it.
    package var fingerprint: Bytes
    /// Whether the key can be used, or an administrator must still compare its fingerprint.
    package var progress: RegistrationProgress  // .registrationState
    /// Whether a key for the password was registered, too.
    package var hasPasswordKey: Bool = false  // .passwordAccepted
}

/// Removes this device's registration, at the server and on this device.
package struct ServerDisableRequest: AccountRequest {
    package static let verb = Verb(31, name: "serverDisable")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)

    /// The account.
    package let account: AccountName
    /// The server's URL.
    package let server: ServerURL

    package var context: RequestContext { RequestContext(purpose: server.bytes) }
    package var interruption: ServerInterruption { .shown(by: "login") }
}

/// Requests a touch, or the password in its place, that logs in to a server; ends with `token`.
package struct LoginAtServerRequest: AccountRequest {
    package static let verb = Verb(32, name: "serverLogin")
    // Not even root may, because anyone who has the answer can log in at the server.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet login"

    /// The account.
    package let account: AccountName
    /// The server's URL.
    package let server: ServerURL
    /// How long to wait for the touch, in milliseconds.
    package let timeoutMilliseconds: UInt32
    /// Whether a finger or the password confirms it.
    package var factor: ConfirmingFactor = .finger

    package var context: RequestContext { RequestContext(purpose: server.bytes) }
    package var interruption: ServerInterruption { .unknown }
}

/// Makes a new key for the password at a server, in place of the present one or where there is
/// none; ends with `done`.
///
/// It needs the password, to which the key is sealed, and a touch, which authorises it.
package struct ServerPasswordKeyRequest: AccountRequest {
    package static let verb = Verb(50, name: "serverPasswordKey")
    // Not even root may, because root need not give the password.
    package static let rule = VerbRule(
        .account, proof: .password, touch: .confirming(.keySignature))
    package static let command = "signet enable"
    package static let loggedCommand = "signet enable --server"

    /// The account.
    package let account: AccountName
    /// The server's URL.
    package let server: ServerURL

    package var context: RequestContext { RequestContext(purpose: server.bytes) }
    package var interruption: ServerInterruption { .unknown }
}

/// The tokens that a login at a server yields, which consist of visible ASCII characters.
package struct TokenAnswer: FrameContent {
    /// The token that the caller presents to other services.
    package var accessToken: Bytes
    /// The lifetime of the access token in seconds.
    package var seconds: UInt32
    /// The token that renews the access token; empty for none.
    package var refreshToken: Bytes

    func check() throws(WireFault) {
        guard accessToken.isVisible, refreshToken.isVisible else { throw .malformedValue }
    }
}

extension Bytes {
    /// Whether the bytes can be a token: visible ASCII characters (RFC 6750, section 2.1).
    ///
    /// Neither a terminal nor an HTTP header can misinterpret these.
    var isVisible: Bool { allSatisfy { (0x21...0x7E).contains($0) } }
}

/// The codes of a server's refusal that have their own message, besides those of
/// `UnmetRequirement`.
///
/// docs/developer/SERVER-INTEGRATE.md lists all codes.
package enum ServerProblem: String, CaseIterable, Sendable {
    /// The state at the server does not permit the request yet.
    case conflict = "conflict"
    /// The server's policy rejects the factor or the device's integrity claims.
    case policy = "policy"
    /// There were too many attempts.
    case slowDown = "slow-down"
    /// The server's database is not available.
    case unavailable = "unavailable"
    /// The server does not accept the TPM, or what it has stated.
    case attestationRefused = "attestation-refused"
    /// The clocks of server and device differ too much.
    case clock = "clock"
    /// The device's own word: the server does not accept what it issued a moment ago.
    case freshProof = "fresh-proof"
}

/// Lists the servers at which the account is registered: answered by `server` for each, then
/// `done`.
package struct ServerListRequest: AccountRequest {
    package static let verb = Verb(33, name: "serverList")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// The state of an account's key for a server; the raw value is on the wire.
package enum ServerKeyState: UInt8, CaseIterable, Sendable {
    /// A touch opens the key.
    case good = 1
    /// The fingers changed after it was made, so it can no longer be opened.
    case invalidated = 2
    /// The key was removed here, but the server has not been informed yet.
    case removing = 3
}

/// One server at which an account is registered.
package struct ServerAnswer: FrameContent {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// When it was registered, in seconds since 1970.
    package var since: UInt64
    /// The state of the key.
    package var state: ServerKeyState
    /// The server's URL.
    package var server: ServerURL
    /// The application that the registration is for.
    package var application: ApplicationName
    /// The key's fingerprint.
    package var fingerprint: Bytes
    /// Whether there is a key for the password.
    package var hasPasswordKey: Bool = false  // .passwordAccepted
    /// What this device calls itself there; nil for no name.
    package var deviceName: DeviceName? = nil
}

extension Request {
    package static func serverEnable(_ request: ServerEnableRequest) -> Request { Request(request) }
}
