// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import TestSupport
import Testing

@testable import State

@Suite("MAC tokens on disk")
struct MACTokenStoreTests {
    private let fixture: StateFixture
    private let key: ServerKey

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1)
        key = try Self.key(for: "https://h", of: fixture.account, fixture, credential: 0xc1)
    }

    /// A key for a server, as an enabled one is kept.
    private static func key(
        for server: String, of account: AccountState, _ fixture: StateFixture, credential: UInt8
    ) throws -> ServerKey {
        let servers = account.servers
        let identifier = CredentialID.sample(repeating: credential)
        let context = try servers.context(
            identifier, server: ServerURL(server),
            enrolment: try account.prints.enrolment().state)
        let place = ServerRegistration(
            server: ServerURL(server),
            begun: RelayRegistration(
                registration: .sample(repeating: 2), account: ServerAccountName([1]),
                application: ApplicationName([2]),
                audience: Audience("\(server)/shop"), challenge: .sample(repeating: 0), expires: 0
            ))
        return try servers.keep(
            try fixture.vault.create(context), as: identifier, context: context, by: .file,
            at: place, state: .good, now: StateFixture.now)
    }

    private func token(
        _ name: String, _ id: UInt8, of key: ServerKey? = nil
    ) -> StoredMACToken {
        StoredMACToken(
            Bytes(name.utf8), for: key ?? self.key, identifier: .sample(repeating: id),
            created: StateFixture.now, expires: Instant(seconds: StateFixture.now.seconds + 60))
    }

    private func secret(_ byte: UInt8) throws -> SecretBytes {
        var bytes = Bytes(repeating: byte, count: 32)
        return try SecretBytes(moving: &bytes)
    }

    private func opened(_ token: StoredMACToken) throws -> Bytes {
        try fixture.account.macTokens.secret(of: token).withBytes { span in
            unsafe span.withUnsafeBytes { unsafe Bytes($0) }
        }
    }

    private func path(_ id: UInt8) -> String {
        fixture.file("mac-tokens/" + String(repeating: String(id, radix: 16), count: 16))
    }

    @Test(
        "are found as they were kept, for their owner's eyes alone, and nothing of a secret shows")
    func kept() throws {
        let tokens = fixture.account.macTokens
        #expect(try tokens.list().isEmpty)
        try tokens.keep(token("b", 0xb1), secret: try secret(0x51))
        try tokens.keep(token("a", 0xa1), secret: try secret(0x52))
        let found = try tokens.list()
        #expect(found.map(\.name) == [Bytes("a".utf8), Bytes("b".utf8)])
        #expect(try found.map(opened).map(\.first) == [0x52, 0x51])
        let text = try fixture.contents(path(0xa1))
        #expect(!String(decoding: text, as: UTF8.self).contains("UlJSUlJS"))
        var status = stat()
        #expect(unsafe stat(path(0xa1), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("one takes the place of the other of its name, and of no other key's")
    func replaced() throws {
        let other = try Self.key(for: "https://i", of: fixture.account, fixture, credential: 0xc2)
        let tokens = fixture.account.macTokens
        try tokens.keep(token("a", 0xa1), secret: try secret(1))
        try tokens.keep(token("a", 0xb1, of: other), secret: try secret(2))
        try tokens.keep(token("a", 0xa2), secret: try secret(3))
        #expect(try tokens.list().map(\.identifier.bytes[0]) == [0xa2, 0xb1])
    }

    @Test("are forgotten when their key is invalidated, given up or removed, and only then")
    func withTheKey() throws {
        let tokens = fixture.account.macTokens
        let endings: [(ServerKey) throws -> Void] = [
            { _ = try fixture.account.servers.invalidate($0) },
            { _ = try fixture.account.servers.beginRemoval($0) },
            { try fixture.account.servers.remove($0) },
        ]
        for (number, end) in endings.enumerated() {
            let key = try Self.key(
                for: "https://k\(number)", of: fixture.account, fixture,
                credential: UInt8(0xd0 + number))
            try tokens.keep(token("a", 0xa1), secret: try secret(1))
            try tokens.keep(token("a", 0xb1, of: key), secret: try secret(2))
            try end(key)
            #expect(try tokens.list().map(\.identifier.bytes[0]) == [0xa1])
        }
    }

    @Test(
        "do not open with a line changed, and are not read with one too many",
        arguments: [
            "server", "credential", "name", "audience", "created", "expires", "state", "secret",
        ])
    func altered(line: String) throws {
        let tokens = fixture.account.macTokens
        try tokens.keep(token("abc", 0xa1), secret: try secret(1))
        let text = String(decoding: try fixture.contents(path(0xa1)), as: UTF8.self)
        var lines = text.split(separator: "\n").map(String.init)
        let index = try #require(lines.firstIndex { $0.hasPrefix("\(line): ") })
        // One character of the value, to another of the same kind.
        let value = Array(lines[index])
        let place = line.count + (line == "created" || line == "expires" ? 5 : 2)
        var changed = value
        changed[place] = value[place] == "1" ? "2" : "1"
        lines[index] = line == "state" ? "state: removing" : String(changed)
        let altered = Bytes((lines.joined(separator: "\n") + "\n").utf8)
        try fixture.overwrite(path(0xa1), altered)
        for token in try tokens.list() {
            #expect(throws: StoreFault.vault(.doesNotOpen)) { try opened(token) }
        }
        try fixture.overwrite(path(0xa1), Bytes(text.utf8) + Bytes("more: 1\n".utf8))
        #expect(try tokens.list().isEmpty)
    }

    @Test("stay good for ending them while the server does not know, marked so that it holds")
    func removing() throws {
        let tokens = fixture.account.macTokens
        try tokens.keep(token("a", 0xa1), secret: try secret(1))
        try tokens.keep(token("b", 0xb1), secret: try secret(2))
        let found = try #require(try tokens.list().first)
        let marked = try tokens.beginRemoval(found)
        #expect(try tokens.list().map(\.state) == [.removing, .good])
        #expect(try tokens.list().first == marked)
        #expect(try opened(marked) == Bytes(repeating: 1, count: 32))
        // What was read before is sealed otherwise by now.
        var altered = String(decoding: try fixture.contents(path(0xa1)), as: UTF8.self)
        altered = altered.replacing("state: removing", with: "state: good")
        try fixture.overwrite(path(0xa1), Bytes(altered.utf8))
        let forged = try #require(try tokens.list().first)
        #expect(throws: StoreFault.vault(.doesNotOpen)) { try opened(forged) }
        #expect(throws: StoreFault.vault(.doesNotOpen)) { try tokens.beginRemoval(forged) }
        try fixture.overwrite(
            path(0xa1), Bytes(altered.replacing("state: good", with: "state: gone").utf8))
        #expect(try tokens.list().map(\.name) == [Bytes("b".utf8)])
    }

    @Test("are good, can be ended, and are bound to their lines in a record that has no state")
    func withoutState() throws {
        let tokens = fixture.account.macTokens
        try fixture.overwrite(path(0xa1), try older(token("a", 0xa1), try secret(1)))
        let found = try #require(try tokens.list().first)
        #expect(found.state == .good)
        #expect(try opened(found) == Bytes(repeating: 1, count: 32))
        let marked = try tokens.beginRemoval(found)
        #expect(try tokens.list() == [marked] && marked.state == .removing)
        #expect(try opened(marked) == Bytes(repeating: 1, count: 32))
        // One that was given up is not made good again by a line less.
        let text = String(decoding: try fixture.contents(path(0xa1)), as: UTF8.self)
        try fixture.overwrite(
            path(0xa1), Bytes(text.replacing("state: removing\n", with: "").utf8))
        let forged = try #require(try tokens.list().first)
        #expect(throws: StoreFault.vault(.doesNotOpen)) { try opened(forged) }
    }

    /// A record as it was before there were states.
    private func older(_ token: StoredMACToken, _ secret: SecretBytes) throws -> Bytes {
        let tokens = fixture.account.macTokens
        try tokens.keep(token, secret: secret)
        let text = String(
            decoding: try fixture.contents(path(token.identifier.bytes[0])), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("state: ") }
        let described = lines.dropLast().joined(separator: "\n") + "\n"
        let sealed = try MACTokenSeal(host: fixture.account.host).seal(
            secret, account: fixture.account.name, uid: fixture.account.uid,
            record: Bytes(described.utf8))
        return Bytes("\(described)secret: ".utf8) + Base64.encode(sealed, alphabet: .url) + [0x0a]
    }

    @Test("are forgotten after many failed notices to their server, which are counted on disk")
    func vainTries() throws {
        let tokens = fixture.account.macTokens
        try tokens.keep(token("a", 0xa1), secret: try secret(1))
        var found = try #require(try tokens.list().first)
        found = try tokens.beginRemoval(found)
        var now = Instant(seconds: 1_800_000_000)
        for _ in 1..<MACTokenStore.vainTries {
            #expect(try !tokens.wasVain(found, at: now))
            found = try #require(try tokens.list().first)
            // Others are not counted within the hour, nor before that one.
            for seconds in [now.seconds, now.seconds + MACTokenStore.vainPause - 1, 0] {
                #expect(try !tokens.wasVain(found, at: Instant(seconds: seconds)))
                #expect(try tokens.list().first == found)
            }
            now = Instant(seconds: now.seconds + MACTokenStore.vainPause)
            found = try #require(try tokens.list().first)
            #expect(found.state == .removing)
        }
        #expect(try opened(found) == Bytes(repeating: 1, count: 32))
        // Whoever takes tries away has it for nothing.
        let text = String(decoding: try fixture.contents(path(0xa1)), as: UTF8.self)
        let mark = "vain-tries: \(MACTokenStore.vainTries - 1)\n"
        #expect(text.contains(mark))
        let without = text.split(separator: "\n", omittingEmptySubsequences: false).filter {
            !$0.hasPrefix("vain-tries: ") && !$0.hasPrefix("last-vain: ")
        }
        try fixture.overwrite(path(0xa1), Bytes(without.joined(separator: "\n").utf8))
        let forged = try #require(try tokens.list().first)
        #expect(throws: StoreFault.vault(.doesNotOpen)) { try opened(forged) }
        try fixture.overwrite(
            path(0xa1), Bytes(text.replacing(mark, with: "vain-tries: 0\n").utf8))
        #expect(try tokens.list().isEmpty)
        try fixture.overwrite(path(0xa1), Bytes(text.utf8))
        #expect(try tokens.wasVain(found, at: now))
        #expect(try tokens.list().isEmpty)
    }

    @Test("another one in a token's place does not get its failed notices counted")
    func vainForAnother() throws {
        let tokens = fixture.account.macTokens
        try tokens.keep(token("a", 0xa1), secret: try secret(1))
        let old = try tokens.beginRemoval(try #require(try tokens.list().first))
        let new = try tokens.keep(token("a", 0xa2), secret: try secret(2))
        #expect(try !tokens.wasVain(old, at: Instant(seconds: 1_800_000_000)))
        #expect(try tokens.list() == [new])
        try tokens.remove(new)
        #expect(try !tokens.wasVain(old, at: Instant(seconds: 1_800_000_000)))
        #expect(try tokens.list().isEmpty)
    }

    @Test("do not open as another account's, or in another's place")
    func swapped() throws {
        let tokens = fixture.account.macTokens
        try tokens.keep(token("abc", 0xa1), secret: try secret(1))
        let text = try fixture.contents(path(0xa1))
        try fixture.overwrite(path(0xa2), text)
        #expect(try tokens.list().count == 1)
        let bob = try fixture.state.makeAccount("bob", uid: 1_001, now: StateFixture.now)
        let foreign = try #require(try tokens.list().first)
        #expect(throws: StoreFault.vault(.doesNotOpen)) { try bob.macTokens.secret(of: foreign) }
        #expect(try opened(foreign) == Bytes(repeating: 1, count: 32))
    }
}
