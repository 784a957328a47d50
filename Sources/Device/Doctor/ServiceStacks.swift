// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginProtocol
import ModuleOptions

/// The PAM stacks of all services, each assembled as libpam would assemble it.
struct ServiceStacks {
    /// The files that the stacks consist of.
    let files: StackFiles
    /// The names of all services, sorted, without files that exist only to be included.
    let services: [String]
    private let chains: [String: [StackType: Chain]]

    init(_ files: StackFiles) {
        self.files = files
        services = files.names.filter(Self.isService)
        chains = Dictionary(
            uniqueKeysWithValues: services.map { service in
                let chains = StackType.allCases.map { ($0, files.chain(of: service, type: $0)) }
                return (service, Dictionary(uniqueKeysWithValues: chains))
            })
    }

    /// The stack of a service for one type; empty for a service that is not known.
    func chain(of service: String, type: StackType) -> Chain {
        chains[service]?[type] ?? Chain()
    }

    /// The services whose `auth` stack calls the module.
    var using: [String] {
        services.filter { !chain(of: $0, type: .auth).indices(of: .signet).isEmpty }
    }

    /// The files that these services' `auth` stacks consist of.
    var usedFiles: Set<String> {
        using.reduce(into: []) { $0.formUnion(chain(of: $1, type: .auth).files) }
    }

    /// Whether services without their own stack request a touch, through `other`.
    var servesOthers: Bool { !chain(of: "other", type: .auth).indices(of: .signet).isEmpty }

    /// The services with pam_signet that accept only passwords of this machine's own accounts.
    ///
    /// They have no module that might authenticate by another method.
    var localOnly: [String] {
        using.filter { service in
            let handlers = chain(of: service, type: .auth).handlers
            let passwords = handlers.filter { $0.role == .password }
            return !passwords.isEmpty && passwords.allSatisfy(\.isLocalPassword)
                && !handlers.contains { $0.role == .unknown || $0.role == .otherWay }
        }
    }

    /// Returns names separated by commas, at most six.
    static func list(_ names: [String]) -> Bytes {
        let shown = names.prefix(6).joined(separator: ", ")
        return (names.count > 6 ? "\(shown), …" : shown).bytes
    }
}

/// A line of a PAM stack that calls the module.
package struct ModuleLine: Equatable, Sendable {
    /// The services whose stacks contain the line.
    package let services: [String]
    /// `auth` or `password`.
    package let type: String
    /// The module's options.
    package let options: [String]
    /// The path of the file and the line number, as `path:line`.
    package let place: String
}

extension ServiceStacks {
    /// The lines that call the module, each once, in order of file and line.
    var moduleLines: [ModuleLine] {
        lines([.auth, .password]) { $0.role == .signet }.map { line in
            let place = line.handler.place
            return ModuleLine(
                services: line.services, type: line.type.rawValue, options: line.handler.options,
                place: "\(place.path):\(place.line ?? 0)")
        }
    }

    /// Lines with an unknown module whose name looks like a misspelling of ours.
    var misspeltLines: [(handler: Handler, services: [String])] {
        lines(StackType.allCases) {
            $0.role == .unknown && $0.module.nearest(among: ["pam_signet"]) != nil
        }.map { ($0.handler, $0.services) }
    }

    /// Every path under which stacks refer to the module, with the services that do.
    var modulePaths: [(path: String, services: [String])] {
        grouped([.auth, .password], by: \.path).map { ($0.key, $0.services) }
    }

    /// Every file that `server=` refers to, with the services concerned.
    var serverFiles: [(path: String, services: [String])] {
        grouped([.auth], by: \.server).filter { !$0.key.isEmpty }.map { ($0.key, $0.services) }
    }

    /// The services that have a line of the module without `server=`.
    var withoutServer: [String] {
        grouped([.auth], by: \.server).first { $0.key.isEmpty }?.services ?? []
    }

    /// The services whose stacks call the module, grouped by a key of the line; lines with a nil
    /// key are left out.
    private func grouped(
        _ types: [StackType], by key: (Handler) -> String?
    ) -> [(key: String, services: [String])] {
        var found: [String: Set<String>] = [:]
        for line in lines(types, where: { $0.role == .signet }) {
            guard let key = key(line.handler) else { continue }
            found[key, default: []].formUnion(line.services)
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    private typealias Line = (handler: Handler, type: StackType, services: [String])

    /// The lines whose module matches, each once, with their services, in order of file and line.
    private func lines(_ types: [StackType], where isMeant: (Handler) -> Bool) -> [Line] {
        var found: [StackPosition: Line] = [:]
        for service in services {
            for type in types {
                for handler in chain(of: service, type: type).handlers
                where handler.call == .module && isMeant(handler) {
                    var line = found[handler.place] ?? (handler, type, [])
                    if line.services.last != service { line.services.append(service) }
                    found[handler.place] = line
                }
            }
        }
        return found.values.sorted { one, other in
            let (one, other) = (one.handler.place, other.handler.place)
            return (one.file, one.line ?? 0) < (other.file, other.line ?? 0)
        }
    }
}

extension ServiceStacks {
    /// Whether a file's name is that of a service, rather than of a shared part or a backup copy.
    private static func isService(_ name: String) -> Bool {
        // libpam makes the letters of a service's name small before it looks for the file.
        !name.hasPrefix("common-") && !fragments.contains(name) && !name.hasPrefix(".")
            && !name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            && !leftovers.contains { name.hasSuffix($0) }
    }

    /// Names of files that exist to be included and are not services.
    private static let fragments: Set<String> = [
        "system-auth", "password-auth", "fingerprint-auth", "smartcard-auth", "postlogin",
        "system-login", "system-local-login", "system-remote-login", "system-services", "signet",
    ]

    /// Suffixes that package managers and editors give to backup copies, which stacks may still
    /// include.
    private static let leftovers = [
        "~", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".dpkg-bak", ".dpkg-tmp", ".ucf-old",
        ".ucf-dist", ".ucf-new", ".rpmnew", ".rpmsave", ".rpmorig", ".pacnew", ".pacsave",
    ]

    /// Whether a file exists to be included by several services.
    static func isShared(_ name: String) -> Bool {
        name.hasPrefix("common-") || fragments.contains(name)
    }
}
