// SPDX-License-Identifier: Apache-2.0
import Configuration

/// The settings in /etc/signet/server.conf, each of which signet-server.conf(5) describes.
package enum ServerSettings {
    /// `server.url`: the public URL, which is the tokens' issuer and begins the default audiences.
    package static let url = Setting(
        section: "server", key: "url", standard: .word("https://localhost"),
        accepts: .text(200),
        purpose: "the public URL of the server; audiences and tokens start with it")
    /// `listen.address`: a numeric address; not used if systemd passes a socket.
    package static let address = Setting(
        section: "listen", key: "address", standard: .word("127.0.0.1"), accepts: .text(64),
        purpose: "the address to listen on; without a certificate, a loopback address")
    /// `listen.port`: 0 selects any free port; not used if systemd passes a socket.
    package static let port = Setting(
        section: "listen", key: "port", standard: .count(8443), accepts: .count(0...65_535),
        purpose: "the port to listen on; 0 for any free port")
    /// `listen.certificate`: the path of the PEM chain, reloaded at SIGHUP.
    package static let certificate = Setting(
        section: "listen", key: "certificate", standard: .word("none"), accepts: .text(256),
        purpose: "a PEM file with the certificate chain; none for plain HTTP behind a proxy")
    /// `listen.key`: the path of the certificate's private key; required with a certificate.
    package static let key = Setting(
        section: "listen", key: "key", standard: .word("none"), accepts: .text(256),
        purpose: "a PEM file with the certificate's key, readable only by its owner")
    /// `listen.proxy`: whether `X-Forwarded-For` names the client.
    ///
    /// If so, `listen.connections-per-address` is not applied: all connections are the proxy's.
    package static let proxy = Setting(
        section: "listen", key: "proxy", standard: .word("none"),
        accepts: .choice(["none", "trusted"]),
        purpose: "whether to trust X-Forwarded-For: only if clients cannot bypass the proxy")
    /// `listen.path`: whether requests arrive with the path of `server.url`.
    package static let path = Setting(
        section: "listen", key: "path", standard: .word("removed"),
        accepts: .choice(["removed", "kept"]),
        purpose: "whether a path in server.url is kept or removed from the requests by the proxy")
    /// `listen.connections`: the maximum number of connections, each of which takes a descriptor.
    package static let connections = Setting(
        section: "listen", key: "connections", standard: .count(12_000),
        accepts: .count(16...100_000), purpose: "simultaneous connections")
    /// `listen.connections-per-address`: the limit per `PeerNetwork`; 0 disables it.
    package static let connectionsPerAddress = Setting(
        section: "listen", key: "connections-per-address", standard: .count(512),
        accepts: .count(0...100_000),
        purpose: "simultaneous connections per address; 0 means no limit")
    /// `listen.rate`: calls of each kind per minute and network (`CallLimits`), and the limit of
    /// `AuditQuota`.
    package static let rate = Setting(
        section: "listen", key: "rate", standard: .count(120), accepts: .count(1...1_000_000),
        purpose: "challenges, codes and proofs that do not hold, of one address a minute")
    /// `rate.networks`: networks with another rate than `listen.rate` (`NetworkRates`), or `none`.
    package static let networks = Setting(
        section: "rate", key: "networks", standard: .word("none"), accepts: .text(8_192),
        purpose: "networks with another rate, such as 192.0.2.0/24=600 2001:db8::/32=1200, or none")
    /// `database.kind`: the kind of database.
    ///
    /// SQLite uses `database.path`; PostgreSQL uses `database.connection` and
    /// `database.connections`.
    package static let databaseKind = Setting(
        section: "database", key: "kind", standard: .word("sqlite"),
        accepts: .choice(["sqlite", "postgresql"]),
        purpose: "SQLite in a file, or a PostgreSQL database that several servers may share")
    /// `database.path`: the file of an SQLite database.
    package static let databasePath = Setting(
        section: "database", key: "path", standard: .word("/var/lib/signet-server/server.db"),
        accepts: .text(256), purpose: "the SQLite file")
    /// `database.connection`: a connection string of libpq, which may contain a password.
    ///
    /// Commands that show settings hide it.
    package static let databaseConnection = Setting(
        section: "database", key: "connection",
        standard: .word("host=/run/postgresql dbname=signet"), accepts: .text(512),
        purpose: "the PostgreSQL connection string; put a password in a passfile")
    /// `database.connections`: connections for writing; a quarter as many are added for reading.
    package static let databaseConnections = Setting(
        section: "database", key: "connections", standard: .count(8), accepts: .count(1...256),
        purpose: "simultaneous connections to PostgreSQL")
    /// `keys.master`: the path of the master secret, which is created if it does not exist.
    package static let master = Setting(
        section: "keys", key: "master", standard: .word("/var/lib/signet-server/master-secret"),
        accepts: .text(256),
        purpose: "the file of 32 bytes that seals keys in the database; created if missing")
    /// `attestation.authorities`: the path of a PEM file with the certificates of those who certify
    /// TPMs, or `none`.
    package static let authorities = Setting(
        section: "attestation", key: "authorities", standard: .word("none"), accepts: .text(256),
        purpose: "a PEM file with the authorities that certify TPMs, or none")
    /// `log.format`: text or JSON, for all lines on standard error.
    package static let logFormat = Setting(
        section: "log", key: "format", standard: .word("text"), accepts: .choice(["text", "json"]),
        purpose: "the format of log lines: plain text or JSON")
    /// `log.requests`: which requests are logged; `problems` means a status of 400 or above.
    package static let logRequests = Setting(
        section: "log", key: "requests", standard: .word("all"),
        accepts: .choice(["all", "problems", "none"]),
        purpose: "which requests are logged: all, refused ones, or none")
    /// `audit.keep`: the age in days at which audit lines are deleted; 0 keeps them forever.
    package static let auditDays = Setting(
        section: "audit", key: "keep", standard: .count(0), accepts: .count(0...36_500),
        purpose: "how many days the audit trail is kept; 0 keeps it forever")
    /// `metrics.listen`: the separate address and port for figures (`MetricsAddress`), or `none`.
    package static let metrics = Setting(
        section: "metrics", key: "listen", standard: .word("none"), accepts: .text(64),
        purpose: "the address:port for only /metrics and /health, or none")

    /// `callback.networks`: networks that are not public, to which callbacks may still be sent
    /// (`CallbackNetworks`), or `none`.
    package static let callbackNetworks = Setting(
        section: "callback", key: "networks", standard: .word("none"), accepts: .text(4_096),
        purpose: "your own networks that callbacks may be sent to, such as 10.20.0.0/16, or none")
    /// `callback.authorities`: the path of a PEM file, or `system`.
    package static let callbackAuthorities = Setting(
        section: "callback", key: "authorities", standard: .word("system"), accepts: .text(256),
        purpose: "a PEM file with the authorities of receivers' certificates, or system")
    /// `callback.keep`: the age in hours at which an event that was not delivered is dropped.
    package static let callbackHours = Setting(
        section: "callback", key: "keep", standard: .count(72), accepts: .count(1...8_760),
        purpose: "for how many hours an event is sent again if its receiver fails")

    /// All settings, in the order in which they are shown.
    package static let all: [Setting] = [
        url, address, port, certificate, key, proxy, path, connections, connectionsPerAddress,
        rate, networks, databaseKind, databasePath, databaseConnection, databaseConnections, master,
        authorities, logFormat, logRequests, auditDays, metrics, callbackNetworks,
        callbackAuthorities, callbackHours,
    ]
}
