// SPDX-License-Identifier: Apache-2.0
import Configuration
import ConfigurationFiles
import Domain
import SSHAgentProtocol

/// What a user has set in `~/.config/signet/agent.conf`.
///
/// A file with a mistake is rejected as a whole, and the agent then does not start: the line that was
/// not understood may be the one that forbids something.
package struct AgentSettings: Sendable {
    /// The socket of the agent for all other keys; nil if there is none.
    package var upstream: String?
    /// Whether programs that do not say which session they ask for may have logins signed.
    package var allowsUnbound = true
    /// Whether requests are signed that have come over a forwarded connection and do not say where
    /// they lead.
    package var allowsUnnamedForwarding = false
    /// Where keys with these names may be used; keys that are not named may be used anywhere.
    package var destinations: [SSHKeyName: [DestinationRule]] = [:]

    /// The settings without a file.
    package init() {}

    private static let section = "agent"

    private static let upstreamSetting = Setting(
        section: section, key: "upstream", standard: .word("none"), accepts: .text(255),
        purpose: "the socket of the agent that all other keys are passed on to")
    private static let unboundSetting = Setting(
        section: section, key: "unbound", standard: .word("yes"), accepts: .choice(["yes", "no"]),
        purpose: "sign logins for programs that do not say which session they ask for")
    private static let unnamedSetting = Setting(
        section: section, key: "unnamed-forwarding", standard: .word("no"),
        accepts: .choice(["yes", "no"]),
        purpose: "sign for forwarded connections that do not say where they lead")
    private static let destinationsSetting = Setting(
        section: section, key: "destinations", standard: .words([]), accepts: .words,
        purpose: "where keys may be used: NAME:[FROM>][USER@]TO, with fingerprints of hosts")

    /// The table of settings.
    package static let table = [
        upstreamSetting, unboundSetting, unnamedSetting, destinationsSetting,
    ]

    /// Reads a file, which only its owner or root may have written; one that is missing changes
    /// nothing.
    package static func load(
        _ file: String, owner: UInt32
    ) throws(ConfigurationFault) -> AgentSettings {
        try AgentSettings(
            ConfigurationFiles.load(file, table: table, owner: owner), file: file)
    }

    /// Takes the values of a configuration; throws for a destination that is malformed.
    package init(_ values: Configuration, file: String) throws(ConfigurationFault) {
        let path = values.word(Self.upstreamSetting)
        if path != "none" {
            guard path.hasPrefix("/") else {
                throw ConfigurationFault(
                    file: file, line: 0,
                    problem:
                        "'upstream' is '\(path)': it takes an absolute path, in which ~ and %h are not expanded, or none"
                )
            }
            upstream = path
        }
        allowsUnbound = values.word(Self.unboundSetting) == "yes"
        allowsUnnamedForwarding = values.word(Self.unnamedSetting) == "yes"
        for word in values.words(Self.destinationsSetting) {
            let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = SSHKeyName([UInt8](parts[0].utf8)),
                let rule = DestinationRule(String(parts[1]))
            else {
                throw ConfigurationFault(
                    file: file, line: 0,
                    problem:
                        "'\(word)' is no destination: it is NAME:[FROM>][USER@]TO, with SHA256 fingerprints as hosts"
                )
            }
            destinations[name, default: []].append(rule)
        }
    }
}
