// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol

/// What happens after the login: a password that was accepted lifts a lockout, or leads to a word on
/// enrolling.
enum SetCredentials {
    /// How long a login may be held up for it.
    private static let milliseconds: UInt32 = 500

    /// Reports an accepted password where one was accepted, and gives the code of pam_setcred.
    ///
    /// PAM_SUCCESS after an authenticate of this module: libpam ends with an error where
    /// authenticate succeeded and this would be ignored. PAM_IGNORE without one, as from cron.
    static func settle(_ application: Application, _ arguments: [Bytes]) -> Int32 {
        guard let account = application.kept() else { return PAM_IGNORE }
        // libpam frees the text with its handle; the application may have changed PAM_USER.
        guard application.establishesCredentials, geteuid() == 0 else { return PAM_SUCCESS }
        guard !account.isEmpty else {
            Offer.make(application, arguments)
            return PAM_SUCCESS
        }
        do throws(LoginFailure) {
            try report(account, of: application, arguments)
            try application.keep([])
        } catch {
            application.trace("an accepted password could not be reported")
        }
        return PAM_SUCCESS
    }

    private static func report(
        _ account: Bytes, of application: Application, _ arguments: [Bytes]
    ) throws(LoginFailure) {
        let service = try application.item(PAM_SERVICE)
        try Connection.report(arguments, milliseconds) { () throws(WireFault) in
            try LoginRequest.passwordAccepted(account: account, service: service)
        }
    }
}
