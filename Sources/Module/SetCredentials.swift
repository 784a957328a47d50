// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol

/// pam_sm_setcred: what follows a login in which the module took part.
///
/// If the password was used after the daemon may have counted failures, it reports that a password
/// was accepted, which lifts a lockout. If the account has no finger yet, it may offer enrolment.
enum SetCredentials {
    /// The longest time in milliseconds that a report may delay the login.
    private static let milliseconds: UInt32 = 500

    /// Reports an accepted password if there was one, and returns the code of pam_setcred(3).
    ///
    /// PAM_SUCCESS if this module's authenticate ran on the handle: libpam fails if authenticate
    /// succeeded and setcred is ignored. PAM_IGNORE otherwise, as for cron.
    static func settle(_ application: Application, arguments: [Bytes]) -> Int32 {
        guard let account = application.kept() else { return PAM_IGNORE }
        // This is the account of authenticate; the application may have changed PAM_USER since.
        guard application.establishesCredentials, geteuid() == 0 else { return PAM_SUCCESS }
        guard !account.isEmpty else {
            Offer.make(application, arguments: arguments)
            return PAM_SUCCESS
        }
        do throws(LoginFailure) {
            try report(AccountName(account), of: application, arguments: arguments)
            try application.keep([])
        } catch {
            application.trace("an accepted password could not be reported")
        }
        return PAM_SUCCESS
    }

    private static func report(
        _ account: AccountName, of application: Application, arguments: [Bytes]
    ) throws(LoginFailure) {
        let service = try application.service()
        try ModuleConnection.report(arguments, milliseconds: milliseconds) { () throws(WireFault) in
            try LoginRequest.passwordAccepted(account: account, service: service)
        }
    }
}
