// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import LoginMessages
import LoginProtocol
import Systemd

/// The administrator's settings about presence.
struct PresencePolicy: Sendable {
    /// The requests that are accepted where logind does not run. The raw values appear in
    /// `signet.conf`.
    enum WithoutLogind: String, Sendable {
        case consoles = "consoles"
        case terminals = "terminals"
        case any = "any"
    }

    /// Whether a user may ask for a touch of another account's finger.
    let allowsOthers: Bool
    /// Whether local sessions without a seat are accepted.
    let allowsWithoutSeat: Bool
    /// The requirement for requests where logind does not run.
    let withoutLogind: WithoutLogind
    private let consoleUnits: Set<String>
    private let displayManagers: Set<String>

    /// Reads the settings; a word that is not known has the effect of the default.
    init(_ settings: Configuration) {
        allowsOthers = settings.word(Settings.loginOthers) == "warn"
        allowsWithoutSeat = settings.word(Settings.loginWithoutSeat) == Settings.allow
        withoutLogind =
            WithoutLogind(rawValue: settings.word(Settings.loginWithoutLogind)) ?? .consoles
        consoleUnits = Set(settings.words(Settings.loginConsoleUnits))
        displayManagers = Set(settings.words(Settings.loginDisplayManagers))
    }

    /// Whether a system unit logs users in at consoles; also matches the unit's template.
    func isConsoleUnit(_ unit: String) -> Bool { Self.contains(consoleUnits, unit: unit) }

    /// Whether a system unit is a display manager; also matches the unit's template.
    func isDisplayManager(_ unit: String) -> Bool { Self.contains(displayManagers, unit: unit) }

    private static func contains(_ units: Set<String>, unit: String) -> Bool {
        units.contains(unit) || units.contains(UnitName(unit).template)
    }
}

/// The accounts that a request may be for, as determined by the row of its verb and by the client.
package enum OtherAccounts: Sendable {
    /// Only the requester's own account.
    case refused
    /// The requester's own account, and others if `login.others` allows it.
    case asConfigured
    /// Any account; other code decides who may ask, as for root's commands.
    case allowed
}

/// A client's claims about its request. A claim can lead to a denial; only those of a root client
/// also name the requester or polkit's agent.
package struct PresenceClaims: Equatable, Sendable {
    /// The name of the PAM service.
    package var service: Bytes
    /// The remote host, PAM_RHOST.
    package var remoteHost: Bytes
    /// The requesting user, PAM_RUSER; empty for a client that is not root.
    package var requester: Bytes
    /// The pid of polkit's agent; nil for a client that is not root.
    package var agent: UInt32?
    /// The agent's uid when it connected to its helper; set if the helper runs as a system service.
    package var agentUser: UInt32?

    /// Creates claims from their values.
    package init(
        service: Bytes = [], remoteHost: Bytes = [], requester: Bytes = [], agent: UInt32? = nil,
        agentUser: UInt32? = nil
    ) {
        self.service = service
        self.remoteHost = remoteHost
        self.requester = requester
        self.agent = agent
        self.agentUser = agentUser
    }
}

extension Denial {
    /// The request is not known to come from a user at the machine; the text says what is missing.
    static func notAtMachine(_ detail: Text) -> Denial {
        Denial(.notAtMachine, subject: detail.bytes)
    }

    /// The request is for an account other than the requester's.
    static func other(_ requester: Requester) -> Denial {
        Denial(.otherRequester, subject: requester.name)
    }

    /// The evidence from before a touch no longer holds after it.
    static var changed: Denial { Denial(.changedMeanwhile) }
}
