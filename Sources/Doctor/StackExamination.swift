// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol
import ModuleOptions
import Policy

/// What is wrong with the stacks that name pam_signet, over all services.
struct StackExamination {
    let files: StackFiles
    /// The names of all services.
    private let services: [String]
    private let chains: [String: [StackType: Chain]]
    /// For which services fingerprint login is there at all; nil where nothing says.
    private let lists: LoginLists?
    /// The services that may get the login password.
    private let keyringServices: Set<String>
    /// Where pam_signet's lines stand in the stacks of these services.
    private let keyringPlaces: Set<String>

    /// Programs that show a field for the password alone, and nothing else until PAM goes on.
    private static let passwordFields: Set<String> = [
        "gdm-password", "lightdm", "sddm", "kde", "i3lock", "swaylock",
    ]

    /// Names that are there to be included, not to be asked for.
    static let fragments: Set<String> = [
        "system-auth", "password-auth", "fingerprint-auth", "smartcard-auth", "postlogin",
        "system-login", "system-local-login", "system-remote-login", "system-services", "signet",
    ]

    /// Endings that packagers' tools and editors give to what they keep beside a file.
    private static let leftovers = [
        "~", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".dpkg-bak", ".dpkg-tmp", ".ucf-old",
        ".ucf-dist", ".ucf-new", ".rpmnew", ".rpmsave", ".rpmorig", ".pacnew", ".pacsave",
    ]

    /// Whether nobody asks for a service by that name: a file may still include it.
    static func isLeftover(_ name: String) -> Bool {
        name.hasPrefix(".") || leftovers.contains { name.hasSuffix($0) }
    }

    /// Joins the stacks of all services. Without a configuration the defaults hold.
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

    /// The services whose `auth` stack names the module.
    var using: [String] {
        services.filter { !chain(of: $0, .auth).places(of: .signet).isEmpty }
    }

    /// The files that the stacks of these services are made of, `/etc/pam.d/signet` not among them.
    var usedFiles: Set<String> {
        using.reduce(into: []) { $0.formUnion(chain(of: $1, .auth).files) }
    }

    /// Every path by which the module is named, with the services that do.
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

    /// The lines whose module nobody knows and whose name is a slip of the keys away from ours.
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

    /// The lines that call the module, each once, in the order of their places.
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

    /// Every file that names a server for logins, with the services that it is for.
    var serverFiles: [(path: String, services: [String])] {
        var found: [String: [String]] = [:]
        for service in services {
            for path in servers(of: service) where !path.isEmpty {
                found[String(decoding: path, as: UTF8.self), default: []].append(service)
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The services that have a line of the module without a server.
    var withoutServer: [String] {
        using.filter { servers(of: $0).contains(Bytes()) }
    }

    /// The files of servers that a service's lines name; an empty one stands for a line without.
    private func servers(of service: String) -> Set<Bytes> {
        let chain = chain(of: service, .auth)
        let lines = chain.places(of: .signet).map { chain.handlers[$0].options.map(\.bytes) }
        return Set(lines.compactMap { try? ModuleOptions(parsing: $0).server })
    }

    /// All that is wrong with them.
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

    /// Names with commas between; not more than can be read at a glance.
    static func list(_ names: [String]) -> Bytes {
        let shown = names.prefix(6).joined(separator: ", ")
        return (names.count > 6 ? "\(shown), …" : shown).bytes
    }
}

extension StackExamination {
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

    /// What is wrong with asking for the login password, or with not asking, in a service.
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

    /// Whether a line stands where several services have it from, one that may get the password among
    /// them: that the others have it too is harmless, and cannot be helped.
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

    private func verdict(_ chain: Chain, service: String, file: String) -> [Remark] {
        // Where libpam gives up, what its modules would do decides nothing.
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
        // Such a service runs beside one that asks for the password.
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
        // Elsewhere the daemon releases nothing, and the password is asked for.
        let released =
            keyringServices.contains(service)
                || chain.releasing.contains { !isShared(chain.handlers[$0]) }
            ? verdict.released : []
        for index in released { add(.released(chain.handlers[index].module), at: index) }
        if !released.isEmpty {
            // The touch alone lets in: nothing to say of a password that is asked for all the same.
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
    /// The services that use pam_signet, and have no password but of this machine's own accounts,
    /// and no other way in.
    var localOnly: [String] {
        using.filter { service in
            let handlers = chain(of: service, .auth).handlers
            let passwords = handlers.filter { $0.role == .password }
            return !passwords.isEmpty && passwords.allSatisfy(\.isLocalPassword)
                && !handlers.contains { $0.role == .unknown || $0.role == .otherWay }
        }
    }

    /// Whether a service without a stack of its own asks for a finger.
    var servesOthers: Bool { !chain(of: "other", .auth).places(of: .signet).isEmpty }
}

extension StackExamination {
    /// What is wrong with the stack by which the daemon has passwords checked.
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
    /// Where it is written: file and line.
    fileprivate var place: String { "\(file):\(line)" }
}

extension Set<ReturnCode> {
    /// Their names in the order of their numbers.
    fileprivate var text: String {
        sorted { $0.rawValue < $1.rawValue }.map(\.constant).joined(separator: ", ")
    }
}

extension Array where Element: Hashable {
    /// Each once, in the order of their first places.
    fileprivate var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
