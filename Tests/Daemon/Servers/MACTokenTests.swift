// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A MAC token")
    struct MACTokenTests {
        private static let files = "mac-tokens"

        @Test("is obtained by a touch, and identifies the device for exactly the intended request")
        func wholeWay() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            let token = try #require(try fixture.tokens().first)
            #expect(token.name == Bytes("cron".utf8) && token.server == fixture.url)
            let header = try #require(try fixture.header("cron").header)
            #expect(header.hasPrefix("SignetMAC token="))
            #expect(try fixture.verdict(header) == nil)
            #expect(try fixture.verdict(header) == "replayed")
            // No touch is wanted for the next one.
            let body = try SHA256.digest(Bytes("{}".utf8))
            func next() throws -> String {
                try #require(try fixture.header("cron", "POST", "/v1/x?y=1", body: body).header)
            }
            #expect(try fixture.verdict(next(), "POST", "/v1/x?y=1", body: body) == nil)
            #expect(try fixture.verdict(next(), "PUT", "/v1/x?y=1", body: body) == "refused")
            #expect(try fixture.verdict(next(), "POST", "/v1/x?y=2", body: body) == "refused")
            #expect(try fixture.verdict(next(), "POST", "/v1/x?y=1") == "refused")
            let log = try fixture.daemon.receipts(of: .daemon)
            #expect(try log.verify() == 2)
            #expect(
                log.receipts.last.map { String(decoding: $0, as: UTF8.self) }?
                    .contains("MAC token cron") == true)
        }

        @Test("is refused by the server where its time was changed, and once it is revoked")
        func staleAndRevoked() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            let parsed = try MACAuthorization(
                header: Bytes(try #require(try fixture.header("cron").header).utf8))
            let old = MACAuthorization(
                token: parsed.token, nonce: parsed.nonce,
                issued: Instant(seconds: parsed.issued.seconds - 31), mac: parsed.mac)
            #expect(try fixture.verdict(String(decoding: old.header, as: UTF8.self)) == "refused")
            let id = String(decoding: parsed.token.hexadecimal, as: UTF8.self)
            try fixture.server.ask("POST", "/v1/mac-tokens/\(id)/revoke", [:])
            let header = try #require(try fixture.header("cron").header)
            #expect(try fixture.verdict(header) == "token-refused")
            // The way on: one of the same name.
            #expect(try fixture.addToken("cron").done != nil)
            #expect(try fixture.verdict(try #require(try fixture.header("cron").header)) == nil)
            #expect(try fixture.tokens().count == 1)
        }

        @Test("is not got with a finger that does not match, for another, or under a bad name")
        func refused() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron", with: "two").reason == .noMatch)
            for name in ["signet-operations", "-x", "a\u{1B}b"] {
                #expect(try fixture.addToken(name).reason == .badRequest)
            }
            #expect(try fixture.tokens().isEmpty)
            try fixture.daemon.enrol(.bin, as: "two")
            #expect(try fixture.addToken("cron", .bin, with: "two").reason == .unknownServer)
            #expect(try fixture.addToken("cron").done != nil)
            for person in [Person.bin, .root] {
                let client = try fixture.daemon.client(person)
                let request = MACTokenHeaderRequest(
                    account: Person.daemon.account, server: fixture.url, name: Bytes("cron".utf8),
                    method: Bytes("GET".utf8), resource: Bytes("/".utf8),
                    bodyDigest: Digests.nothing)
                #expect(try client.ask(.macTokenHeader(request)).reason == .notPermitted)
            }
            #expect(try fixture.header("other").reason == .unknownMacToken)
            for method in ["get", "GET ", ""] where !method.isEmpty {
                #expect(try fixture.header("cron", method).reason == .badRequest)
            }
        }

        @Test("ends with the key: where fingers change, it is given up, or removed at the server")
        func endsWithKey() async throws {
            let server = try await LiveServer.start()
            let fixture = try ServerFixture(server)
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            #expect(fixture.files(in: Self.files).count == 1)
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.header("cron").reason == .serverKeyInvalidated)
            #expect(fixture.files(in: Self.files).isEmpty)
            // A new key has none of the old one's.
            try fixture.enable()
            #expect(try fixture.header("cron").reason == .unknownMacToken)
            #expect(try fixture.addToken("cron").done != nil)
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done != nil)
            #expect(fixture.files(in: Self.files).isEmpty)
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            let id = try #require(
                try server.registrations().first { $0["status"] as? String == "ACTIVE" }?[
                    "registration"] as? String)
            try server.ask("POST", "/v1/registrations/\(id)/remove", [:])
            #expect(try fixture.logIn().reason == .serverKeyRemoved)
            #expect(fixture.files(in: Self.files).isEmpty)
        }

        @Test("opens only in its own place, and not if one of its lines was changed")
        func altered() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            let directory = fixture.daemon.file(Self.files, of: .daemon)
            func changed(_ change: (String, String) -> (String, String)) throws {
                let name = try #require(Layout.entries(of: directory).first)
                let text = String(
                    decoding: try Layout.read("\(directory)/\(name)"), as: UTF8.self)
                let (newName, newText) = change(name, text)
                _ = unsafe unlink("\(directory)/\(name)")
                try DaemonFixture.write(
                    Bytes(newText.utf8), to: "\(directory)/\(newName)", mode: 0o600)
            }
            let changes: [(String, (String, String) -> (String, String))] = [
                (
                    "renamed",
                    {
                        (
                            $0.replacing("name: cron", with: ""),
                            $1.replacing("name: cron", with: "name: other")
                        )
                    }
                ),
                ("longer", { ($0, $1.replacing("expires: 2", with: "expires: 3")) }),
                ("secret", { ($0, Self.flipped($1)) }),
                ("cut", { ($0, String($1.dropLast(3))) }),
            ]
            for (what, change) in changes {
                #expect(try fixture.addToken("cron").done != nil)
                try changed(change)
                let name = what == "renamed" ? "other" : "cron"
                #expect(try fixture.header(name).reason == .unknownMacToken, "\(what)")
                for file in Layout.entries(of: directory) {
                    _ = unsafe unlink("\(directory)/\(file)")
                }
            }
            // Another account's file is none here.
            #expect(try fixture.addToken("cron").done != nil)
            #expect(try fixture.header("cron").header != nil)
        }

        @Test("is ended at its server and here, by its name, and the reader's own is not lent")
        func removed() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            #expect(try fixture.addToken("backup").done != nil)
            // Made before, and not used yet.
            let (gone, good) = (
                try fixture.header("cron").header, try fixture.header("backup").header
            )
            #expect(try fixture.asking(fixture.removing(), .bin).last?.reason == .notPermitted)
            let ended = try fixture.asking(fixture.removing())
            #expect(ended.first == .notice(Notice(.askingServer, subject: fixture.url.bytes)))
            #expect(ended.last?.done?.state == CredentialState.none)
            #expect(try fixture.asking(fixture.removing()).map(\.reason) == [.unknownMacToken])
            #expect(try fixture.verdict(try #require(gone)) == "token-refused")
            #expect(try fixture.verdict(try #require(good)) == nil)
            #expect(try fixture.tokens().map(\.name) == [Bytes("backup".utf8)])
            #expect(try fixture.asking(fixture.removing("backup")).last?.done != nil)
            #expect(try fixture.tokens().isEmpty && fixture.files(in: Self.files).isEmpty)
            _ = try fixture.awaited()
            #expect(try fixture.tokens().map(\.name) == [Bytes("signet-operations".utf8)])
            #expect(try fixture.header("signet-operations").reason == .unknownMacToken)
        }

        @Test("is revoked later at a server that cannot be reached, and not used until then")
        func removedLater() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            let unused = try #require(try fixture.header("cron").header)
            try fixture.stopRelay()
            #expect(try fixture.asking(fixture.removing()).last?.done?.state == .disabled)
            #expect(try fixture.tokens().isEmpty && fixture.files(in: Self.files).count == 1)
            #expect(try fixture.header("cron").reason == .unknownMacToken)
            #expect(try fixture.asking(fixture.removing()).last?.reason == .unknownMacToken)
            // The server has not heard of it.
            #expect(try fixture.verdict(unused) == nil)
            try fixture.startRelay()
            try fixture.daemon.restart()
            try awaitNoFiles(in: fixture.daemon.file(Self.files, of: .daemon))
            #expect(try fixture.revoked() == [true])
            #expect(try fixture.logIn().token != nil)
        }

        @Test("is not revoked twice if a new one of its name replaced it meanwhile")
        func replacedMeanwhile() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            #expect(try fixture.addToken("cron").done != nil)
            try fixture.stopRelay()
            #expect(try fixture.asking(fixture.removing()).last?.done?.state == .disabled)
            try fixture.startRelay()
            #expect(try fixture.addToken("cron").done != nil)
            #expect(fixture.files(in: Self.files).count == 1)
            try fixture.daemon.restart()
            #expect(try fixture.verdict(try #require(try fixture.header("cron").header)) == nil)
            #expect(try fixture.tokens().count == 1 && fixture.revoked().filter { !$0 }.count == 1)
        }

        /// With one character of the sealed secret another one.
        private static func flipped(_ text: String) -> String {
            guard let range = text.firstRange(of: "secret: ") else { return text }
            let first = text[range.upperBound]
            return text.replacing("secret: \(first)", with: "secret: \(first == "A" ? "B" : "A")")
        }
    }
}

extension ServerFixture {
    fileprivate func removing(_ name: String = "cron") -> Request {
        .macTokenRemove(account: Person.daemon.account, server: url, name: Bytes(name.utf8))
    }

    /// Whether each of the registration's tokens is revoked, as the server tells its application.
    fileprivate func revoked() throws -> [Bool] {
        let id = try #require(try server.registrations().first?["registration"] as? String)
        let list = try server.ask("GET", "/v1/registrations/\(id)/mac-tokens")
        let tokens = try #require(list["tokens"] as? [[String: Any]])
        return tokens.compactMap { $0["revoked"] as? Bool }
    }

    fileprivate func files(in directory: String) -> [String] {
        Layout.entries(of: daemon.file(directory, of: .daemon))
    }
}
