// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A fault that is planted on a sound machine, and what the doctor has to say about it.
struct Plant: Sendable, CustomStringConvertible {
    /// How it is undone.
    enum Undoing: Sendable {
        /// The command that the finding names does it.
        case mend
        /// A line for the shell.
        case line(String)
        /// The stacks are written anew.
        case services
        /// The state is put back, under a new daemon.
        case state
        /// The daemon is started anew.
        case restart
    }

    /// The finding's code.
    let code: String
    /// The path, service or account that the finding is about; nil where that says nothing.
    let subject: String?
    /// The shell's line that plants it.
    let line: String
    let undoing: Undoing

    init(_ code: String, _ subject: String? = nil, _ line: String, _ undoing: Undoing = .mend) {
        self.code = code
        self.subject = subject
        self.line = line
        self.undoing = undoing
    }

    var description: String { "\(code): \(line)" }

    private static let pam = "/etc/pam.d"
    private static let state = "/var/lib/signet"
    private static let key = "/var/lib/signet/keys/4242.pub"
    private static let account = "/var/lib/signet/private/accounts/4242"
    private static let touch = "auth [success=done conv_err=die default=ignore] pam_signet.so"

    /// The doctor's command shows the fingers; what comes after that is typed here.
    private static let reissue = Undoing.line("rm -f \(key); signet enable --account alice")

    /// A socket that systemd does not open at the machine's start; the other one it does.
    private static func disabled(_ code: String, _ socket: String, but other: String) -> Plant {
        let units = "/run/systemd/system"
        return Plant(
            code, socket,
            "mkdir -p \(units)/sockets.target.wants; touch \(units)/sockets.target.wants/\(other)",
            .line("rm -r \(units)"))
    }

    private static func sudo(_ code: String, _ lines: String) -> Plant {
        Plant(code, "sudo", "printf '\(lines)\\n' > \(pam)/sudo", .services)
    }

    /// Names in a file behind `server=` that has no other mistake.
    private static func serverFile(_ code: String, _ subject: String, _ names: String) -> Plant {
        let key =
            "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBtzqt6Y9Rig+def9i7tL8VFKsZhCCAac3RA"
            + "IU9QiQtXf7zJa6lqQ9IcSoiql9Lj5ML+t/ffxB/9XDx0qcJ20Bc="
        let file = "/etc/signet/corp"
        return Plant(
            code, subject,
            "printf 'url = https://id.example.org\\naudience = corp\\nkey = ecdsa-sha2-nistp256 "
                + "\(key)\\naccounts = \(names)\\n' > \(file); chmod 644 \(file); printf "
                + "'\(touch) server=\(file)\\n@include common-auth\\n' > \(pam)/sudo",
            .services)
    }

    /// A line below `[login]`.
    private static func lists(_ code: String, _ subject: String, _ line: String) -> Plant {
        let file = "/etc/signet/signet.conf"
        return Plant(
            code, subject, "printf '[login]\\n\(line)\\n' > \(file); chmod 644 \(file)",
            .line("rm \(file)"))
    }

    /// What `login.without-logind` says, on a machine where logind does not run.
    private static func withoutLogind(_ code: String, _ word: String) -> Plant {
        let file = "/etc/signet/signet.conf"
        return Plant(
            code, "login.without-logind",
            "mv /run/systemd/seats /run/seats; printf '[login]\\nwithout-logind = \(word)\\n' "
                + "> \(file); chmod 644 \(file)",
            .line("mv /run/seats /run/systemd/seats; rm \(file)"))
    }

