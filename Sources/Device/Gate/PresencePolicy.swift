// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import Systemd

/// The administrator's settings about presence, from `signet.conf`.
///
/// They decide who may ask for another account's finger, which system units count as display
/// managers or console logins, and what is accepted from sessions without a seat or without logind.
struct PresencePolicy: Sendable {
    /// The requests that are accepted where logind does not run.
    ///
    /// The raw values are the words of `login.without-logind`.
    enum WithoutLogind: String, Sendable {
        case consoles = "consoles"
        case terminals = "terminals"
        case any = "any"
    }

    /// Whether a user may ask for a touch of another account's finger (with a warning at the
    /// prompt).
    let allowsOthers: Bool
    /// Whether local sessions without a seat are accepted.
    let allowsWithoutSeat: Bool
    /// The requirement for requests where logind does not run.
    let withoutLogind: WithoutLogind
    /// The names of terminal emulators, as programs call themselves.
    let terminals: Set<String>
    private let lockers: Set<String>
    private let consoleUnits: Set<String>
    private let displayManagers: Set<String>

    /// Reads the settings; an unknown word has the effect of the default.
    init(_ settings: Configuration) {
        allowsOthers = settings.word(Settings.loginOthers) == "warn"
        allowsWithoutSeat = settings.word(Settings.loginWithoutSeat) == Settings.allow
        withoutLogind =
            WithoutLogind(rawValue: settings.word(Settings.loginWithoutLogind)) ?? .consoles
        // The kernel knows the first bytes of a program's name.
        terminals = Set(
            settings.words(Settings.loginTerminals).map {
                String(decoding: $0.utf8.prefix(Self.longestProgramName), as: UTF8.self)
            })
        lockers = Set(settings.words(Settings.loginLockers))
        consoleUnits = Set(settings.words(Settings.loginConsoleUnits))
        displayManagers = Set(settings.words(Settings.loginDisplayManagers))
    }

    /// TASK_COMM_LEN of the kernel, without the NUL.
    private static let longestProgramName = 15

    /// Whether a PAM service is that of a screen locker, which may ask without root's rights.
    func isLocker(_ service: ServiceName) -> Bool {
        guard let name = String(validating: service.bytes, as: UTF8.self) else { return false }
        return lockers.contains(name)
    }

    /// Whether a system unit, or the template that it is an instance of, logs users in at consoles.
    func isConsoleUnit(_ unit: String) -> Bool { Self.contains(consoleUnits, unit: unit) }

    /// Whether a system unit, or the template that it is an instance of, is a display manager.
    func isDisplayManager(_ unit: String) -> Bool { Self.contains(displayManagers, unit: unit) }

    private static func contains(_ units: Set<String>, unit: String) -> Bool {
        units.contains(unit) || units.contains(UnitName(unit).template)
    }
}

/// The accounts for which a request may be, as determined by its verb's rule and by the client.
package enum OtherAccounts: Sendable {
    /// Only the requester's own account.
    case refused
    /// The requester's own account, and others if `login.others` allows it.
    case asConfigured
    /// Any account; other code decides who may ask, as for commands run by root.
    case allowed
}

/// What a client claims about its request.
///
/// Any claim can lead to a denial. The claims of a root client also name the requester or polkit's
/// agent; those fields are ignored for other clients.
package struct PresenceClaims: Equatable, Sendable {
    /// The name of the PAM service; nil for Signet's own commands, which have none.
    package var service: ServiceName?
    /// The remote host, PAM_RHOST.
    package var remoteHost: Bytes
    /// The requesting user, PAM_RUSER; ignored unless the client is root.
    package var requester: AccountName
    /// The pid of polkit's agent; ignored unless the client is root.
    package var agent: UInt32?
    /// The agent's uid when it connected to its helper; set if the helper runs as a system service.
    package var agentUser: UInt32?

    /// Creates claims from their values.
    package init(
        service: ServiceName? = nil, remoteHost: Bytes = [], requester: AccountName = .none,
        agent: UInt32? = nil,
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
    /// The request is not known to come from a user at the machine; the subject says what is
    /// missing.
    static func notAtMachine(_ detail: Text) -> Denial {
        Denial(.notAtMachine, subject: detail.bytes)
    }

    /// The request is for an account other than the requester's, and may not be.
    static func other(_ requester: Requester) -> Denial {
        Denial(.otherRequester, subject: requester.name.bytes)
    }

    /// The evidence from before a touch no longer holds after it.
    static var changed: Denial { Denial(.changedMeanwhile) }
}
