// SPDX-License-Identifier: Apache-2.0
import Configuration
import ConfigurationFiles
import HTTPClient

// The limits and the trust of connections to servers, from `[relay]` in signet.conf(5) alone. No
// environment variable has a say, so a caller cannot redirect requests.
extension ClientConfiguration {
    /// The maximum size in bytes of an answer other than a list: tokens and a verdict, with
    /// reserve.
    private static let bodyBytes = 32 * 1_024

    /// Takes the settings of the section `[relay]`, and nothing from the environment.
    package init(_ settings: Configuration) {
        self.init()
        let authorities = settings.word(Settings.relayAuthorities)
        if authorities != "system" { self.authorities = .file(authorities) }
        let pin = settings.word(Settings.relayPin)
        if pin != "none" { pinnedKey = pin }
        let proxy = settings.word(Settings.relayProxy)
        if proxy != "none" { self.proxy = .url(proxy) }
        connectLimit = settings.duration(Settings.relayConnectTimeout) ?? connectLimit
        totalLimit = settings.duration(Settings.relayTimeout) ?? totalLimit
        bodyLimit = Self.bodyBytes
    }
}
