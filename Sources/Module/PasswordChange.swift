// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol

/// pam_sm_chauthtok: reports a changed password to the daemon, for the keyring.
///
/// The daemon can release the login password at a touch only if it has the current one. Only a
/// program that runs as root reports, and only for an account that has, or had, a registered key.
enum PasswordChange {
    /// The longest time in milliseconds that a report may delay the change.
    private static let milliseconds: UInt32 = 5_000

    /// Reports the new password in the pass that changes it, PAM_UPDATE_AUTHTOK; returns
    /// PAM_IGNORE.
    ///
    /// PAM_IGNORE in the preliminary pass makes libpam ignore this line in the second pass too, so
    /// the line neither fails a change nor makes one succeed. If a report does not reach the
    /// daemon, the daemon notices the stale password at the next touch.
    static func report(
        _ application: Application, isUpdate: Bool, arguments: [Bytes]
    ) -> Int32 {
        guard isUpdate, geteuid() == 0, let password = application.password() else {
            return PAM_IGNORE
        }
        do throws(LoginFailure) {
            try report(password, of: application, arguments: arguments)
        } catch {
            application.trace("a new password could not be reported")
        }
        return PAM_IGNORE
    }

    private static func report(
        _ password: borrowing SecretLine, of application: Application, arguments: [Bytes]
    ) throws(LoginFailure) {
        guard let account = try application.account() else { return }
        // Without a registered key the daemon is not contacted.
        _ = try RegisteredKey.look(for: account.name, uid: account.uid)
        let service = try application.service()
        try ModuleConnection.report(arguments, milliseconds: milliseconds) { () throws(WireFault) in
            try password.withSpan { (password) throws(WireFault) in
                try LoginRequest.passwordChanged(
                    account: account.name, service: service, password: password)
            }
        }
    }
}
