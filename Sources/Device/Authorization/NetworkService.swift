// SPDX-License-Identifier: Apache-2.0
import Domain

/// PAM services and programs that speak for users of other machines.
///
/// Not all of them set PAM_RHOST, and most open no session, so only the name reveals that the user
/// is elsewhere: of a VNC server, which runs in the session of the user at the machine and asks PAM
/// about its viewer; of a web terminal; of a mail server. None gets a touch, and none may receive
/// the login password of the user at the machine.
package enum NetworkService {
    /// Whether a service is one of them, by its full name or by a prefix.
    package static func has(_ service: String) -> Bool {
        let name = service.lowercased()
        return names.contains(name) || families.contains { name.hasPrefix($0) }
    }

    /// Whether a service is one of them; a name that is not UTF-8 is none of theirs.
    package static func has(_ service: ServiceName) -> Bool {
        guard let name = String(validating: service.bytes, as: UTF8.self) else { return false }
        return has(name)
    }

    /// Whether a program, as it calls itself (comm of proc(5), at most 15 bytes), is one of them.
    ///
    /// The name proves nothing about a program that hides. It is for the program that was given
    /// another service's name.
    package static func hasProgram(_ name: [UInt8]) -> Bool {
        guard let name = String(validating: name, as: UTF8.self)?.lowercased() else { return false }
        return programs.contains(name) || programFamilies.contains { name.hasPrefix($0) }
    }

    /// Prefixes of programs that run in several instances, each with its own service, such as
    /// `openvpn-office`.
    private static let families = [
        "openvpn", "sshd-", "vsftpd", "xrdp", "vnc", "samba", "dovecot", "cockpit", "dcv",
        "gnome-remote-desktop", "nomachine", "nxserver", "jupyter", "webmin", "proxmox",
    ]

    private static let names: Set<String> = Set(
        """
        sshd dropbear rlogin rsh rexec remote telnet telnetd ftp ftpd proftpd pure-ftpd \
        ocserv strongswan charon ppp pptpd l2tp radiusd freeradius tacacs squid \
        imap imap4 imaps imapd pop pop3 pop3s smtp smtps smtpd sieve managesieve nntp lmtp \
        cyrus courier exim exim4 postfix sendmail saslauthd xmpp ejabberd prosody mumble-server \
        smb netatalk cups usermin ajaxterm httpd apache apache2 nginx lighttpd \
        rstudio guacd x2go uucp mysql mariadb postgresql mongodb \
        gitlab gitea forgejo system-remote-login \
        tigervnc turbovnc x11vnc x0vncserver wayvnc neatvnc krfb krdp krdpserver \
        weston-remote-access xpra rustdesk anydesk teamviewer sunshine spice nx \
        shellinabox shellinaboxd ttyd gotty wetty code-server cpanel plesk ajenti
        """.split(separator: " ").map(String.init))

    private static let programFamilies = [
        "x0tigervnc", "xtigervnc", "xvnc", "x11vnc", "x0vnc", "wayvnc", "vncserver", "xrdp", "krdp",
        "gnome-remote-d", "cockpit", "jupyter", "dcv", "nxserver", "nxnode",
    ]

    private static let programs: Set<String> = Set(
        """
        krfb xpra rustdesk sunshine ttyd gotty wetty shellinaboxd code-server code-tunnel \
        sshd sshd-session dropbear telnetd in.telnetd mosh-server openvpn saslauthd
        """.split(separator: " ").map(String.init))
}