    /// Faults of the stacks.
    static let stacks = [
        Plant("stack-carriage-return", "sudo", "sed -i 's/$/\\r/' \(pam)/sudo"),
        Plant(
            "stack-cut", "sudo", "printf 'auth optional pam_env.so \\\\' >> \(pam)/sudo", .services),
        sudo(
            "factor-skipped",
            "\(touch)\\n@include common-auth\\nauth required pam_google_authenticator.so"),
        sudo("password-unreachable", "auth required pam_signet.so\\n@include common-auth"),
        sudo(
            "password-unreachable",
            "auth [success=done default=die] pam_signet.so\\n@include common-auth"),
        sudo("no-password", "\(touch)\\nauth requisite pam_deny.so"),
        sudo(
            "stack-open",
            "\(touch)\\nauth sufficient pam_unix.so\\nauth required pam_permit.so"),
        sudo("long-jump", "auth [success=9 default=ignore] pam_signet.so\\n@include common-auth"),
        sudo("touch-not-enough", "auth optional pam_signet.so\\n@include common-auth"),
        sudo("gate-skipped", "\(touch)\\nauth requisite pam_nologin.so\\n@include common-auth"),
        sudo("module-twice", "\(touch)\\n\(touch)\\n@include common-auth"),
        sudo(
            "other-fingerprint", "auth sufficient pam_fprintd.so\\n\(touch)\\n@include common-auth"),
        sudo("wrong-type", "\(touch)\\n@include common-auth\\nsession optional pam_signet.so"),
        sudo("module-option", "\(touch) timeuot=5\\n@include common-auth"),
        sudo("wait-before-password", "\(touch) wait\\n@include common-auth"),
        Plant(
            "server-file", "/etc/signet/corp",
            "printf '\(touch) server=/etc/signet/corp\\n@include common-auth\\n' > \(pam)/sudo",
            .services),
        serverFile("server-file-account", "aliec", "alice aliec"),
        serverFile("server-file-group", "no-such-group", "@no-such-group"),
        serverFile("server-unregistered", "alice", "alice"),
        serverFile("relay-missing", "/run/signet/relay.sock", "alice"),
        sudo("stack-broken", "\(touch)\\nauht required pam_unix.so\\n@include common-auth"),
        sudo("include-missing", "\(touch)\\n@include gone"),
        sudo("include-loop", "\(touch)\\n@include sudo"),
        sudo(
            "password-lost-after-mismatch",
            "auth [success=done maxtries=die default=ignore] pam_signet.so\\n@include common-auth"),
        sudo("password-unasked", "\(touch)\\nauth required pam_sss.so use_first_pass"),
        sudo(
            "password-shadowed",
            "\(touch)\\nauth requisite pam_unix.so\\nauth sufficient pam_sss.so use_first_pass"
                + "\\nauth required pam_deny.so"),
        sudo(
            "password-lost-after-fault",
            "auth [success=done conv_err=die authinfo_unavail=ignore auth_err=ignore "
                + "maxtries=ignore default=bad] pam_signet.so\\n@include common-auth"),
        sudo(
            "fingers-counted",
            "auth [success=done auth_err=2 maxtries=2 default=ignore] pam_signet.so\\nauth "
                + "sufficient pam_unix.so\\nauth requisite pam_deny.so\\nauth [default=die] "
                + "pam_faillock.so authfail"),
        sudo(
            "failures-stay",
            "\(touch)\\nauth [success=1 default=bad] pam_unix.so\\nauth [default=die] "
                + "pam_faillock.so authfail\\nauth sufficient pam_faillock.so authsucc"),
        sudo("socket-elsewhere", "\(touch) socket=/run/x.sock\\n@include common-auth"),
        sudo("module-misspelt", "\(touch)\\nauth optional pam_singet.so\\n@include common-auth"),
        sudo(
            "stack-tangled",
            (0..<14).map { "auth optional pam_strange\($0).so\\n" }.joined()
                + "\(touch)\\n@include common-auth"),
        sudo("touch-behind-password", "auth requisite pam_unix.so\\nauth required pam_signet.so"),
        sudo(
            "released-password", "auth required pam_signet.so keyring\\nauth required pam_unix.so"),
        sudo("keyring-unlisted", "\(touch) keyring\\n@include common-auth"),
        Plant(
            "keyring-missing", "login",
            "printf 'auth [success=1 conv_err=die default=ignore] pam_signet.so\\nauth requisite "
                + "pam_unix.so\\nauth required pam_permit.so\\nauth optional pam_kwallet5.so\\n' "
                + "> \(pam)/login", .services),
        sudo(
            "prompt-after-touch",
            "auth [success=1 conv_err=die default=ignore] pam_signet.so\\nauth requisite "
                + "pam_unix.so\\nauth required pam_permit.so\\nauth optional pam_exec.so "
                + "expose_authtok /bin/true"),
        Plant(
            "prompt-without-keyring", "login",
            "printf 'auth [success=1 conv_err=die default=ignore] pam_signet.so keyring\\nauth "
                + "requisite pam_unix.so\\nauth required pam_permit.so\\nauth optional "
                + "pam_kwallet5.so\\n' > \(pam)/login", .services),
        Plant(
            "keyring-remote", "openvpn",
            "printf '\(touch) keyring\\nauth required pam_unix.so\\n' > \(pam)/openvpn",
            .line("rm \(pam)/openvpn")),
        Plant(
            "network-line", "tigervnc",
            "printf '\(touch)\nauth required pam_unix.so\n' > \(pam)/tigervnc",
            .line("rm \(pam)/tigervnc")),
        Plant(
            "typing-blocked", "lightdm",
            "printf '\(touch)\\n@include common-auth\\n' > \(pam)/lightdm",
            .line("rm \(pam)/lightdm")),
        Plant(
            "fprintd-profile", "fprintd",
            "mkdir -p /var/lib/pam; echo 'Module: fprintd' > /var/lib/pam/auth",
            .line("rm /var/lib/pam/auth")),
        Plant(
            "module-unused", nil,
            "for s in sudo su login xlock; do "
                + "printf '@include common-auth\\n' > \(pam)/$s; done", .services),
        Plant("password-stack-missing", nil, "rm \(pam)/signet"),
        Plant(
            "password-stack-recursive", nil,
            "printf '\(touch)\\nauth required pam_unix.so\\n' "
                + "> \(pam)/signet"),
        Plant("password-stack-open", nil, "echo 'auth required pam_permit.so' > \(pam)/signet"),
        Plant("password-stack-closed", nil, "echo 'auth required pam_deny.so' > \(pam)/signet"),
    ]

