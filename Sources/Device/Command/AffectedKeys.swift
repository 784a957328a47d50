// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// The account's keys for servers and signing, which a change of fingers makes unusable.
struct AffectedKeys {
    /// The URLs of the servers at which it is registered.
    var servers: [ServerURL] = []
    /// The MAC tokens of those servers.
    var tokens: [MACTokenAnswer] = []
    /// Whether it has a signing key.
    var signing = false

    /// The warnings before a change of fingers.
    var warnings: [Text] {
        servers.flatMap { server in
            [CommandAffectedKeys.warning(server: server)]
                + names(server).map { CommandAffectedKeys.warning(tokens: $0, of: server) }
        } + (signing ? [CommandAffectedKeys.signingWarning] : [])
    }

    /// The report after a change of fingers.
    var ended: [Text] {
        servers.flatMap { server in
            [CommandAffectedKeys.ended(server: server)]
                + names(server).map { CommandAffectedKeys.ended(tokens: $0, of: server) }
        } + (signing ? [CommandAffectedKeys.signingEnded] : [])
    }

    /// The same report in JSON.
    var members: [(String, JSON)] {
        [
            ("serversEnded", .array(servers.map { JSON.bytes($0.bytes) })),
            ("macTokensEnded", .number(UInt64(tokens.count))), ("signingEnded", .bool(signing)),
        ]
    }

    /// The names of a server's tokens joined into one text; empty if there are none.
    private func names(_ server: ServerURL) -> [Bytes] {
        let names = tokens.filter { $0.server == server }.map(\.name)
        return names.isEmpty ? [] : [Bytes(names.joined(separator: Bytes(", ".utf8)))]
    }
}

extension AffectedKeys {
    /// Requests the keys that a change of fingers ends, besides secrets.
    ///
    /// If the daemon cannot report them, the result is incomplete, because that must not prevent a
    /// change.
    static func of(_ account: AccountName, run: Invocation) throws(CommandFault) -> AffectedKeys {
        var affected = AffectedKeys()
        do throws(CommandFault) {
            let known = try ServerRequests(run: run).servers(of: account).filter {
                $0.state == .good
            }
            affected.servers = known.map(\.server)
            if !known.isEmpty {
                affected.tokens = try ownTokens(account, of: affected.servers, run: run)
            }
            affected.signing =
                try SigningKeyRequests(run: run).signingKey(of: account).state == .good
        } catch .interrupted {
            throw .interrupted
        } catch { return affected }
        return affected
    }

    /// The tokens that the user created.
    private static func ownTokens(
        _ account: AccountName, of servers: [ServerURL], run: Invocation
    ) throws(CommandFault) -> [MACTokenAnswer] {
        try MACTokenCommand(run: run).macTokens(of: account).filter {
            $0.name != MACTokenCommand.reserved && servers.contains($0.server)
        }
    }
}
