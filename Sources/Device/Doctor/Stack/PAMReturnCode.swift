// SPDX-License-Identifier: Apache-2.0
/// The return codes of PAM modules.
///
/// The raw values are those of security/_pam_types.h.
enum PAMReturnCode: Int, CaseIterable {
    case success = 0
    case openErr = 1
    case symbolErr = 2
    case serviceErr = 3
    case systemErr = 4
    case bufErr = 5
    case permDenied = 6
    case authErr = 7
    case credInsufficient = 8
    case authinfoUnavail = 9
    case userUnknown = 10
    case maxtries = 11
    case newAuthtokReqd = 12
    case acctExpired = 13
    case sessionErr = 14
    case credUnavail = 15
    case credExpired = 16
    case credErr = 17
    case noModuleData = 18
    case convErr = 19
    case authtokErr = 20
    case authtokRecoverErr = 21
    case authtokLockBusy = 22
    case authtokDisableAging = 23
    case tryAgain = 24
    case ignore = 25
    case abort = 26
    case authtokExpired = 27
    case moduleUnknown = 28
    case badItem = 29
    case convAgain = 30
    case incomplete = 31

    /// The name as it is written in a stack, such as `new_authtok_reqd`; pam.conf(5).
    var name: String {
        switch self {
        case .success: "success"
        case .openErr: "open_err"
        case .symbolErr: "symbol_err"
        case .serviceErr: "service_err"
        case .systemErr: "system_err"
        case .bufErr: "buf_err"
        case .permDenied: "perm_denied"
        case .authErr: "auth_err"
        case .credInsufficient: "cred_insufficient"
        case .authinfoUnavail: "authinfo_unavail"
        case .userUnknown: "user_unknown"
        case .maxtries: "maxtries"
        case .newAuthtokReqd: "new_authtok_reqd"
        case .acctExpired: "acct_expired"
        case .sessionErr: "session_err"
        case .credUnavail: "cred_unavail"
        case .credExpired: "cred_expired"
        case .credErr: "cred_err"
        case .noModuleData: "no_module_data"
        case .convErr: "conv_err"
        case .authtokErr: "authtok_err"
        case .authtokRecoverErr: "authtok_recover_err"
        case .authtokLockBusy: "authtok_lock_busy"
        case .authtokDisableAging: "authtok_disable_aging"
        case .tryAgain: "try_again"
        case .ignore: "ignore"
        case .abort: "abort"
        case .authtokExpired: "authtok_expired"
        case .moduleUnknown: "module_unknown"
        case .badItem: "bad_item"
        case .convAgain: "conv_again"
        case .incomplete: "incomplete"
        }
    }

    /// The name of the C constant, such as `PAM_NEW_AUTHTOK_REQD`.
    var constant: String { "PAM_\(name.uppercased())" }
}
