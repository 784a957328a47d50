// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol

/// An account's keys for others that open to its fingers as they are, and to no others.
struct AffectedKeys {
    /// The URLs of the servers that it is registered at.
    var servers: [Bytes] = []
    /// The MAC tokens of those.
    var tokens: [MACTokenAnswer] = []
    /// Whether it has a signing key.
    var signing = false

    /// Said before a change of fingers.
    var warnings: [Text] {
        servers.flatMap { server in
            [CommandEndings.warning(server: server)]
                + names(server).map { CommandEndings.warning(tokens: $0, of: server) }
        } + (signing ? [CommandEndings.signingWarning] : [])
    }

    /// Said after one.
    var ended: [Text] {
        servers.flatMap { server in
            [CommandEndings.ended(server: server)]
                + names(server).map { CommandEndings.ended(tokens: $0, of: server) }
        } + (signing ? [CommandEndings.signingEnded] : [])
    }

    /// The same for programs.
    var members: [(String, JSON)] {
        [
            ("serversEnded", .array(servers.map(JSON.bytes))),
            ("macTokensEnded", .number(UInt64(tokens.count))), ("signingEnded", .bool(signing)),
        ]
    }

    /// The names of a server's tokens in one line; nil where there is none.
    private func names(_ server: Bytes) -> [Bytes] {
        let names = tokens.filter { $0.server == server }.map(\.name)
        return names.isEmpty ? [] : [Bytes(names.joined(separator: Bytes(", ".utf8)))]
    }
}

extension AffectedKeys {
    /// What a change of fingers ends besides secrets. A daemon that cannot tell is in no change's
    /// way: then nothing is said of it.
    static func of(_ account: Bytes, _ run: Invocation) throws(CommandFault) -> AffectedKeys {
        var endings = AffectedKeys()
        do throws(CommandFault) {
            let known = try ServerRequests(run: run).servers(of: account).filter {
                $0.state == .good
            }
            endings.servers = known.map(\.server)
            if !known.isEmpty { endings.tokens = try ownTokens(account, of: endings.servers, run) }
            endings.signing =
                try SigningKeyRequests(run: run).signingKey(of: account).state == .good
        } catch .interrupted {
            throw .interrupted
        } catch { return endings }
        return endings
    }

    /// The tokens that somebody asked for by name.
    private static func ownTokens(
        _ account: Bytes, of servers: [Bytes], _ run: Invocation
    ) throws(CommandFault) -> [MACTokenAnswer] {
        try MACTokenCommand(run: run).macTokens(of: account).filter {
            $0.name != MACTokenCommand.reserved && servers.contains($0.server)
        }
    }
}
