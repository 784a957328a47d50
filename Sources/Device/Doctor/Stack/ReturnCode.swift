// SPDX-License-Identifier: Apache-2.0
/// The return codes of PAM modules.
///
/// The raw values are those of security/_pam_types.h; the names are those used in brackets in a
/// stack.
enum ReturnCode: Int, CaseIterable {
    case success, openErr, symbolErr, serviceErr, systemErr, bufErr, permDenied, authErr
    case credInsufficient, authinfoUnavail, userUnknown, maxtries, newAuthtokReqd, acctExpired
    case sessionErr, credUnavail, credExpired, credErr, noModuleData, convErr, authtokErr
    case authtokRecoverErr, authtokLockBusy, authtokDisableAging, tryAgain, ignore, abort
    case authtokExpired, moduleUnknown, badItem, convAgain, incomplete

    /// The name as it is written in a stack, such as `new_authtok_reqd`.
    var name: String { ReturnCode.names[rawValue] }

    private static let names = allCases.map { code in
        "\(code)".reduce(into: "") { name, character in
            if character.isUppercase { name += "_" }
            name += character.lowercased()
        }
    }

    /// The name of the C constant, such as `PAM_NEW_AUTHTOK_REQD`.
    var constant: String { "PAM_\(name.uppercased())" }
}
