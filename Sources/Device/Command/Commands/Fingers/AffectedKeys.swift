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
            [AffectedKeysMessages.warning(server: server)]
                + names(server).map { AffectedKeysMessages.warning(tokens: $0, of: server) }
        } + (signing ? [AffectedKeysMessages.signingWarning] : [])
    }

    /// The report after a change of fingers.
    var ended: [Text] {
        servers.flatMap { server in
            [AffectedKeysMessages.ended(server: server)]
                + names(server).map { AffectedKeysMessages.ended(tokens: $0, of: server) }
        } + (signing ? [AffectedKeysMessages.signingEnded] : [])
    }

    /// The report after a change of fingers, as members of a JSON document.
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

/// Messages about keys that a command makes unusable.
enum AffectedKeysMessages {
    /// Before a change of fingers: a registration will end.
    static func warning(server: ServerURL) -> Text {
        """
        after this change you will have to register at \(server) again: have a new activation code \
        ready for 'signet enable --server \(Shell.word(server.bytes))'
        """
    }

    /// Before a change of fingers: a registration's MAC tokens will end.
    static func warning(tokens: Bytes, of server: ServerURL) -> Text {
        "this change ends these MAC tokens of \(server): \(tokens)"
    }

    /// Before a change of fingers: the signing key will end.
    static let signingWarning: Text =
        """
        this change ends the signing key: afterwards, you will have to create another one and \
        distribute its public key
        """

    /// Before a change of fingers with the password: the ssh keys stay, for the new fingers too.
    static func sshKeysStay(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key stays usable after this change, by every finger that is enrolled then: \
                the password vouches for it
                """
        }
        return """
            \(number: count) ssh keys stay usable after this change, by every finger that is \
            enrolled then: the password vouches for it
            """
    }

    /// Before a change of fingers without the password, or of the last finger: the ssh keys will be
    /// destroyed.
    static func sshKeysWarning(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key will be destroyed by this change: afterwards, make another one with \
                'signet ssh new', and give its public key to your servers
                """
        }
        return """
            \(number: count) ssh keys will be destroyed by this change: afterwards, make others with \
            'signet ssh new', and give their public keys to your servers
            """
    }

    /// After a change of fingers: the ssh keys that open to the fingers as they are now.
    static func sshKeysKept(_ count: UInt32) -> Text {
        count == 1
            ? "1 ssh key can be used with the fingers that are enrolled now"
            : "\(number: count) ssh keys can be used with the fingers that are enrolled now"
    }

    /// After a change of fingers: the ssh keys that it has destroyed.
    static func sshKeysEnded(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key is destroyed: see 'signet ssh list', make another one with 'signet ssh \
                new', and give its public key to your servers
                """
        }
        return """
            \(number: count) ssh keys are destroyed: see 'signet ssh list', make others with 'signet \
            ssh new', and give their public keys to your servers
            """
    }

    /// After a change of fingers: a registration has ended.
    static func ended(server: ServerURL) -> Text {
        """
        the registration at \(server) has ended: run 'signet enable --server \(Shell.word(server.bytes))' with a new \
        activation code
        """
    }

    /// After a change of fingers: a registration's MAC tokens have ended.
    static func ended(tokens: Bytes, of server: ServerURL) -> Text {
        """
        these MAC tokens of \(server) have ended: \(tokens). Run 'signet mac-token add \(Shell.word(server.bytes)) \
        NAME' after you have registered there again
        """
    }

    /// After a change of fingers: the signing key has ended.
    static let signingEnded: Text =
        """
        the signing key has ended: run 'signet enable --signing', and distribute the public key \
        that 'signet sign --public-key' then shows. Existing signatures remain valid
        """
}
