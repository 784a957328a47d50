// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about who asks for the password in a stack, and when. As for the other stacks.
extension Finding {
    /// A module never asks for a password, and nobody does before it.
    package static func passwordUnasked(services: Bytes, module: Bytes, place: Bytes) -> Finding {
        Finding(
            .passwordUnasked, services,
            "\(services): \(module) takes only a password that is there, and none is (\(place))",
            why: """
                with 'use_first_pass' \(module) never asks, and no module in front of it does where \
                no finger can be asked for: its accounts are locked out then. Take the option out
                """,
            mend: edit(file(of: place)))
    }

    /// One password's module refuses the accounts of another.
    package static func passwordShadowed(
        services: Bytes, module: Bytes, by other: Bytes, place: Bytes
    ) -> Finding {
        Finding(
            .passwordShadowed, services,
            "\(services): \(other) refuses the accounts of \(module) before that is asked (\(place))",
            why: """
                without a finger those accounts are locked out. Make the control of \(other) \
                'sufficient', and the last line of the stack one that fails
                """,
            mend: edit(file(of: place)))
    }

    /// A touch counts only for who has typed the password.
    package static func touchBehindPassword(
        services: Bytes, module: Bytes, place: Bytes
    ) -> Finding {
        Finding(
            .touchBehindPassword, services,
            "\(services): a touch counts only after \(module) has accepted a password (\(place))",
            why: """
                the finger spares nobody the password, unless both are wanted. Put pam_signet's \
                line in front of it
                """,
            mend: edit(file(of: place)))
    }

    /// A program whose field for the password takes nothing while the finger is awaited.
    package static func typingBlocked(service: Bytes, file: Bytes) -> Finding {
        let isGDM = service == Bytes("gdm-password".utf8)
        return Finding(
            .typingBlocked, service,
            "\(service): no password can be typed while the finger is awaited",
            why: isGDM
                ? """
                GDM shows one thing at a time here, and has the service gdm-fingerprint for the \
                finger. Keep it out of this one: 'services = !gdm-password' below [login] in \
                signet.conf, or common-auth's lines without pam_signet's
                """
                : """
                this program shows one thing at a time. Put the password's lines in front, as \
                share/doc/signet/examples/lightdm and i3lock do, or keep the finger out: \
                'services = !\(service)' below [login] in signet.conf
                """,
            mend: edit(file))
    }

    /// A password that a touch releases stands in for one that should be typed.
    package static func releasedPassword(
        services: Bytes, module: Bytes, place: Bytes
    ) -> Finding {
        Finding(
            .releasedPassword, services,
            """
            \(services): \(module) takes the password that a touch releases instead of asking for \
            one (\(place))
            """,
            why: """
                once an account has run 'signet enable --keyring', a touch alone is enough. To \
                require finger and password, remove 'keyring' from pam_signet's line, as \
                share/doc/signet/examples/finger-and-password does. To require one of the two, \
                have a touch skip this line
                """,
            mend: edit(file(of: place)))
    }

    /// A network service could get a login password.
    package static func keyringRemote(services: Bytes, place: Bytes) -> Finding {
        Finding(
            .keyringRemote, services,
            "\(services): a network service asks for the login password (\(place))",
            why: """
                a touch at this machine could release the password to a remote client. Remove \
                'keyring' from pam_signet's line, and the service from keyring.services in \
                signet.conf
                """,
            mend: edit(file(of: place)))
    }

    /// The option has no effect.
    package static func keyringUnlisted(services: Bytes, place: Bytes) -> Finding {
        Finding(
            .keyringUnlisted, services,
            "\(services): 'keyring' on pam_signet's line has no effect (\(place))",
            why: """
                keyring.services in signet.conf does not list this service, so a touch releases no \
                password to it. Remove the option, or add the service if it opens login sessions
                """,
            mend: edit(file(of: place)))
    }

    /// The option is not there.
    package static func keyringMissing(services: Bytes, place: Bytes) -> Finding {
        Finding(
            .keyringMissing, services,
            "\(services): a touch does not open the keyring: 'keyring' is missing (\(place))",
            why: """
                after a login by touch the desktop asks for the keyring's password, even for \
                accounts that have run 'signet enable --keyring'. Add the option to pam_signet's \
                line if no module that checks passwords comes behind it
                """,
            mend: edit(file(of: place)))
    }

    /// Accounts of sssd have no password where only the machine's own are asked for.
    package static func directoryPasswordMissing(services: Bytes, accounts: Bytes) -> Finding {
        Finding(
            .directoryPasswordMissing, accounts,
            "\(services): the password of \(accounts), who come from sssd, is not asked for",
            why: """
                only passwords of this machine's own files are checked there: without a finger \
                these accounts are locked out. pam_sss belongs behind pam_unix
                """,
            mend: "pam-auth-update --enable sss")
    }

    /// The profile of fprintd is on too.
    package static func fprintdProfile(_ profile: Bytes) -> Finding {
        Finding(
            .fprintdProfile, profile,
            "the profile '\(profile)' of pam-auth-update is on, and pam_signet is used too",
            why: """
                both want the reader, and pam_fprintd lets in on a bare 'yes'. One of the two is \
                enough
                """,
            mend: "pam-auth-update --disable \(Shell.word(profile))")
    }
}
