// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import Posix
import SQL
import Systemd

/// Why the server cannot start.
enum StartFault: Error {
    case configuration(ConfigurationFault)
    case file(FileFault)
    /// The master secret does not have the required length.
    case masterSecret(path: String, count: Int)
    case database(DatabaseFault)
    /// The database is empty, although there is a master secret.
    case newDatabase(database: String, secret: String)
    /// The database is in use, but there is no master secret.
    case noMasterSecret(database: String, secret: String)
    /// `--new` was given, but the database is in use.
    case usedDatabase(String)
    /// The signing keys cannot be used; `secret` is the path of the master secret.
    case keys(KeyFault, secret: String)
    case http(ServerFault)
    /// A certificate that is to be reloaded has expired or is not valid yet.
    case outOfTime(String, CertificateValidity)
    /// Plain HTTP would be reachable from other machines.
    case plain(address: String)
    /// A socket passed by systemd is not suitable.
    case socket(ActivationFault)
    /// `metrics.listen` is not an address and port.
    case metricsPlace(String)
    /// An entry of `rate.networks` has a mistake, and what it is.
    case networkRate(entry: String, String)
    /// An entry of `callback.networks` has a mistake, and what it is.
    case callbackNetwork(entry: String, String)
    /// `server.url` is not a URL that a device could call.
    case url(String)
    /// A certificate without a key, or a key without a certificate.
    case halfIdentity
    /// The file of those who certify TPMs has no certificate, or a damaged one.
    case authorities(String)
    /// A server cannot be tried out there, or not with these settings.
    case trial(String)

    /// One line for the administrator.
    var text: String {
        switch self {
        case .configuration(let fault): fault.text
        case .file(let fault): "\(fault)"
        case .masterSecret(let path, let count):
            """
            the master secret \(path) has \(count) bytes, not \(MasterSecret.count): \
            put the right one back
            """
        case .database(let fault): "\(fault)"
        case .newDatabase(let database, let secret):
            """
            the database (\(database)) is empty, but the master secret \(secret) is there: put the \
            database back, restore a backup, or correct the settings; to begin with an empty \
            database and this master secret, start once with --new
            """
        case .noMasterSecret(let database, let secret):
            """
            the master secret \(secret) is missing, but the database (\(database)) is in use: put \
            back the one that it was made with, or correct the settings; none was created
            """
        case .usedDatabase(let database):
            "the database (\(database)) is in use, not new: start without --new"
        case .keys(.sealedOtherwise, let secret):
            """
            the keys in the database were sealed with another master secret than \(secret): put the \
            right one back
            """
        case .keys(let fault, _): "no keys to sign with: \(fault)"
        case .http(let fault): "\(fault)"
        case .outOfTime(let path, let validity):
            """
            the certificate \(path) is valid from \(shown(validity.begins)) to \
            \(shown(validity.ends)), not now: install a valid one
            """
        case .socket(.unsuitable(let number)):
            """
            the socket passed by systemd (descriptor \(number)) is not a single listening TCP \
            socket, or has no loopback address although there is no certificate: see the socket unit
            """
        case .socket(.malformed(let code)):
            "the sockets passed by systemd could not be read: error \(code)"
        case .metricsPlace(let text):
            "metrics.listen is '\(text)': write an address and port, such as 127.0.0.1:9464, or none"
        case .networkRate(let entry, let problem): "rate.networks: '\(entry)': \(problem)"
        case .callbackNetwork(let entry, let problem): "callback.networks: '\(entry)': \(problem)"
        case .url(let url):
            """
            server.url is '\(url)', which devices cannot use: write https://host[:port][/path] in \
            ASCII
            """
        case .trial(let text): text
        case .authorities(let path):
            """
            attestation.authorities is \(path), which has no certificate that can be read: put the \
            certificates of those who certify TPMs there, in PEM
            """
        case .halfIdentity:
            "only one of listen.certificate and listen.key is set: set both or neither"
        case .plain(let address):
            """
            plain HTTP is refused on '\(address)', which is not a loopback address: set \
            listen.certificate and listen.key, or listen on 127.0.0.1 behind a reverse proxy
            """
        }
    }
}
