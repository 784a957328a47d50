// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about the module's file, the stack that checks passwords, the daemon and its settings.
extension Finding {
    /// No service names the module.
    package static let moduleUnused = Finding(
        .moduleUnused, [],
        "no service in /etc/pam.d uses pam_signet",
        why: "nobody is asked for a finger. The profile puts it into common-auth",
        mend: "pam-auth-update --enable signet")

    /// The module's file is not there.
    package static func moduleMissing(services: Bytes, path: Bytes) -> Finding {
        Finding(
            .moduleMissing, services,
            "\(services): the module \(path) is not there",
            why: """
                with the shipped stacks the password is asked for; a 'required' line locks \
                everybody out. Install the module, or take it out of the stacks
                """,
            mend: "pam-auth-update --remove signet")
    }

    /// A stack names a module that is not there and is called almost like this one.
    package static func moduleMisspelt(services: Bytes, path: Bytes, place: Bytes) -> Finding {
        Finding(
            .moduleMisspelt, services,
            "\(services): \(place) names the module \(path), which is not there. Is pam_signet.so meant?",
            why: """
                libpam takes a module that it does not find for one that fails: nobody is asked for \
                a finger, and a 'required' line locks everybody out
                """,
            mend: edit(file(of: place)))
    }

    /// The command that writes the stack for passwords as it is shipped; what was there stays.
    private static var writePasswordStack: Text {
        // Untranslated: a command
        """
        printf 'auth required pam_unix.so\\naccount required pam_unix.so\\n' \
        | install -m 644 --backup=numbered /dev/stdin /etc/pam.d/signet
        """
    }

    /// There is no stack for passwords.
    package static let passwordStackMissing = Finding(
        .passwordStackMissing, [],
        "/etc/pam.d/signet is not there",
        why: "the daemon accepts no password: nobody can enrol, enable or unlock",
        mend: writePasswordStack)

    /// The stack for passwords asks for a finger.
    package static let passwordStackRecursive = Finding(
        .passwordStackRecursive, [],
        "/etc/pam.d/signet names pam_signet, itself or by what it includes",
        why: """
            a touch would stand in for the password that guards the fingers, and the daemon \
            waits for itself. Let it name the password's module alone
            """,
        mend: writePasswordStack)

    /// The stack for passwords accepts a wrong one.
    package static let passwordStackOpen = Finding(
        .passwordStackOpen, [],
        "/etc/pam.d/signet accepts a wrong password",
        why: "whoever sits at an open session can enrol a finger. Make the password 'required'",
        mend: writePasswordStack)

    /// The stack for passwords accepts none.
    package static let passwordStackClosed = Finding(
        .passwordStackClosed, [],
        "/etc/pam.d/signet accepts no password",
        why: "nobody can enrol, enable or unlock. It has to name the password's module",
        mend: writePasswordStack)

    /// The module is there twice.
    package static func moduleTwice(services: Bytes, places: Bytes, file: Bytes) -> Finding {
        Finding(
            .moduleTwice, services,
            "\(services): pam_signet is asked more than once (\(places))",
            why: "the finger is asked for twice, and each wrong one counts. Remove one line",
            mend: edit(file))
    }

    /// pam_fprintd is there too.
    package static func otherFingerprint(
        services: Bytes, module: Bytes, file: Bytes
    ) -> Finding {
        Finding(
            .otherFingerprint, services,
            "\(services): \(module) is in the same stack",
            why: """
                both want the reader, and it lets in on a bare 'yes'. Take it out: \
                'pam-auth-update --remove fprintd' where its profile put it in
                """,
            mend: edit(file))
    }

    /// The socket is somebody else's, or who listens is.
    package static func serviceForeign(uid: UInt32) -> Finding {
        Finding(
            .serviceForeign, Bytes("/run/signet/signetd.sock".utf8),
            "who listens at /run/signet/signetd.sock is uid \(number: uid), not root",
            why: """
                passwords and secrets would go to somebody else; Signet's own programs refuse \
                to send any
                """,
            mend: """
                rm -f /run/signet/signetd.sock; chown root:root /run/signet; \
                systemctl restart signetd.socket
                """)
    }

    /// There is no socket.
    package static let socketMissing = Finding(
        .socketMissing, Bytes("/run/signet/signetd.sock".utf8),
        "there is no socket at /run/signet/signetd.sock",
        why: "nobody can ask the daemon, and it is not started: only passwords work",
        mend: "systemctl enable --now signetd.socket")

