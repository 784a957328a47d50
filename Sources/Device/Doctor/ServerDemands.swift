// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import LoginProtocol
import ModuleOptions
import Posix

/// A server that must approve an account's logins in addition to the touch.
package struct ServerDemand: Sendable {
    /// The content of the file that `server=` refers to.
    package enum Wish: Equatable, Sendable {
        /// The server's URL in canonical form.
        case server(Bytes)
        /// The file has a mistake at this place, so no touch authenticates.
        case mistake(place: Bytes)
    }

    /// Why a touch does not authenticate. The raw value is for programs.
    package enum Trouble: String, Sendable {
        /// The account is not registered at the server.
        case notRegistered = "not-registered"
        /// The fingers have changed since the registration, which has ended.
        case ended = "registration-ended"
        /// The file has a mistake, or does not exist.
        case file = "server-file"
    }

    /// The services that require it.
    package let services: [String]
    /// The path of the file.
    package let file: String
    /// The content of the file.
    package let wish: Wish

    /// The services' names, as they are displayed.
    package var serviceList: Bytes { StackExamination.list(services) }

    /// Why a touch does not authenticate, as far as this machine knows; nil if nothing is known.
    ///
    /// - Parameter known: The account's registrations; nil if they cannot be determined.
    package func trouble(_ known: [ServerAnswer]?) -> Trouble? {
        guard case .server(let url) = wish else { return .file }
        guard let there = known?.filter({ $0.server == url }) else { return nil }
        if there.contains(where: { $0.state == .good }) { return nil }
        return there.contains { $0.state == .invalidated } ? .ended : .notRegistered
    }
}

/// The servers that the stacks of a machine require, for any account.
package struct ServerDemands: Sendable {
    private enum Content: Sendable {
        case server(LoginServer, url: Bytes)
        case mistake(place: String)
    }

    private struct File: Sendable {
        let path: String
        let services: [String]
        let content: Content
    }

    private let machine: Machine
    private let files: [File]
    private let using: [String]
    private let withoutServer: Set<String>

    /// Reads the files. Files that the caller may not read are left out.
    init(_ machine: Machine) {
        let examination = StackExamination(machine.stackFiles())
        self.machine = machine
        using = examination.using
        withoutServer = Set(examination.withoutServer)
        files = examination.serverFiles.compactMap { path, services in
            if let place = machine.mistake(in: path) {
                return File(path: path, services: services, content: .mistake(place: place))
            }
            guard let text = machine.read(path, cap: LoginServer.maximumLength),
                let server = try? LoginServer(parsing: text), let url = ServerURL(server.url)
            else { return nil }
            return File(
                path: path, services: services, content: .server(server, url: url.bytes))
        }
    }

    /// Whether no stack refers to a server.
    package var isEmpty: Bool { files.isEmpty }

    /// The servers that must approve an account's logins.
    package func demands(on account: Bytes) -> [ServerDemand] {
        files.compactMap { file in
            switch file.content {
            case .mistake(let place):
                ServerDemand(
                    services: file.services, file: file.path,
                    wish: .mistake(place: place.bytes))
            case .server(let server, let url):
                isMeant(account, server)
                    ? ServerDemand(
                        services: file.services, file: file.path, wish: .server(url)) : nil
            }
        }
    }

    /// Whether some service authenticates an account without the servers in `demands`.
    ///
    /// That is so for a service that has none of them, one that also has a line for another server,
    /// and one with a line for no server.
    package func areOpen(beside demands: [ServerDemand]) -> Bool {
        let (asking, closed) = (Set(demands.flatMap(\.services)), Set(demands.map(\.file)))
        let others = Set(files.filter { !closed.contains($0.path) }.flatMap(\.services))
        return using.contains {
            !asking.contains($0) || others.contains($0) || withoutServer.contains($0)
        }
    }

    /// The accounts that the files name; groups are left out.
    var named: [Bytes] {
        var names: [Bytes] = []
        for file in files {
            guard case .server(let server, _) = file.content else { continue }
            names += server.accounts.filter {
                $0.first != UInt8(ascii: "@") && !names.contains($0)
            }
        }
        return names
    }

    /// Whether a file applies to an account. A group that cannot be looked up does not match.
    private func isMeant(_ account: Bytes, _ server: LoginServer) -> Bool {
        guard !server.accounts.isEmpty else { return true }
        let name = String(decoding: account, as: UTF8.self)
        return server.accounts.contains { word in
            guard word.first == UInt8(ascii: "@") else { return word == account }
            let group = String(decoding: word.dropFirst(), as: UTF8.self)
            return (try? machine.isMember(name, group)) == true
        }
    }
}

extension Machine {
    /// The servers that the stacks require.
    package func serverDemands() -> ServerDemands { ServerDemands(self) }

    /// Accounts that lack a registration they need, and a missing connection to servers.
    func registrationFindings(_ view: DaemonView) -> [Finding] {
        let demands = serverDemands()
        var findings: [Finding] = []
        if view.reach == .answers {
            let named = demands.named
            for account in view.accounts {
                guard account.status.prints > 0 || named.contains(account.name) else { continue }
                findings += demands.findings(on: account.name, account.servers)
            }
            findings += neverSeen(named, view).flatMap { demands.findings(on: $0, []) }
        }
        let isRegistered = view.accounts.contains { $0.servers?.isEmpty == false }
        if !demands.isEmpty || isRegistered, look("/run/signet/relay.sock") == nil {
            findings.append(.relayMissing)
        }
        return findings
    }

    /// Accounts that exist and are named in a file, but that Signet stores nothing for.
    private func neverSeen(_ named: [Bytes], _ view: DaemonView) -> [Bytes] {
        guard isRoot, !view.isCut else { return [] }
        let seen = view.accounts.map(\.name) + view.denied.map(\.name)
        return named.filter { name in
            !seen.contains(name) && (try? isAccount(String(decoding: name, as: UTF8.self))) == true
        }
    }
}

extension ServerDemands {
    fileprivate func findings(on account: Bytes, _ known: [ServerAnswer]?) -> [Finding] {
        demands(on: account).compactMap { demand in
            guard case .server(let url) = demand.wish, demand.trouble(known) != nil else {
                return nil
            }
            return .serverUnregistered(account, url: url, services: demand.serviceList)
        }
    }
}
