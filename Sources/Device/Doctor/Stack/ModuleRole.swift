// SPDX-License-Identifier: Apache-2.0
/// The role of a module in an `auth` stack, as far as it matters to the doctor.
///
/// Roles are assigned by name. A module that is not in the lists is `unknown`, and findings must
/// hold whatever it does.
enum ModuleRole: Equatable {
    /// pam_signet, also under the name pam_fprintd.
    case signet
    /// fprintd's own pam_fprintd and similar modules: they use the same reader, and return a result without a
    /// proof.
    case otherFingerprint
    /// Asks for the account's password and checks it.
    case password
    /// Authenticates by other means, such as a token.
    case otherWay
    /// Decides by user, place or time; authenticates if its success ends the stack.
    case rule
    /// Rejects users who may not log in at the moment.
    case gate
    /// pam_faillock, when it counts a failure.
    case failureCounter
    /// pam_faillock, when it clears failures.
    case failureReset
    /// Always succeeds.
    case permit
    /// Always fails.
    case deny
    /// Returns PAM_IGNORE during authentication; it only prepares something for later, or, as
    /// pam_fingwit, has a line for the finger skipped.
    case silent
    /// Sets something up, and decides nothing.
    case neutral
    /// Cannot be loaded: libpam returns PAM_MODULE_UNKNOWN in its place.
    case absent
    /// Unknown to the doctor.
    case unknown

    /// Returns the role of a module; that of pam_faillock depends on its options.
    init(_ module: String, options: [String]) {
        switch module {
        // No file has such a name, which comes of the line ends of Windows.
        case let name where name.utf8.contains(UInt8(ascii: "\r")): self = .absent
        case "pam_faillock":
            if options.contains("authfail") {
                self = .failureCounter
            } else if options.contains("authsucc") {
                self = .failureReset
            } else {
                self = .gate
            }
        case let name: self = ModuleRole.roles[name] ?? .unknown
        }
    }

    private static let roles: [String: ModuleRole] = {
        let lists: [(ModuleRole, String)] = [
            (.signet, "pam_signet"),
            (.otherFingerprint, "pam_fprintd pam_fprint pam_fprintd_grosshack"),
            (
                .password,
                """
                pam_unix pam_unix2 pam_sss pam_ldap pam_krb5 pam_winbind pam_systemd_home \
                pam_userdb pam_extrausers pam_tcb pam_himmelblau pam_aad pam_authd pam_lsass \
                pam_vas3 pam_centrifydc
                """
            ),
            (
                .otherWay,
                """
                pam_u2f pam_google_authenticator pam_yubico pam_oath pam_pkcs11 pam_p11 \
                pam_ssh_agent_auth pam_timestamp pam_radius_auth pam_duo pam_howdy pam_irlume \
                pam_ssh pam_sss_gss pam_rhosts pam_otpw pam_usb
                """
            ),
            (
                .rule,
                "pam_rootok pam_succeed_if pam_wheel pam_listfile pam_localuser pam_usertype"
            ),
            (
                .gate,
                """
                pam_nologin pam_securetty pam_access pam_time pam_shells pam_tally2 pam_tally \
                pam_sepermit pam_abl
                """
            ),
            (.permit, "pam_permit"), (.deny, "pam_deny"),
            (.silent, "pam_env pam_faildelay pam_fingwit pam_group pam_keyinit"),
            (
                .neutral,
                """
                pam_cap pam_gnome_keyring pam_kwallet pam_kwallet5 pam_oo7 pam_mount pam_ecryptfs \
                pam_fscrypt pam_selinux pam_motd pam_mail pam_issue pam_lastlog pam_lastlog2 \
                pam_limits pam_umask pam_echo pam_warn pam_loginuid pam_systemd \
                pam_systemd_loadkey pam_reauthorize pam_wtmpdb pam_tty_audit pam_xauth
                """
            ),
        ]
        var roles: [String: ModuleRole] = [:]
        for (role, names) in lists {
            for name in names.split(separator: " ") { roles[String(name)] = role }
        }
        return roles
    }()
}
