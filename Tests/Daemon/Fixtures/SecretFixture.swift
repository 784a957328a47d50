// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// What people do with secrets.
extension DaemonFixture {
    /// Touches with these fingers, one a notice, and gives what was released.
    func get(_ name: String, with ids: [String], client: TestClient? = nil) throws -> Bytes {
        let client = try client ?? self.client()
        let before = client.parts.count
        let last = try touch(.get(name), with: ids, client: client)
        guard last == .done(DoneAnswer()) else { throw ClientFault.ended(client.heard) }
        return client.parts[before...].flatMap { $0 }
    }

    /// Touches with this finger as often as it is wanted, and gives what was released, nil if nothing.
    func get(_ name: String, with id: String) throws -> Bytes? {
        let client = try client()
        let last = try touchEach(.get(name), with: id, client: client)
        return last == .done(DoneAnswer()) ? client.parts.flatMap { $0 } : nil
    }

    /// Why a secret is not even asked a finger for.
    func refusal(_ name: String) throws -> DenialReason? {
        let client = try client()
        let reason = try client.ask(.get(name)).reason
        #expect(client.notices.isEmpty && client.parts.isEmpty)
        return reason
    }

    /// The account `daemon`'s secrets, as that account sees them.
    func list() throws -> [SecretAnswer] {
        let client = try client(.daemon)
        try client.send(.secretList(account: Person.daemon.account))
        return try client.rest().compactMap { answer in
            if case .secret(let secret) = answer { secret } else { nil }
        }
    }

    /// The files of the account `daemon`'s secrets.
    var secretFiles: [String] {
        let directory = file("secrets", of: .daemon)
        return Layout.entries(of: directory).map { "\(directory)/\($0)" }
    }

    /// The account `daemon`'s receipts, each with its namespace, after the chain was checked.
    func verifiedReceipts() throws -> [(statement: Statement, namespace: Bytes)] {
        let sent = try receipts(of: .daemon)
        #expect(sent.last == .done(DoneAnswer()))
        #expect(try sent.verify() == sent.receipts.count)
        return try sent.receipts.map { text in
            let entry = try #require(ReceiptEntry(text))
            let (statement, signature) = (entry.statement, entry.signature)
            return (
                try Statement(parsing: statement), try SSHSignature(blob: signature).namespace
            )
        }
    }
}

extension TestClient {
    /// Sends a secret of the account `daemon`'s, or another's, part by part.
    func keep(
        _ content: Bytes, _ name: String, of person: Person = .daemon, replacing: Bool = false
    ) throws -> Answer {
        try send(
            .secretSet(
                SecretSetRequest(
                    account: person.account, size: UInt32(content.count), name: Bytes(name.utf8),
                    replaces: replacing)))
        guard let first = try next() else { throw ClientFault.ended(heard) }
        guard first == .secretWanted else { return first }
        var rest = content[...]
        while !rest.isEmpty {
            try send(.secretPart(Bytes(rest.prefix(Limit.secretPart))))
            rest = rest.dropFirst(Limit.secretPart)
        }
        return try last()
    }

    /// All parts of secrets that came.
    var parts: [Bytes] {
        heard.compactMap { if case .secretPart(let part) = $0 { part } else { nil } }
    }

    /// The kinds of notices that came.
    var notices: [NoticeKind] { heard.compactMap { $0.notice?.kind } }
}

extension Request {
    /// Asks for a secret of the account `daemon`'s, or another's.
    static func get(
        _ name: String, of person: Person = .daemon, milliseconds: UInt32 = 30_000
    ) -> Request {
        .secretGet(
            account: person.account, name: Bytes(name.utf8), timeoutMilliseconds: milliseconds)
    }

    /// Announces a secret of the account `daemon`'s.
    static func set(_ name: String, _ size: UInt32) -> Request {
        .secretSet(
            SecretSetRequest(
                account: Person.daemon.account, size: size, name: Bytes(name.utf8),
                replaces: false))
    }
}
