// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// The registrations at servers that a change of fingers ends, with their MAC tokens.
enum ServerEffect: EffectWords {
    static let holding: StaticString = "server"

    static func warnings(_ effects: [ChangeEffectAnswer]) -> [Text] {
        servers(in: effects).flatMap { server, names in
            [ServerEffectMessages.warning(server: server)]
                + (names.map { [ServerEffectMessages.warning(tokens: $0, of: server)] } ?? [])
        }
    }

    static func ended(_ effects: [ChangeEffectAnswer]) -> [Text] {
        servers(in: effects).flatMap { server, names in
            [ServerEffectMessages.ended(server: server)]
                + (names.map { [ServerEffectMessages.ended(tokens: $0, of: server)] } ?? [])
        }
    }

    static func members(_ effects: [ChangeEffectAnswer]) -> [(String, JSON)] {
        [
            ("serversEnded", .array(servers(in: effects).map { JSON.bytes($0.server.bytes) })),
            ("macTokensEnded", .number(UInt64(effects.count { $0.name != nil }))),
        ]
    }

    /// The servers, each with the names of its tokens as one text; nil if it has none.
    private static func servers(
        in effects: [ChangeEffectAnswer]
    ) -> [(server: ServerURL, tokens: Bytes?)] {
        effects.filter { $0.name == nil }.compactMap(\.subject).map { server in
            let names = effects.filter { $0.subject == server }.compactMap(\.name)
            let joined = names.isEmpty ? nil : Bytes(names.joined(separator: Bytes(", ".utf8)))
            return (ServerURL(server), joined)
        }
    }
}

/// Messages about registrations that a change of fingers ends.
enum ServerEffectMessages {
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
}
