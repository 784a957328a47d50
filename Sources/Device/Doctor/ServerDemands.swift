// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import ModuleOptions

/// A server that must approve an account's logins in addition to the touch.
package struct ServerDemand: Sendable {
    /// The content of the file that `server=` refers to.
    package enum Target: Equatable, Sendable {
        /// The server's URL in canonical form.
        case server(ServerURL)
        /// The file has a mistake at this place, so no touch authenticates.
        case mistake(place: Bytes)
    }

    /// The reason why a touch does not authenticate; the raw value is for programs.
    package enum Trouble: String, Sendable {
        /// The account is not registered at the server.
        case notRegistered = "not-registered"
        /// The fingers have changed since the registration, which has ended.
        case ended = "registration-ended"
        /// The file has a mistake, or does not exist.
        case file = "server-file"
    }

    /// The services whose stacks require the server.
    package let services: [String]
    /// The path of the file.
    package let file: String
    /// The content of the file.
    package let target: Target

    /// The services' names, as they are displayed.
    package var serviceList: Bytes { ServiceStacks.list(services) }

    /// The reason why a touch does not authenticate, as far as this machine knows; nil if none is
    /// known.
    ///
    /// - Parameter known: The account's registrations; nil if they cannot be determined.
    package func trouble(_ known: [ServerAnswer]?) -> Trouble? {
        guard case .server(let url) = target else { return .file }
        guard let there = known?.filter({ $0.server == url }) else { return nil }
        if there.contains(where: { $0.state == .good }) { return nil }
        return there.contains { $0.state == .invalidated } ? .ended : .notRegistered
    }
}

/// The servers that the stacks of a machine require, for any account.
package struct ServerDemands: Sendable {
    private struct File: Sendable {
        let path: String
        let services: [String]
        let content: ServerFile
    }

    private let nameService: NameService
    private let files: [File]
    private let using: [String]
    private let withoutServer: Set<String>

    /// Reads the files that `server=` refers to; files that the caller may not read are left out.
    init(_ machine: Machine, stacks: ServiceStacks) {
        nameService = machine.nameService
        using = stacks.using
        withoutServer = Set(stacks.withoutServer)
        files = stacks.serverFiles.compactMap { path, services in
            ServerFile(path, on: machine).map {
                File(path: path, services: services, content: $0)
            }
        }
    }

    /// Whether no stack refers to a server.
    package var isEmpty: Bool { files.isEmpty }

    /// The servers that must approve an account's logins.
    ///
    /// A file with a mistake counts for every account, because no touch authenticates anyone then.
    package func demands(on account: AccountName) -> [ServerDemand] {
        files.compactMap { file in
            switch file.content {
            case .mistake(let place):
                ServerDemand(
                    services: file.services, file: file.path,
                    target: .mistake(place: place.bytes))
            case .server(let server):
                isMeant(account, server: server)
                    ? ServerDemand(
                        services: file.services, file: file.path, target: .server(server.url)) : nil
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
    var named: [AccountName] {
        var names: [AccountName] = []
        for file in files {
            guard case .server(let server) = file.content else { continue }
            names += server.accounts.filter { $0.first != UInt8(ascii: "@") }.map {
                AccountName($0)
            }.filter { !names.contains($0) }
        }
        return names
    }

    /// Whether a file applies to an account; a group that cannot be looked up does not match.
    private func isMeant(_ account: AccountName, server: LoginServer) -> Bool {
        guard !server.accounts.isEmpty else { return true }
        let name = String(decoding: account.bytes, as: UTF8.self)
        return server.accounts.contains { word in
            guard word.first == UInt8(ascii: "@") else { return word == account.bytes }
            let group = String(decoding: word.dropFirst(), as: UTF8.self)
            return (try? nameService.isMember(name, group)) == true
        }
    }
}
