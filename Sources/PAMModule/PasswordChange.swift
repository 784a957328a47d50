// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol

/// What happens when a password is changed: the daemon hears the new one, for the keyring.
enum PasswordChange {
    /// How long the change of a password may be held up for it.
    private static let milliseconds: UInt32 = 5_000

    /// Tells the daemon, in the pass in which the password is changed.
    ///
    /// Always PAM_IGNORE: in the first pass it makes libpam ignore this line in the second one too,
    /// so the line neither fails a change nor is a reason for one to succeed. What the daemon did
    /// not hear, it finds out at the next touch.
    static func report(
        _ application: Application, isUpdate: Bool, _ arguments: [Bytes]
    ) -> Int32 {
        guard isUpdate, geteuid() == 0, let password = application.password() else {
            return PAM_IGNORE
        }
        do throws(LoginFailure) {
            try report(password, of: application, arguments)
        } catch {
            application.trace("a new password could not be reported")
        }
        return PAM_IGNORE
    }

    private static func report(
        _ password: borrowing SecretLine, of application: Application, _ arguments: [Bytes]
    ) throws(LoginFailure) {
        let account = try application.account()
        guard let uid = application.uid(of: account) else { return }
        // Where no key was ever registered, nobody is asked.
        _ = try RegisteredKey.look(for: account, uid: uid)
        let service = try application.item(PAM_SERVICE)
        try Connection.report(arguments, milliseconds) { () throws(WireFault) in
            try password.withSpan { (password) throws(WireFault) in
                try LoginRequest.passwordChanged(
                    account: account, service: service, password: password)
            }
        }
    }
}
