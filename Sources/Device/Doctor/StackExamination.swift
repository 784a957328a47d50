// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import Configuration
import LoginProtocol
import ModuleOptions

/// The examination of all PAM stacks, with findings for all services together.
///
/// Every service's stack is assembled as libpam would (`Chain`) and judged by simulation
/// (`StackVerdict`). The same remark about the same place in several services becomes one finding.
struct StackExamination {
    let files: StackFiles
    /// The names of all services.
    private let services: [String]
    private let chains: [String: [StackType: Chain]]
    /// Which services fingerprint login is available for; nil if there is no configuration.
    private let lists: LoginLists?
    /// The services that may receive the login password.
    private let keyringServices: Set<String>
    /// The places of pam_signet's lines in the stacks of those services.
    private let keyringPlaces: Set<String>

    /// Programs that show only a password field, and nothing else until PAM returns.
    private static let passwordFields: Set<String> = [
        "gdm-password", "lightdm", "sddm", "kde", "i3lock", "swaylock",
    ]

    /// Names of files that exist to be included and are not services.
    static let fragments: Set<String> = [
        "system-auth", "password-auth", "fingerprint-auth", "smartcard-auth", "postlogin",
        "system-login", "system-local-login", "system-remote-login", "system-services", "signet",
    ]

    /// Suffixes that package managers and editors give to backup copies.
    private static let leftovers = [
        "~", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".dpkg-bak", ".dpkg-tmp", ".ucf-old",
        ".ucf-dist", ".ucf-new", ".rpmnew", ".rpmsave", ".rpmorig", ".pacnew", ".pacsave",
    ]

    /// Whether a name is that of a backup copy rather than of a service.
    ///
    /// A stack may still include it.
    static func isLeftover(_ name: String) -> Bool {
        name.hasPrefix(".") || leftovers.contains { name.hasSuffix($0) }
    }

    /// Assembles the stacks of all services. Without a configuration, the defaults apply.
    init(_ files: StackFiles, _ configuration: Configuration? = nil) {
        self.files = files
        lists = configuration.map(LoginLists.init)
        keyringServices = Set((configuration ?? Configuration()).words(Settings.keyringServices))
        services = files.services
        var chains: [String: [StackType: Chain]] = [:]
        for service in services {
            for type in StackType.allCases {
                chains[service, default: [:]][type] = files.chain(of: service, type)
            }
        }
        self.chains = chains
        let places = keyringServices.compactMap { chains[$0]?[.auth] }.flatMap { chain in
            chain.places(of: .signet).map { chain.handlers[$0].place }
        }
        keyringPlaces = Set(places)
    }

    /// The services whose `auth` stack calls the module.
    var using: [String] {
        services.filter { !chain(of: $0, .auth).places(of: .signet).isEmpty }
    }

    /// The files that these services' `auth` stacks consist of.
    var usedFiles: Set<String> {
        using.reduce(into: []) { $0.formUnion(chain(of: $1, .auth).files) }
    }