    /// Faults of files, their owners and modes.
    static let files = [
        Plant("file-writable", "\(pam)/sudo", "chmod 666 \(pam)/sudo"),
        Plant("file-writable", "\(pam)/common-auth", "chmod 664 \(pam)/common-auth"),
        Plant("file-writable", pam, "chmod 777 \(pam)"),
        Plant("file-owner", "\(pam)/signet", "chown alice \(pam)/signet"),
        Plant("file-unreadable", "\(pam)/sudo", "chmod 600 \(pam)/sudo"),
        Plant("file-writable", "/var/lib", "chmod 777 /var/lib"),
        Plant("file-writable", "\(state)/keys", "chmod 777 \(state)/keys"),
        Plant("file-owner", key, "chown alice \(key)", reissue),
        Plant("file-unreadable", key, "chmod 600 \(key)"),
        Plant("file-exposed", "\(state)/private", "chmod 755 \(state)/private"),
        Plant("file-exposed", "\(account)/credential", "chmod 644 \(account)/credential", .state),
        Plant("file-writable", "\(account)/lockout", "chmod 666 \(account)/lockout"),
        Plant("file-linked", key, "ln \(key) /root/copy"),
        Plant(
            "file-kind", key, "mv \(key) /root/k && ln -s /root/k \(key)",
            .line("rm \(key); mv /root/k \(key)")),
        Plant(
            "file-kind", key, "mv \(key) /root/k && mkfifo \(key)",
            .line("rm \(key); mv /root/k \(key)")),
        Plant("file-foreign", "\(state)/keys/mine", "touch \(state)/keys/mine"),
        Plant("file-missing", "\(account)/lockout", "rm \(account)/lockout"),
        Plant("counter-missing", "\(account)/counter", "rm \(account)/counter", .state),
        Plant("key-damaged", key, "echo nonsense > \(key)", reissue),
        Plant(
            "key-of-another", key, "sed -i s/signet:alice:/signet:carol:/ \(key)",
            .line("sed -i s/signet:carol:/signet:alice:/ \(key)")),
        Plant("key-of-nobody", "\(state)/keys/59999.pub", "cp \(key) \(state)/keys/59999.pub"),
        Plant(
            "key-half-changed", "\(state)/keys/4242.next", "touch \(state)/keys/4242.next",
            .restart),
        Plant(
            "key-and-mark", "\(state)/keys/4242.off", "touch \(state)/keys/4242.off",
            .line("signet enable --account alice")),
        Plant("clock-behind", key, "touch -d tomorrow \(key)", .line("touch \(key)")),
    ]

