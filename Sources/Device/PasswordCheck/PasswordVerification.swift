// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CPAM
import Domain
import Glibc
import LoginMessages
import Posix

/// The child's side of a password check: one account, one password, one verdict per process.
///
/// Only `right` means that the PAM stack `signet` asked for the password, accepted it, and accepted
/// the account. Anything unexpected is `fault`: a denied prompt, a success without a password, or a
/// different user at the end.
package enum PasswordVerification {
    /// The PAM service that checks passwords.
    static let service = "signet"

    /// The command line of `verify-password`, which only the daemon runs.
    package static let syntax = ProgramSyntax(
        "verify-password", summary: "checks the password on standard input for an account",
        operands: [OperandSyntax(ValueSyntax("ACCOUNT", kind: .account))],
        notes: ["the exit status is the verdict; signetd alone can read it"])

    /// Parses the command line and runs the check; returns the exit status, which is the verdict.
    ///
    /// The process is hardened first, and killed by SIGALRM after some minutes. An invalid command
    /// line is reported as `fault`, because the usual status 2 is not the exit code of any verdict.
    package static func run(_ words: [String], version: String) -> Int32 {
        guard closeDoors() else { return PasswordVerdict.fault.exitCode }
        switch syntax.outcome(of: words, version: version) {
        case .show(let text):
            print(text)
            return 0
        case .refuse(let text):
            complain(text)
            return PasswordVerdict.fault.exitCode
        case .run(let arguments):
            return verdict(account: arguments.operands.first ?? "").exitCode
        }
    }

    /// Checks the password on standard input for an account.
    ///
    /// The password is 0 to 1024 bytes up to the end of the stream, without NUL and without a
    /// terminator; a longer one, or one with a NUL, is `wrong`. Source: `pam_authenticate(3)`,
    /// `pam_acct_mgmt(3)`.
    private static func verdict(account: String) -> PasswordVerdict {
        guard AccountName(account).isUsable, serviceIsTrustworthy() else { return .fault }
        do throws(PasswordText.Unreadable) {
            guard let password = try PasswordText.read(from: STDIN_FILENO) else { return .wrong }
            return verdict(account: account, conversation: Conversation(password: password))
        } catch {
            return .fault
        }
    }

    /// Hardens the process.
    ///
    /// Returns false if any step fails that matters for security.
    ///
    /// Afterwards the process has an empty environment, no descriptors but the standard streams, no
    /// core dumps, no new privileges, its own session, and some minutes to run. The time limit
    /// holds even if the parent dies.
    private static func closeDoors() -> Bool {
        do throws(SystemFault) {
            try hardenProcess()
            try clearEnvironment(keeping: [])
        } catch {
            return false
        }
        _ = setsid()
        // Longer than `password.timeout` can be: by then, the daemon has ended this process itself.
        _ = alarm(330)
        return signet_set_no_new_privileges() == 0 && signet_close_from(3) == 0
    }

    /// Whether the service's own file exists, belongs to root and is writable only by root.
    ///
    /// Without the file, libpam would use `other`, which calls pam_signet and so starts this
    /// program again.
    private static func serviceIsTrustworthy() -> Bool {
        var information = stat()
        guard unsafe stat("/etc/pam.d/" + service, &information) == 0 else { return false }
        return information.st_mode & S_IFMT == S_IFREG && information.st_uid == 0
            && information.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// Runs the PAM stack with the conversation and translates its result.
    ///
    /// PAM_DISALLOW_NULL_AUTHTOK makes an account without a password fail. The user is read back
    /// after the stack ran.
    private static func verdict(account: String, conversation: Conversation) -> PasswordVerdict {
        var callback = unsafe conversation.callback
        var handle: OpaquePointer? = nil
        let started = unsafe pam_start(service, account, &callback, &handle)
        guard started == PAM_SUCCESS, let handle = unsafe handle else { return .fault }
        var status = unsafe pam_authenticate(handle, Int32(bitPattern: PAM_DISALLOW_NULL_AUTHTOK))
        if status == PAM_SUCCESS { status = unsafe pam_acct_mgmt(handle, 0) }
        let isSameAccount = unsafe user(of: handle).map(Array.init) == Array(account.utf8)
        unsafe pam_end(handle, status)
        return withExtendedLifetime(conversation) {
            // A module that changed the user would authenticate one account with the password of
            // another.
            guard isSameAccount, !conversation.wasRefused else { return .fault }
            // A success without the password comes from a stack that does not ask for one, such as
            // an empty one.
            return status == PAM_SUCCESS && !conversation.hasAnswered ? .fault : judge(status)
        }
    }

    private static func user(of handle: OpaquePointer) -> String.UTF8View? {
        var item: UnsafeRawPointer? = nil
        guard unsafe pam_get_item(handle, PAM_USER, &item) == PAM_SUCCESS, let item = unsafe item
        else { return nil }
        return unsafe String(cString: item.assumingMemoryBound(to: CChar.self)).utf8
    }

    /// Translates a PAM status.
    ///
    /// The codes are an open set in C, so any without a known meaning is a fault.
    private static func judge(_ status: Int32) -> PasswordVerdict {
        switch status {
        case PAM_SUCCESS: .right
        case PAM_AUTH_ERR, PAM_MAXTRIES: .wrong
        case PAM_USER_UNKNOWN, PAM_PERM_DENIED: .denied
        case PAM_ACCT_EXPIRED: .accountExpired
        case PAM_NEW_AUTHTOK_REQD: .passwordExpired
        default: .fault
        }
    }
}
