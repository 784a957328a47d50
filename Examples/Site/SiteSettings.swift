// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPClient
import HTTPServer
import Posix

/// The site's settings; Examples/site.conf describes each one.
package struct SiteSettings: Sendable {
    /// The site's address as browsers use it.
    let origin: SiteAddress
    /// The numeric address to listen on.
    let address: String
    let port: UInt16
    /// The certificate for HTTPS; nil for plain HTTP on a loopback address.
    let identity: ServerConfiguration.Identity?
    /// Whether `X-Forwarded-For` comes from a proxy that can be trusted.
    let trustsProxy: Bool
    /// How many sign-ins an address may begin per minute.
    let rate: Int
    /// How long a browser stays signed in, in seconds.
    let sessionSeconds: Int64
    /// The URL of signet-server, without a slash at its end.
    let server: String
    /// The limits and certificate authorities for calls to signet-server.
    let client: ClientConfiguration
    /// The application's API key.
    let key: String
    /// The name of the application's template for logins.
    let template: String

    /// Reads the configuration file, and the files that it names.
    ///
    /// They must belong to root or the program's own user, and the secret ones must be readable by
    /// their owner alone. Plain HTTP is accepted only on a loopback address.
    ///
    /// - Throws: a fault that says what is wrong, and what to do about it.
    package init(file path: String) throws(SettingsFault) {
        let settings = try Self.configuration(path)
        let origin = settings.word(Row.url)
        guard let origin = SiteAddress(origin) else {
            throw SettingsFault(
                """
                site.url is '\(origin)': write https:// and a host, or http://localhost with its \
                port, without a path
                """)
        }
        self.origin = origin
        address = settings.word(Row.address)
        port = UInt16(clamping: settings.count(Row.port))
        trustsProxy = settings.word(Row.proxy) == "trusted"
        rate = settings.count(Row.rate)
        sessionSeconds = Int64(settings.count(Row.session))
        template = settings.word(Row.template)
        identity = try Self.identity(settings)
        guard identity != nil || address == "::1" || address.hasPrefix("127.") else {
            throw SettingsFault(
                """
                plain HTTP is refused on '\(address)', which is not a loopback address: set \
                site.certificate and site.key
                """)
        }
        let url = settings.word(Row.server)
        guard url.hasPrefix("https://") || SiteAddress(url) != nil else {
            throw SettingsFault("server.url is '\(url)': write https:// and the server's host")
        }
        server = String(url.hasSuffix("/") ? url.dropLast() : url[...])
        var client = ClientConfiguration()
        client.allowsPlain = url.hasPrefix("http://")
        client.totalLimit = .seconds(5)
        if settings.word(Row.authorities) != "system" {
            client.authorities = .file(settings.word(Row.authorities))
        }
        self.client = client
        let key = try Self.read(settings.word(Row.apiKey), isPrivate: true)
        self.key = String(decoding: key.filter { $0 > 0x20 && $0 < 0x7f }, as: UTF8.self)
    }

    private static func identity(
        _ settings: Configuration
    ) throws(SettingsFault) -> ServerConfiguration.Identity? {
        let (certificate, key) = (settings.word(Row.certificate), settings.word(Row.key))
        guard (certificate == "none") == (key == "none") else {
            throw SettingsFault(
                "only one of site.certificate and site.key is set: set both or neither")
        }
        guard certificate != "none" else { return nil }
        let chain = try read(certificate)
        var secret = try read(key, isPrivate: true)
        do throws(SystemFault) {
            return ServerConfiguration.Identity(
                chain: chain, key: try SecretBytes(moving: &secret))
        } catch { throw SettingsFault("\(error)") }
    }

    private static func configuration(_ path: String) throws(SettingsFault) -> Configuration {
        let text = try read(path)
        do throws(ConfigurationFault) {
            return try Configuration(Row.all, files: [(path, text)])
        } catch { throw SettingsFault(error.text) }
    }

    private static func read(
        _ path: String, isPrivate: Bool = false
    ) throws(SettingsFault) -> [UInt8] {
        do throws(FileFault) {
            return try TrustedFile.read(
                path, owner: effectiveUID(), isPrivate: isPrivate, cap: 65_536)
        } catch { throw SettingsFault(error.description) }
    }
}

/// Why the settings cannot be used, in words for the administrator.
package struct SettingsFault: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The rows of the configuration.
private enum Row {
    static let url = text("site", key: "url", standard: "http://localhost:8080")
    static let address = text("site", key: "address", standard: "127.0.0.1")
    static let port = count("site", key: "port", standard: 8080, range: 0...65_535)
    static let certificate = text("site", key: "certificate", standard: "none")
    static let key = text("site", key: "key", standard: "none")
    static let proxy = Setting(
        section: "site", key: "proxy", standard: .word("none"),
        accepts: .choice(["none", "trusted"]), purpose: "")
    static let rate = count("site", key: "rate", standard: 30, range: 1...1_000_000)
    static let session = count("site", key: "session", standard: 1_800, range: 1...86_400)
    static let server = text("server", key: "url", standard: "https://localhost:8443")
    static let authorities = text("server", key: "authorities", standard: "system")
    static let apiKey = text("server", key: "api-key", standard: "/etc/signet/site.key")
    static let template = text("server", key: "template", standard: "sign-in")

    static let all = [
        url, address, port, certificate, key, proxy, rate, session, server, authorities, apiKey,
        template,
    ]

    private static func text(_ section: String, key: String, standard: String) -> Setting {
        Setting(
            section: section, key: key, standard: .word(standard), accepts: .text(256), purpose: "")
    }

    private static func count(
        _ section: String, key: String, standard: Int, range: ClosedRange<Int>
    ) -> Setting {
        Setting(
            section: section, key: key, standard: .count(standard), accepts: .count(range),
            purpose: "")
    }
}
