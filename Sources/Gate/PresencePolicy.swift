// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import Policy
import Systemd

/// What the administrator says about presence.
struct PresencePolicy: Sendable {
    /// Who may ask where logind does not run; the raw value is in the configuration.
    enum WithoutLogind: String, Sendable {
        case consoles = "consoles"
        case terminals = "terminals"
        case any = "any"
    }

    /// Whether a user may ask for another's finger.
    let allowsOthers: Bool
    /// Whether local sessions without a seat may ask.
    let allowsWithoutSeat: Bool
    /// What is asked for where logind does not run.
    let withoutLogind: WithoutLogind
    private let consoleUnits: Set<String>
    private let displayManagers: Set<String>

    /// What a configuration says; a word that is not known allows nothing more than the default.
    init(_ settings: Configuration) {
        allowsOthers = settings.word(Settings.loginOthers) == "warn"
        allowsWithoutSeat = settings.word(Settings.loginWithoutSeat) == Settings.allow
        withoutLogind =
            WithoutLogind(rawValue: settings.word(Settings.loginWithoutLogind)) ?? .consoles
        consoleUnits = Set(settings.words(Settings.loginConsoleUnits))
        displayManagers = Set(settings.words(Settings.loginDisplayManagers))
    }

    /// Whether a unit of the system's manager logs users in at consoles.
    func isConsoleUnit(_ unit: String) -> Bool { Self.contains(consoleUnits, unit) }

    /// Whether a unit of the system's manager is a display manager.
    func isDisplayManager(_ unit: String) -> Bool { Self.contains(displayManagers, unit) }

    private static func contains(_ units: Set<String>, _ unit: String) -> Bool {
        units.contains(unit) || units.contains(UnitName(unit).template)
    }
}

/// Which accounts a request may be for: a cell of the verb table.
package enum OtherAccounts: Sendable {
    /// The requester's own.
    case refused
    /// The requester's own, and others if `login.others` allows them.
    case asConfigured
    /// Any: who may ask is decided elsewhere, as for commands of root's.
    case allowed
}

/// What a client says about its request. Only what would make the answer a no is believed of everybody.
package struct PresenceClaims: Equatable, Sendable {
    /// The PAM service.
    package var service: Bytes
    /// PAM_RHOST.
    package var remoteHost: Bytes
    /// PAM_RUSER, of which a client that is not root has none.
    package var requester: Bytes
    /// The number of polkit's agent, of which a client that is not root has none.
    package var agent: UInt32?
    /// The user that it was when it reached its helper, where the helper is a service of root's.
    package var agentUser: UInt32?

    /// All of it.
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
    /// Nobody is known to be at the machine for this request; the text says what is missing.
    static func notAtMachine(_ detail: Text) -> Denial {
        Denial(.notAtMachine, subject: detail.bytes)
    }

    /// The request is for another account than that of the user who asks.
    static func other(_ requester: Requester) -> Denial {
        Denial(.otherRequester, subject: requester.name)
    }

    /// What was found before a touch does not hold after it.
    static var changed: Denial { Denial(.changedMeanwhile) }
}
