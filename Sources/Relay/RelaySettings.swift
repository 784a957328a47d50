// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import ConfigurationFiles
import HTTPClient
import Policy
import Posix
import Synchronization

/// Answers by what the configuration says at that time: an authority that is withdrawn, or a new pin,
/// counts from the next request on.
final class RelaySettings: Sendable {
    /// The most bytes of a file of authorities that are compared.
    private static let mostAuthorities = 4 << 20
    private let path: String
    /// The relay of the settings that were read last, which keeps its connections while they stay.
    private let current = Mutex<(settings: ClientConfiguration, relay: Relay)?>(nil)

    /// With the configuration in a file and its drop-ins.
    init(_ path: String) {
        self.path = path
    }

    /// With a mistake in the configuration nothing is sent: it may be the line that says whom to trust.
    func answers(_ request: RelayRequest) -> [RelayAnswer] {
        let settings: ClientConfiguration
        do throws(ConfigurationFault) {
            settings = Self.withAuthorities(
                ClientConfiguration(try ConfigurationFiles.load(path)))
        } catch {
            complain("signet-relay: \(error.text)")
            return [.failed(error.text, isRepeatable: true)]
        }
        return relay(settings).answers(request)
    }

    /// With the authorities themselves in the place of their file, which may change under its name; one
    /// that cannot be read is libcurl's to complain of.
    private static func withAuthorities(_ settings: ClientConfiguration) -> ClientConfiguration {
        guard case .file(let path) = settings.authorities,
            let bytes = FileLook.beginning(of: path, cap: mostAuthorities + 1),
            !bytes.isEmpty, bytes.count <= mostAuthorities
        else { return settings }
        var settings = settings
        settings.authorities = .certificates(bytes)
        return settings
    }

    private func relay(_ settings: ClientConfiguration) -> Relay {
        current.withLock { current in
            if let current, current.settings == settings { return current.relay }
            let relay = Relay(settings)
            current = (settings, relay)
            return relay
        }
    }
}
