// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// Checks whether lines of pam_signet have the option `keyring` exactly where a touch may release
/// the login password.
///
/// A network service must never have it. A service that `keyring.services` lists should have it if
/// a touch reaches a module that opens a keyring; elsewhere it has no effect.
struct KeyringLineCheck {
    private let stacks: ServiceStacks
    /// The services that may receive the login password.
    private let listed: Set<String>
    /// The places of pam_signet's lines in the stacks of those services.
    private let listedPlaces: Set<StackPosition>

    init(_ stacks: ServiceStacks, configuration: Configuration) {
        self.stacks = stacks
        let listed = Set(configuration.words(Settings.keyringServices))
        self.listed = listed
        let lines = stacks.services.filter(listed.contains).flatMap { service in
            stacks.chain(of: service, type: .auth).handlers.filter { $0.role == .signet }
        }
        listedPlaces = Set(lines.map(\.place))
    }

    /// Remarks on a service that requests the login password without being listed, or is listed but
    /// does not request it.
    func remarks(on service: String) -> [StackRemark] {
        let chain = stacks.chain(of: service, type: .auth)
        let releasing = chain.handlers.filter(\.releasesPassword).map(\.place)
        let isListed = listed.contains(service)
        let meant = isListed ? releasing : releasing.filter { !isShared($0) }
        if NetworkService.has(service) {
            return meant.map { place in { Self.remote($0, place: place) } }
        }
        guard isListed else { return meant.map { place in { Self.unlisted($0, place: place) } } }
        guard releasing.isEmpty, let place = chain.touchWithoutKeyring else { return [] }
        return [{ Self.missing($0, place: place) }]
    }

    /// Whether the daemon may release the password to a service, or the line is the service's own.
    func mayRelease(to service: String) -> Bool {
        listed.contains(service)
            || stacks.chain(of: service, type: .auth).handlers.contains {
                $0.releasesPassword && !isShared($0.place)
            }
    }

    /// Whether `keyring.services` lists a service that is not of the network.
    func lists(_ service: String) -> Bool {
        listed.contains(service) && !NetworkService.has(service)
    }

    /// Whether a service logs users in: the lists' default knows it, or an administrator has added
    /// it.
    func isForLogins(_ service: String) -> Bool {
        lists(service) || Self.usual.contains(service)
    }

    private static let usual = Set(Configuration().words(Settings.keyringServices))

    /// Whether a line is in a file that several services share, one of which may receive the
    /// password.
    ///
    /// The other services then have the line too, which is harmless and cannot be avoided.
    private func isShared(_ place: StackPosition) -> Bool {
        listedPlaces.contains(place) || ServiceStacks.isShared(place.file)
    }
}

extension Chain {
    /// The line of pam_signet after which a touch alone reaches a module that opens a keyring; nil
    /// if it reaches none.
    fileprivate var touchWithoutKeyring: StackPosition? {
        let walks = walks(of: Visitor(finger: .success, knowsPassword: false)) ?? []
        for walk in walks where walk.isAccepted {
            guard let touch = walk.calls.first(where: { handlers[$0.index].role == .signet }),
                walk.calls.contains(where: { handlers[$0.index].opensKeyring })
            else { continue }
            return handlers[touch.index].place
        }
        return nil
    }
}

extension KeyringLineCheck {
    /// A network service could get a login password.
    private static func remote(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "keyring-remote", level: .danger, area: .stacks, subject: services,
            what: "\(services): a network service asks for the login password (\(place.shown))",
            why: """
                a touch at this machine could release the password to a remote client. Remove \
                'keyring' from pam_signet's line, and the service from keyring.services in \
                signet.conf
                """,
            mend: Remedy.edit(place))
    }

    /// The option has no effect.
    private static func unlisted(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "keyring-unlisted", level: .warning, area: .stacks, subject: services,
            what: "\(services): 'keyring' on pam_signet's line has no effect (\(place.shown))",
            why: """
                keyring.services in signet.conf does not list this service, so a touch releases no \
                password to it. Remove the option, or add the service if it opens login sessions
                """,
            mend: Remedy.edit(place))
    }

    /// The option is missing.
    private static func missing(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "keyring-missing", level: .note, area: .stacks, subject: services,
            what: """
                \(services): a touch does not open the keyring: the option 'keyring' is missing \
                (\(place.shown))
                """,
            why: """
                after a login by touch, the desktop asks for the keyring's password, even for \
                accounts that have run 'signet enable --keyring'. Add the option to pam_signet's \
                line if no module that checks passwords follows it
                """,
            mend: Remedy.edit(place))
    }
}