    /// Every path under which stacks refer to the module, with the services that do.
    var modulePaths: [(path: String, services: [String])] {
        var found: [String: [String]] = [:]
        for service in services {
            var paths: Set<String> = []
            for type in [StackType.auth, .password] {
                for handler in chain(of: service, type).handlers {
                    guard case .module(let path, _) = handler.call,
                        handler.role == .signet
                    else { continue }
                    paths.insert(path)
                }
            }
            for path in paths { found[path, default: []].append(service) }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Lines with an unknown module whose name looks like a misspelling of ours.
    var misspeltLines: [(path: String, place: String, services: [String])] {
        var found: [String: (path: String, services: [String])] = [:]
        for service in services {
            for type in StackType.allCases {
                for handler in chain(of: service, type).handlers where handler.role == .unknown {
                    guard case .module(let path, _) = handler.call,
                        handler.module.nearest(among: ["pam_signet"]) != nil,
                        found[handler.place]?.services.last != service
                    else { continue }
                    found[handler.place, default: (path, [])].services.append(service)
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.value.path, $0.key, $0.value.services) }
    }

    /// The lines that call the module, each once, in order of file and line.
    var moduleLines: [ModuleLine] {
        var services: [String: [String]] = [:]
        var lines: [String: (type: StackType, handler: Handler)] = [:]
        for service in self.services {
            for type in [StackType.auth, .password] {
                for handler in chain(of: service, type).handlers where handler.role == .signet {
                    let key = "\(handler.file):\(handler.line)"
                    lines[key] = (type, handler)
                    if services[key]?.last != service { services[key, default: []].append(service) }
                }
            }
        }
        let sorted = lines.values.sorted { one, other in
            (one.handler.file, one.handler.line) < (other.handler.file, other.handler.line)
        }
        return sorted.map { type, handler in
            ModuleLine(
                services: services["\(handler.file):\(handler.line)"] ?? [], type: type.rawValue,
                options: handler.options,
                place: "\(files.path(of: handler.file)):\(handler.line)")
        }
    }

    /// Every file that `server=` refers to, with the services concerned.
    var serverFiles: [(path: String, services: [String])] {
        var found: [String: [String]] = [:]
        for service in services {
            for path in servers(of: service) where !path.isEmpty {
                found[String(decoding: path, as: UTF8.self), default: []].append(service)
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The services that have a line of the module without `server=`.
    var withoutServer: [String] {
        using.filter { servers(of: $0).contains(Bytes()) }
    }

    /// The server files in a service's lines; an empty name stands for a line without one.
    private func servers(of service: String) -> Set<Bytes> {
        let chain = chain(of: service, .auth)
        let lines = chain.places(of: .signet).map { chain.handlers[$0].options.map(\.bytes) }
        return Set(lines.compactMap { try? ModuleOptions(parsing: $0).server })
    }

    /// All findings about the stacks, except those about the daemon's own stack.
    func findings() -> [Finding] {
        var services: [Remark: [String]] = [:]
        var order: [Remark] = []
        for service in self.services {
            for remark in remarks(on: service) {
                if services[remark] == nil { order.append(remark) }
                services[remark, default: []].append(service)
            }
        }
        return order.map { remark in
            finding(remark, services: StackExamination.list(services[remark] ?? []))
        }
    }

    private func chain(of service: String, _ type: StackType) -> Chain {
        chains[service]?[type] ?? Chain()
    }

    /// Names separated by commas, at most six.
    static func list(_ names: [String]) -> Bytes {
        let shown = names.prefix(6).joined(separator: ", ")
        return (names.count > 6 ? "\(shown), …" : shown).bytes
    }
}

extension StackExamination {
    /// All remarks on one service, without duplicates.
    private func remarks(on service: String) -> [Remark] {
        var remarks: [Remark] = []
        for type in [StackType.account, .session] {
            for handler in chain(of: service, type).handlers
            where handler.role == .signet {
                remarks.append(Remark(kind: .type(type.rawValue), place: handler.place))
            }
        }
        let chain = chain(of: service, .auth)
        let ours = chain.places(of: .signet)
        guard let first = ours.first else { return remarks.unique }
        let file = chain.handlers[first].file
        if ours.count > 1 {
            let places = ours.map { chain.handlers[$0].place }.joined(separator: ", ")
            remarks.append(Remark(kind: .twice(places), place: file))
        }
        for index in chain.places(of: .otherFingerprint) {
            let handler = chain.handlers[index]
            remarks.append(Remark(kind: .other(handler.module), place: handler.file))
        }
        for index in ours { remarks += options(of: chain.handlers[index]) }
        remarks += chain.troubles.map(remark) + keyring(of: service, chain)
        return (remarks + verdict(chain, service: service, file: file)).unique
    }

    private func options(of handler: Handler) -> [Remark] {
        let words = handler.options.map(\.bytes)
        do throws(ModuleOptions.Fault) {
            let options = try ModuleOptions(parsing: words)
            guard options.socket != ModuleOptions().socket else { return [] }
            let path = String(decoding: options.socket, as: UTF8.self)
            return [Remark(kind: .socket(path), place: handler.place)]
        } catch {
            switch error {
            case .unknown(let index), .malformed(let index), .repeated(let index):
                let word = words.indices.contains(index) ? handler.options[index] : ""
                return [Remark(kind: .option(word), place: handler.place)]
            }
        }
    }

    /// Problems with a service that requests the login password, or that should and does not.
    private func keyring(of service: String, _ chain: Chain) -> [Remark] {
        let isListed = keyringServices.contains(service)
        let releasing = chain.releasing.map { chain.handlers[$0] }
        let meant = isListed ? releasing : releasing.filter { !isShared($0) }
        guard !NetworkService.has(service) else {
            return meant.map { Remark(kind: .keyringRemote, place: $0.place) }
        }
        guard isListed else {
            return meant.map { Remark(kind: .keyringUnlisted, place: $0.place) }
        }
        guard releasing.isEmpty, let index = chain.touchWithoutKeyring else { return [] }
        return [Remark(kind: .keyringMissing, place: chain.handlers[index].place)]
    }

    /// Whether a line is in a file that several services share, one of which may receive the
    /// password.
    ///
    /// The other services then have the line too, which is harmless and cannot be avoided.
    private func isShared(_ handler: Handler) -> Bool {
        keyringPlaces.contains(handler.place) || handler.file.hasPrefix("common-")
            || StackExamination.fragments.contains(handler.file)
    }

    private func remark(_ trouble: StackTrouble) -> Remark {
        switch trouble {
        case .broken(let file, let line), .control(let file, let line),
            .overlong(let file, let line):
            Remark(kind: .broken, place: "\(file):\(line)")
        case .missing(let file, let line, let name):
            Remark(kind: .missing(name), place: "\(file):\(line)")
        case .loop(let file, let line, let name):
            Remark(kind: .loop(name), place: "\(file):\(line)")
        }
    }

    /// The remarks that follow from simulating a service's `auth` stack.
    private func verdict(_ chain: Chain, service: String, file: String) -> [Remark] {
        // If libpam gives up on the service, what its modules would do is irrelevant.
        guard !chain.isAborted else { return [] }
        let verdict = StackVerdict(chain)
        var remarks = verdict.longJumps.map { index in
            let handler = chain.handlers[index]
            return Remark(kind: .longJump(handler.module), place: handler.place)
        }
        func add(_ kind: Remark.Kind, if isTrue: Bool) {
            if isTrue { remarks.append(Remark(kind: kind, place: file)) }
        }
        func add(_ kind: Remark.Kind, at index: Int) {
            remarks.append(Remark(kind: kind, place: chain.handlers[index].place))
        }
        add(.tangled, if: verdict.isTooTangled)
        for index in verdict.unasked { add(.unasked(chain.handlers[index].module), at: index) }
        for shadow in verdict.shadowed {
            let (module, other) = (chain.handlers[shadow.module], chain.handlers[shadow.by])
            add(.shadowed(module.module, by: other.module), at: shadow.by)
        }
        if verdict.touchBeforePassword != nil, StackExamination.passwordFields.contains(service),
            lists?.exclusion(service: service) == nil
        {
            remarks.append(Remark(kind: .blocksTyping(service), place: service))
        }
        // Such a service runs alongside one that asks for the password.
        let isForFingers = service.hasSuffix("fingerprint")
        add(.noPassword, if: verdict.hasNoPassword && !isForFingers)
        let lost = verdict.passwordLost
        if lost.contains(.authinfoUnavail) {
            add(.unreachable, if: true)
        } else {
            let mismatches = lost.intersection([.authErr, .maxtries])
            let faults = lost.subtracting(mismatches)
            add(.afterMismatch(mismatches.text), if: !mismatches.isEmpty)
            add(.afterFault(faults.text), if: !faults.isEmpty)
        }
        add(.open(verdict.open.text), if: !verdict.open.isEmpty)
        // For other services the daemon does not release the password, so it is asked for.
        let released =
            keyringServices.contains(service)
                || chain.releasing.contains { !isShared(chain.handlers[$0]) }
            ? verdict.released : []
        for index in released { add(.released(chain.handlers[index].module), at: index) }
        if !released.isEmpty {
            // The touch alone authenticates, so a password that is also asked for needs no remark.
        } else if let index = verdict.demandBeforeTouch {
            add(.behindPassword(chain.handlers[index].module), at: index)
        } else {
            add(.touchNotEnough, if: verdict.touchIsNotEnough)
        }
        add(.fingersCounted, if: verdict.fingersAreCounted)
        add(.failuresStay, if: verdict.failuresStay)
        return remarks
            + verdict.skippedGates.map { index in
                let handler = chain.handlers[index]
                return Remark(kind: .gate(handler.module), place: handler.place)
            }
    }
}

extension StackFiles {
    /// The names of all services.
    var services: [String] {
        names.filter { name in
            !name.hasPrefix("common-") && !StackExamination.fragments.contains(name)
                && !StackExamination.isLeftover(name)
        }
    }
}

extension StackExamination {
    /// The services with pam_signet that accept passwords of local accounts only.
    ///
    /// They have no other method of authentication either.
    var localOnly: [String] {
        using.filter { service in
            let handlers = chain(of: service, .auth).handlers
            let passwords = handlers.filter { $0.role == .password }
            return !passwords.isEmpty && passwords.allSatisfy(\.isLocalPassword)
                && !handlers.contains { $0.role == .unknown || $0.role == .otherWay }
        }
    }

    /// Whether services without a stack of their own ask for a finger.
    var servesOthers: Bool { !chain(of: "other", .auth).places(of: .signet).isEmpty }
}

extension StackExamination {
    /// Problems with the stack `signet`, through which the daemon has passwords checked.
    func passwordStackFindings() -> [Finding] {
        guard files["signet"] != nil else { return [.passwordStackMissing] }
        let chain = files.chain(of: "signet", .auth)
        guard chain.places(of: .signet).isEmpty else { return [.passwordStackRecursive] }
        func lets(in knowsPassword: Bool) -> Bool {
            let visitor = Visitor(finger: .authinfoUnavail, knowsPassword: knowsPassword)
            return chain.walks(of: visitor)?.contains { $0.code == .success } ?? false
        }
        if lets(in: false) { return [.passwordStackOpen] }
        return lets(in: true) ? [] : [.passwordStackClosed]
    }
}

extension Handler {
    /// The file and line where it is written.
    fileprivate var place: String { "\(file):\(line)" }
}

extension Set<ReturnCode> {
    /// Their names, in the order of their numbers.
    fileprivate var text: String {
        sorted { $0.rawValue < $1.rawValue }.map(\.constant).joined(separator: ", ")
    }
}

extension Array where Element: Hashable {
    /// The distinct elements, in the order of their first occurrence.
    fileprivate var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
