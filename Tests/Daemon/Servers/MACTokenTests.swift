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

        @Test("is got by a touch, and shows the device for just the request that was meant")
        func wholeWay() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            let token = try #require(try stage.tokens().first)
            #expect(token.name == Bytes("cron".utf8) && token.server == stage.url)
            let header = try #require(try stage.header("cron").header)
            #expect(header.hasPrefix("SignetMAC token="))
            #expect(try stage.verdict(header) == nil)
            #expect(try stage.verdict(header) == "replayed")
            // No touch is wanted for the next one.
            let body = try SHA256.digest(Bytes("{}".utf8))
            func next() throws -> String {
                try #require(try stage.header("cron", "POST", "/v1/x?y=1", body: body).header)
            }
            #expect(try stage.verdict(next(), "POST", "/v1/x?y=1", body: body) == nil)
            #expect(try stage.verdict(next(), "PUT", "/v1/x?y=1", body: body) == "refused")
            #expect(try stage.verdict(next(), "POST", "/v1/x?y=2", body: body) == "refused")
            #expect(try stage.verdict(next(), "POST", "/v1/x?y=1") == "refused")
            let log = try stage.fixture.receipts(of: .daemon)
            #expect(try log.verify() == 2)
            #expect(
                log.receipts.last.map { String(decoding: $0, as: UTF8.self) }?
                    .contains("MAC token cron") == true)
        }

        @Test("is refused by the server where its time was changed, and once it is revoked")
        func staleAndRevoked() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            let parsed = try MACAuthorization(
                header: Bytes(try #require(try stage.header("cron").header).utf8))
            let old = MACAuthorization(
                token: parsed.token, nonce: parsed.nonce,
                issued: Instant(seconds: parsed.issued.seconds - 31), mac: parsed.mac)
            #expect(try stage.verdict(String(decoding: old.header, as: UTF8.self)) == "refused")
            let id = String(decoding: parsed.token.hexadecimal, as: UTF8.self)
            try stage.server.ask("POST", "/v1/mac-tokens/\(id)/revoke", [:])
            let header = try #require(try stage.header("cron").header)
            #expect(try stage.verdict(header) == "token-refused")
            // The way on: one of the same name.
            #expect(try stage.addToken("cron").done != nil)
            #expect(try stage.verdict(try #require(try stage.header("cron").header)) == nil)
            #expect(try stage.tokens().count == 1)
        }

        @Test("is not got with a finger that does not match, for another, or under a bad name")
        func refused() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron", with: "two").reason == .noMatch)
            for name in ["signet-operations", "-x", "a\u{1B}b"] {
                #expect(try stage.addToken(name).reason == .badRequest)
            }
            #expect(try stage.tokens().isEmpty)
            try stage.fixture.enrol(.bin, as: "two")
            #expect(try stage.addToken("cron", .bin, with: "two").reason == .unknownServer)
            #expect(try stage.addToken("cron").done != nil)
            for person in [Person.bin, .root] {
                let client = try stage.fixture.client(person)
                let request = MACTokenHeaderRequest(
                    account: Person.daemon.account, server: stage.url, name: Bytes("cron".utf8),
                    method: Bytes("GET".utf8), resource: Bytes("/".utf8),
                    bodyDigest: Digests.nothing)
                #expect(try client.ask(.macTokenHeader(request)).reason == .notPermitted)
            }
            #expect(try stage.header("other").reason == .unknownMacToken)
            for method in ["get", "GET ", ""] where !method.isEmpty {
                #expect(try stage.header("cron", method).reason == .badRequest)
            }
        }

        @Test("ends with the key: where fingers change, it is given up, or removed at the server")
        func endsWithKey() async throws {
            let server = try await LiveServer.start()
            let stage = try ServerFixture(server)
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            #expect(stage.files(in: Self.files).count == 1)
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try stage.header("cron").reason == .serverKeyInvalidated)
            #expect(stage.files(in: Self.files).isEmpty)
            // A new key has none of the old one's.
            try stage.enable()
            #expect(try stage.header("cron").reason == .unknownMacToken)
            #expect(try stage.addToken("cron").done != nil)
            let disable = Request.serverDisable(account: Person.daemon.account, server: stage.url)
            #expect(try stage.fixture.ask(disable).done != nil)
            #expect(stage.files(in: Self.files).isEmpty)
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            let id = try #require(
                try server.registrations().first { $0["status"] as? String == "ACTIVE" }?[
                    "registration"] as? String)
            try server.ask("POST", "/v1/registrations/\(id)/remove", [:])
            #expect(try stage.logIn().reason == .serverKeyRemoved)
            #expect(stage.files(in: Self.files).isEmpty)
        }

        @Test("opens in its own place alone, and not where a line of it was changed")
        func altered() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            let directory = stage.fixture.file(Self.files, of: .daemon)
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
                #expect(try stage.addToken("cron").done != nil)
                try changed(change)
                let name = what == "renamed" ? "other" : "cron"
                #expect(try stage.header(name).reason == .unknownMacToken, "\(what)")
                for file in Layout.entries(of: directory) {
                    _ = unsafe unlink("\(directory)/\(file)")
                }
            }
            // Another account's file is none here.
            #expect(try stage.addToken("cron").done != nil)
            #expect(try stage.header("cron").header != nil)
        }

        @Test("is ended at its server and here, by its name, and the reader's own is not lent")
        func removed() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            #expect(try stage.addToken("backup").done != nil)
            // Made before, and not used yet.
            let (gone, good) = (try stage.header("cron").header, try stage.header("backup").header)
            #expect(try stage.asking(stage.removing(), .bin).last?.reason == .notPermitted)
            let ended = try stage.asking(stage.removing())
            #expect(ended.first == .notice(Notice(.askingServer, subject: stage.url.bytes)))
            #expect(ended.last?.done?.state == CredentialState.none)
            #expect(try stage.asking(stage.removing()).map(\.reason) == [.unknownMacToken])
            #expect(try stage.verdict(try #require(gone)) == "token-refused")
            #expect(try stage.verdict(try #require(good)) == nil)
            #expect(try stage.tokens().map(\.name) == [Bytes("backup".utf8)])
            #expect(try stage.asking(stage.removing("backup")).last?.done != nil)
            #expect(try stage.tokens().isEmpty && stage.files(in: Self.files).isEmpty)
            _ = try stage.awaited()
            #expect(try stage.tokens().map(\.name) == [Bytes("signet-operations".utf8)])
            #expect(try stage.header("signet-operations").reason == .unknownMacToken)
        }

        @Test("is ended later at a server that is away, and used by nobody until then")
        func removedLater() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            let unused = try #require(try stage.header("cron").header)
            try stage.stopRelay()
            #expect(try stage.asking(stage.removing()).last?.done?.state == .disabled)
            #expect(try stage.tokens().isEmpty && stage.files(in: Self.files).count == 1)
            #expect(try stage.header("cron").reason == .unknownMacToken)
            #expect(try stage.asking(stage.removing()).last?.reason == .unknownMacToken)
            // The server has not heard of it.
            #expect(try stage.verdict(unused) == nil)
            try stage.startRelay()
            try stage.fixture.restart()
            try awaitNoFiles(in: stage.fixture.file(Self.files, of: .daemon))
            #expect(try stage.revoked() == [true])
            #expect(try stage.logIn().token != nil)
        }

        @Test("is not ended twice where one of the same name took its place meanwhile")
        func replacedMeanwhile() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            #expect(try stage.addToken("cron").done != nil)
            try stage.stopRelay()
            #expect(try stage.asking(stage.removing()).last?.done?.state == .disabled)
            try stage.startRelay()
            #expect(try stage.addToken("cron").done != nil)
            #expect(stage.files(in: Self.files).count == 1)
            try stage.fixture.restart()
            #expect(try stage.verdict(try #require(try stage.header("cron").header)) == nil)
            #expect(try stage.tokens().count == 1 && stage.revoked().filter { !$0 }.count == 1)
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
        Layout.entries(of: fixture.file(directory, of: .daemon))
    }
}
