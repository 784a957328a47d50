// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import ConfigurationFiles
import HTTPClient
import Posix
import Synchronization

/// Answers requests according to the configuration at that moment.
///
/// The configuration and the file of authorities are read for each request, so a withdrawn
/// authority or a new pin takes effect with the next request. Connections are reused as long as
/// nothing has changed. Thread-safe.
final class RelaySettings: Sendable {
    /// The maximum size of a file of authorities that is read here, in bytes.
    private static let mostAuthorities = 4 << 20
    private let path: String
    /// The most recent settings with their relay, which keeps its connections until the settings
    /// change.
    private let current = Mutex<(settings: ClientConfiguration, relay: Relay)?>(nil)

    /// Prepares to read the configuration from this file and its drop-ins.
    init(_ path: String) {
        self.path = path
    }

    /// Answers a request.
    ///
    /// If the configuration has a mistake, nothing is sent, because the mistake may concern which
    /// server to trust; the answer is then `.unreachable` and may be repeated.
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

    /// Replaces the path of the authorities by the file's content, so that a change of the file is
    /// noticed.
    ///
    /// If the file cannot be read, is empty or has more than `mostAuthorities` bytes, the path
    /// stays, and libcurl reports any error.
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
