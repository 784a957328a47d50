// SPDX-License-Identifier: Apache-2.0
/// PAM services that authenticate remote clients, by the names that programs pass to libpam.
///
/// Not all of them set PAM_RHOST, and most open no session, so only the name reveals that the
/// client is remote. Such a service must never receive the login password of the user at the
/// machine.
enum NetworkService {
    /// Whether a service is one of them, by its full name or by a prefix.
    static func has(_ service: String) -> Bool {
        names.contains(service) || families.contains { service.hasPrefix($0) }
    }

    /// Prefixes of programs that run in several instances, each with its own service, such as
    /// `openvpn-office`.
    private static let families = ["openvpn", "sshd-", "vsftpd", "xrdp", "vnc", "samba", "dovecot"]

    private static let names: Set<String> = Set(
        """
        sshd dropbear rlogin rsh rexec remote telnet telnetd ftp ftpd proftpd pure-ftpd \
        ocserv strongswan charon ppp pptpd l2tp radiusd freeradius tacacs squid \
        imap imap4 imaps imapd pop pop3 pop3s smtp smtps smtpd sieve managesieve nntp lmtp \
        cyrus courier exim exim4 postfix sendmail saslauthd xmpp ejabberd prosody mumble-server \
        smb netatalk cups cockpit webmin usermin ajaxterm httpd apache apache2 nginx lighttpd \
        rstudio jupyterhub guacd tigervnc x2go nxserver uucp mysql mariadb postgresql mongodb \
        gitlab gitea forgejo system-remote-login
        """.split(separator: " ").map(String.init))
}