    /// No socket of the relay.
    package static let relayMissing = Finding(
        .relayMissing, Bytes("/run/signet/relay.sock".utf8),
        "there is no socket at /run/signet/relay.sock",
        why: """
            the daemon has no way to servers: no login there, and none here that one has to agree \
            to
            """,
        mend: "systemctl enable --now signet-relay.socket")

    /// The unit is not enabled.
    package static let socketDisabled = Finding(
        .socketDisabled, Bytes("signetd.socket".utf8),
        "signetd.socket is not enabled",
        why: "after the next start of the machine only passwords work",
        mend: "systemctl unmask signetd.socket; systemctl enable --now signetd.socket")

    /// No socket of the process of the readers.
    package static let readersMissing = Finding(
        .readersMissing, Bytes("/run/signet/reader.sock".utf8),
        "there is no socket at /run/signet/reader.sock",
        why: "the daemon has no way to fingerprint readers: only passwords work",
        mend: "systemctl enable --now signet-reader.socket")

    /// Its unit is not enabled.
    package static let readersDisabled = Finding(
        .readersDisabled, Bytes("signet-reader.socket".utf8),
        "signet-reader.socket is not enabled",
        why: "after the next start of the machine only passwords work",
        mend: "systemctl unmask signet-reader.socket; systemctl enable --now signet-reader.socket")

    /// The daemon does not answer.
    package static func serviceSilent(_ reason: Text) -> Finding {
        Finding(
            .serviceSilent, Bytes("signetd".utf8),
            reason,
            why: "only passwords work",
            mend: "systemctl restart signetd.socket signetd.service")
    }

    /// The daemon is of another version.
    package static func versionDaemon(_ version: Bytes, expected: Bytes) -> Finding {
        Finding(
            .versionDaemon, Bytes("signetd".utf8),
            "the daemon that runs is \(version), this command is \(expected)",
            why: "an upgrade is complete only when the daemon was started anew",
            mend: "systemctl try-restart signetd")
    }

    /// The module is of another version.
    package static func versionModule(
        _ version: Bytes, expected: Bytes, path: Bytes
    ) -> Finding {
        Finding(
            .versionModule, path,
            "the module \(path) is of version \(version), this command is \(expected)",
            why: "module and daemon may not understand each other. Install both anew",
            mend: "apt-get install --reinstall libpam-signet signet")
    }

    /// The configuration was refused.
    package static func configurationRefused(_ fault: Bytes) -> Finding {
        Finding(
            .configurationRefused, Bytes("/etc/signet/signet.conf".utf8),
            "the configuration was refused: \(fault)",
            why: "the defaults are in force, not what was written there. Correct it, then restart",
            mend: "signet config --check; systemctl try-restart signetd")
    }

    /// The running daemon has other settings than the files.
    package static func configurationOld(_ names: Bytes) -> Finding {
        Finding(
            .configurationOld, Bytes("/etc/signet/signet.conf".utf8),
            "the running daemon does not use what the files say: \(names)",
            why: "it reads them when it starts",
            mend: "systemctl try-restart signetd")
    }

    /// The file behind `server=` is not one; `place` is a file, or a file and line.
    package static func serverFile(services: Bytes, place: Bytes, file: Bytes) -> Finding {
        Finding(
            .serverFile, file,
            "\(services): the file of the server that logins are to be at cannot be used: \(place)",
            why: """
                no touch lets in there, only the password. The file is missing, or that line of it \
                has a mistake: 'signet-server admin application pam-file' prints a good one
                """,
            mend: edit(file))
    }

    /// Nobody has the name that the file behind `server=` has among its accounts.
    package static func serverFileAccount(
        _ name: Bytes, services: Bytes, file: Bytes
    ) -> Finding {
        Finding(
            .serverFileAccount, name,
            "\(services): there is no account \(name) on this machine, which \(file) names",
            why: "whom it means logs in there by a touch alone, without the server. Correct it",
            mend: edit(file))
    }

    /// The same of a group.
    package static func serverFileGroup(
        _ name: Bytes, services: Bytes, file: Bytes
    ) -> Finding {
        Finding(
            .serverFileGroup, name,
            "\(services): there is no group \(name) on this machine, which \(file) names",
            why: """
                nobody can tell whom it means, so no touch lets in there, until the name is right, \
                or the directory that knows it answers
                """,
            mend: edit(file))
    }
}
