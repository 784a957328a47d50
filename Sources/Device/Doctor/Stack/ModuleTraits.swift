// SPDX-License-Identifier: Apache-2.0
import ModuleOptions

/// The effects of an entry on passwords, by its module, options and control.
extension Handler {
    /// Modules that never ask for a password if `use_first_pass` is given: pam_unix(8), pam_sss(8),
    /// pam_winbind(8), pam_ldap(8), pam_userdb(8).
    ///
    /// Others, such as pam_krb5, ask nevertheless.
    private static let obedient: Set<String> = [
        "pam_unix", "pam_extrausers", "pam_sss", "pam_winbind", "pam_ldap",
        "pam_userdb",
    ]

    /// Modules that only check passwords in this machine's own files.
    private static let local: Set<String> = [
        "pam_unix", "pam_unix2", "pam_extrausers", "pam_tcb", "pam_userdb",
    ]

    /// Modules that use the password in PAM_AUTHTOK, whatever their options, and do not check the
    /// account's own password.
    private static let takers: Set<String> = [
        "pam_radius_auth", "pam_tacplus", "pam_ssh", "pam_pwdfile", "pam_mysql", "pam_pgsql",
        "pam_http", "pam_oauth2", "pam_script",
    ]

    /// Whether it only uses a password that was already entered, and never asks for one.
    var onlyTakesPassword: Bool {
        role == .password && Handler.obedient.contains(module) && options.contains("use_first_pass")
    }

    /// Whether it may set a password that was not there before; an unknown module may.
    var mayAsk: Bool {
        switch role {
        case .password:
            // pam_sss does not pass the password on unless `forward_pass` is given.
            !onlyTakesPassword && (module != "pam_sss" || options.contains("forward_pass"))
        case .otherWay, .unknown: true
        case .otherFingerprint: module == "pam_fprintd_grosshack"
        case .neutral: suppliesPassword
        // pam_signet can pass on a password typed at its own prompt, but not if no user can be
        // asked.
        case .signet, .rule, .gate, .failureCounter, .failureReset, .permit, .deny, .silent,
            .absent:
            false
        }
    }

    /// Whether it uses an existing password instead of asking for one.
    ///
    /// pam_unix does so even without `try_first_pass`: pam_get_authtok(3) asks only if there is no
    /// password yet. pam_exec passes the password to a program if `expose_authtok` is given.
    var takesPassword: Bool {
        switch role {
        case .password: module != "pam_sss" || !options.contains("prompt_always")
        case .otherWay, .unknown, .neutral, .silent:
            Handler.takers.contains(module)
                || module == "pam_exec" && options.contains("expose_authtok")
        case .signet, .otherFingerprint, .rule, .gate, .failureCounter, .failureReset, .permit,
            .deny, .absent:
            false
        }
    }

    /// Whether it only knows this machine's own accounts.
    var isLocalPassword: Bool { role == .password && Handler.local.contains(module) }

    /// Whether it uses the login password to open a keyring for the session that follows.
    var opensKeyring: Bool {
        ["pam_gnome_keyring", "pam_kwallet", "pam_kwallet5", "pam_oo7"].contains(module)
    }

    /// Whether authentication fails, whatever follows, if the module returns this code.
    func fails(on code: PAMReturnCode) -> Bool { [.bad, .die].contains(control[code]) }

    /// Whether it is Signet's module under fprintd's name.
    var isReplaced: Bool { role == .signet && module == "pam_fprintd" }

    /// The options of a line of pam_signet; nil if the module refuses to work with them.
    var signetOptions: ModuleOptions? {
        guard role == .signet else { return nil }
        // What fprintd's module would not know is ignored there.
        guard !isReplaced else { return ModuleOptions(fprintd: options.map(\.bytes)) }
        return try? ModuleOptions(parsing: options.map(\.bytes))
    }

    /// Whether its success may put the login password into PAM_AUTHTOK.
    var releasesPassword: Bool { signetOptions?.keyring == true }

    /// The file that `server=` refers to; empty without that option, nil if the module refuses to
    /// work with the options.
    var server: String? { signetOptions.map { String(decoding: $0.server, as: UTF8.self) } }
}
