// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import ModuleOptions
import SignedFormats

/// pam_sm_authenticate(3): authenticates the user by fingerprint.
///
/// Returns PAM_SUCCESS only after a proof for this login was verified and confirmed. Every other
/// outcome is a `LoginFailure`, which `Application.conclude` shows, logs and turns into a PAM code;
/// none of those codes is PAM_IGNORE.
@c @implementation
public func pam_sm_authenticate(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
    guard var application = unsafe Application(handle, flags: flags) else {
        return PAM_SYSTEM_ERR
    }
    let arguments = unsafe Application.arguments(count, words: words)
    do throws(LoginFailure) {
        try Login.prove(to: &application, arguments: arguments)
        return PAM_SUCCESS
    } catch {
        return application.conclude(error)
    }
}

/// pam_sm_setcred(3): sets no credentials; reports to the daemon that a password was accepted.
@c @implementation
public func pam_sm_setcred(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
    guard let application = unsafe Application(handle, flags: flags) else {
        return PAM_SYSTEM_ERR
    }
    return unsafe SetCredentials.settle(
        application, arguments: Application.arguments(count, words: words))
}

/// pam_sm_acct_mgmt(3): not supported; PAM_IGNORE.
@c @implementation
public func pam_sm_acct_mgmt(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { unsafe notServed(handle, type: "account") }

/// pam_sm_open_session(3): not supported; PAM_IGNORE.
@c @implementation
public func pam_sm_open_session(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { unsafe notServed(handle, type: "session") }

/// pam_sm_close_session(3): not supported; PAM_IGNORE.
@c @implementation
public func pam_sm_close_session(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { unsafe notServed(handle, type: "session") }

/// pam_sm_chauthtok(3): reports a new password to the daemon, for the keyring.
///
/// It always returns PAM_IGNORE: this module neither checks nor changes passwords.
@c @implementation
public func pam_sm_chauthtok(
    _ handle: OpaquePointer?, _ flags: Int32, _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
    guard var application = unsafe Application(handle, flags: flags) else { return PAM_IGNORE }
    let arguments = unsafe Application.arguments(count, words: words)
    application.debug = (try? Application.options(arguments))?.debug ?? false
    let isUpdate = flags & Int32(PAM_UPDATE_AUTHTOK) != 0
    return PasswordChange.report(application, isUpdate: isUpdate, arguments: arguments)
}

/// Logs that the stack's line is a mistake, and returns PAM_IGNORE.
///
/// PAM_IGNORE authenticates no one: libpam fails a stack in which no other module decides.
private func notServed(_ handle: OpaquePointer?, type: StaticString) -> Int32 {
    if let application = unsafe Application(handle, flags: 0) {
        let type = Text(escaping: type.bytes)
        application.log(
            LOG_ERR,
            text:
                "\(literal: Application.moduleName) serves 'auth' and 'password': remove its '\(type)' line"
        )
    }
    return PAM_IGNORE
}
