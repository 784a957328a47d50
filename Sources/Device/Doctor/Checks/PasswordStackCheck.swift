// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether the stack `signet`, through which the daemon has passwords checked, accepts only
/// right passwords.
struct PasswordStackCheck {
    let files: StackFiles

    func findings() -> [Finding] {
        guard files["signet"] != nil else { return [Self.missing] }
        let chain = files.chain(of: "signet", type: .auth)
        guard chain.indices(of: .signet).isEmpty else { return [Self.recursive] }
        func lets(in knowsPassword: Bool) -> Bool {
            let visitor = Visitor(finger: .authinfoUnavail, knowsPassword: knowsPassword)
            return chain.walks(of: visitor)?.contains(where: \.isAccepted) ?? false
        }
        if lets(in: false) { return [Self.open] }
        return lets(in: true) ? [] : [Self.closed]
    }
}

extension PasswordStackCheck {
    /// The command that writes the stack as it is shipped; what was there stays.
    private static let write: Text =
        // Untranslated: a command
        """
        printf 'auth required pam_unix.so\\naccount required pam_unix.so\\n' \
        | install -m 644 --backup=numbered /dev/stdin /etc/pam.d/signet
        """

    /// The daemon's stack for passwords is missing.
    static let missing = Finding(
        "password-stack-missing", level: .fault, area: .stacks,
        what: "/etc/pam.d/signet does not exist",
        why: "the daemon accepts no password: users cannot enrol, enable or unlock",
        mend: write)

    /// The stack for passwords asks for a finger.
    static let recursive = Finding(
        "password-stack-recursive", level: .danger, area: .stacks,
        what: "/etc/pam.d/signet uses pam_signet, directly or through an include",
        why: """
            a touch would replace the password that protects the fingers, and the daemon would \
            wait for itself. Name only the password module in this file
            """,
        mend: write)

    /// The stack for passwords accepts a wrong password.
    static let open = Finding(
        "password-stack-open", level: .danger, area: .stacks,
        what: "/etc/pam.d/signet accepts wrong passwords",
        why: "anyone at an unlocked session can enrol a finger. Make the password 'required'",
        mend: write)

    /// The stack for passwords accepts no password.
    static let closed = Finding(
        "password-stack-closed", level: .fault, area: .stacks,
        what: "/etc/pam.d/signet rejects every password",
        why: "users cannot enrol, enable or unlock. The file has to name the password module",
        mend: write)
}
