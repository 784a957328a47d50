// SPDX-License-Identifier: Apache-2.0
/// What a PAM module returns; the raw value is that of security/_pam_types.h, the name that of a
/// stack's line in brackets.
enum ReturnCode: Int, CaseIterable {
    case success, openErr, symbolErr, serviceErr, systemErr, bufErr, permDenied, authErr
    case credInsufficient, authinfoUnavail, userUnknown, maxtries, newAuthtokReqd, acctExpired
    case sessionErr, credUnavail, credExpired, credErr, noModuleData, convErr, authtokErr
    case authtokRecoverErr, authtokLockBusy, authtokDisableAging, tryAgain, ignore, abort
    case authtokExpired, moduleUnknown, badItem, convAgain, incomplete

    /// As it is written in a stack.
    var name: String { ReturnCode.names[rawValue] }

    private static let names = allCases.map { code in
        "\(code)".reduce(into: "") { name, character in
            if character.isUppercase { name += "_" }
            name += character.lowercased()
        }
    }

    /// As a program's source has it.
    var constant: String { "PAM_\(name.uppercased())" }
}