    /// Faults of socket, daemon, settings, accounts and reader.
    static let service = [
        Plant("file-unreadable", "/run/signet/signetd.sock", "chmod 600 /run/signet/signetd.sock"),
        Plant("file-owner", "/run/signet/signetd.sock", "chown bob /run/signet/signetd.sock"),
        Plant("file-writable", "/run/signet", "chmod 777 /run/signet"),
        disabled("socket-disabled", "signetd.socket", but: "signet-reader.socket"),
        disabled("readers-disabled", "signet-reader.socket", but: "signetd.socket"),
        Plant(
            "readers-missing", "/run/signet/reader.sock",
            "mv /run/signet/reader.sock /run/signet/gone",
            .line("mv /run/signet/gone /run/signet/reader.sock")),
        Plant(
            "configuration-refused", nil, "echo '[touhc]' > /etc/signet/signet.conf",
            .line("rm /etc/signet/signet.conf")),
        Plant(
            "configuration-old", nil,
            "printf '[touch]\\ntimeout = 7s\\n' > /etc/signet/signet.conf; "
                + "chmod 644 /etc/signet/signet.conf", .line("rm /etc/signet/signet.conf")),
        Plant(
            "file-writable", "/etc/signet/signet.conf",
            "touch /etc/signet/signet.conf; chmod 666 /etc/signet/signet.conf"),
        lists("others-allowed", "login.others", "others = warn"),
        withoutLogind("anyone-allowed", "any"), withoutLogind("terminals-allowed", "terminals"),
        lists("seatless-allowed", "login.without-seat", "without-seat = allow"),
        lists("locker-remote", "tigervnc", "lockers = i3lock, tigervnc"),
        lists("terminal-ambiguous", "python3", "terminals = default, python3"),
        lists("grants-allowed", "ssh.grants", "[ssh]\\ngrants = allow"),
        lists("service-unknown", "sduo", "services = !sduo"),
        lists("account-unknown", "aliec", "accounts = !root, !aliec"),
        lists("group-unknown", "no-such-group", "groups = no-such-group"),
        lists("denied-group-unknown", "no-such-group", "groups = !no-such-group"),
        lists("group-empty", "nogroup", "groups = nogroup"),
        lists("root-admitted", "login.accounts", "accounts = !bob"),
        lists("accept-unused", "x y", "[doctor]\\naccept = x y: z"),
        lists("accept-malformed", "x y", "[doctor]\\naccept = x y"),
        lists("unit-malformed", "sddm", "display-managers = sddm"),
        lists("keyring-service-unknown", "lgoin", "[keyring]\\nservices = lgoin"),
        lists("setting-obsolete", "/etc/signet/signet.conf", "[keyring]\\nexcept = sudo"),
        Plant("logins-closed", "/etc/nologin", "touch /etc/nologin", .line("rm /etc/nologin")),
        Plant("login-disabled", "alice", "signet disable --account alice", .state),
        Plant(
            "many-accounts", nil,
            "cp /etc/passwd /root/passwd; for uid in $(seq 60001 60070); do "
                + "echo \"user$uid:x:$uid:$uid::/:/bin/sh\" >> /etc/passwd; "
                + "cp \(key) \(state)/keys/$uid.pub; done",
            .line("cat /root/passwd > /etc/passwd; rm \(state)/keys/600*.pub")),
        Plant("credential-invalid", "alice", "rm \(account)/prints/*", .state),
        Plant(
            "locked-out", "alice",
            "printf 'signet-lockout: 1\\nfailures: 20\\n' > \(account)/lockout"),
        Plant(
            "prints-damaged", "alice", "for f in \(account)/prints/*; do echo x >> $f; done", .state
        ),
        Plant(
            "fprintd-running", "fprintd",
            "cp /bin/sleep /usr/local/bin/fprintd; "
                + "/usr/local/bin/fprintd 600 > /dev/null 2>&1 & echo $! > /run/fprintd.pid",
            .line(
                "read pid < /run/fprintd.pid; kill $pid; "
                    + "tail --pid=$pid -s 0.1 -f /dev/null")),
        Plant(
            "tpm-access", "/dev/tpmrm0", "mknod -m 600 /dev/tpmrm0 c 10 224; chown bob /dev/tpmrm0",
            .line("rm /dev/tpmrm0")),
        Plant(
            "tpm-unused", "file", "mknod -m 660 /dev/tpmrm0 c 10 224", .line("rm /dev/tpmrm0")),
        Plant(
            "journal-alert", "signetd",
            "printf '#!/bin/sh\\nprintf \"PRIORITY=1\\\\nMESSAGE=refused\\\\n\\\\n\"\\n' "
                + "> /run/journalctl; chmod 755 /run/journalctl; "
                + "mount --bind /run/journalctl /usr/bin/journalctl",
            .line("umount /usr/bin/journalctl")),
    ]
}
