// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import ModuleOptions
import SignedFormats
import TestSupport
import Testing

@Suite("the file that names a login's server")
struct LoginServerTests {
    private static let key = SSHPublicKey(point: [4] + [UInt8](repeating: 7, count: 64))
    private static var keyText: String {
        let blob = key.map { Base64.encode($0.blob, alphabet: .standard) } ?? []
        return "ecdsa-sha2-nistp256 \(String(decoding: blob, as: UTF8.self))"
    }
    private static var least: [String] {
        ["url = https://id.example.org", "audience = corp", "key = \(keyText)"]
    }

    private func parse(_ lines: [String]) throws(LoginServer.Fault) -> LoginServer {
        try LoginServer(parsing: [UInt8](lines.joined(separator: "\n").utf8))
    }

    @Test("says what is asked, by which server and how; what it does not say is the strictest")
    func accepted() throws {
        let least = try parse(Self.least)
        #expect(least.url == "https://id.example.org")
        #expect(least.audience == "corp")
        #expect(least.key == Self.key)
        #expect(least.accounts.isEmpty && least.offlineHours == 0)
        #expect(least.token == nil && !least.mayDiffer)
        let all = try parse(
            [
                "# a comment = with an equals sign", "", "\t accounts\t=  alice   @staff bob ",
                "offline=720 hours", "token = file", "names = any", "  # another",
            ] + Self.least + [""])
        #expect(all.accounts == ["alice", "@staff", "bob"].map { [UInt8]($0.utf8) })
        #expect(all.offlineHours == 720 && all.token == .file && all.mayDiffer)
        let none = try parse(
            Self.least + ["offline = refuse", "token = none", "names = same", "accounts = a"])
        #expect(none.offlineHours == 0 && none.token == nil && !none.mayDiffer)
        #expect(try parse(Self.least + ["token = environment"]).token == .answer)
        #expect(try parse(Self.least + ["offline = 1 hours"]).offlineHours == 1)
        // An audience may have an equals sign, and blanks within.
        let odd = try parse([Self.least[0], "audience = a = b", Self.least[2]])
        #expect(odd.audience == "a = b")
    }

    @Test(
        "is refused for a line that is unknown, malformed or out of range, and the line is named",
        arguments: [
            "frobnicate = 1", "accounts", "= x", "url", "Accounts = alice", "accounts = ",
            "accounts = @", "accounts = alice @", "accounts = alice, bob", "accounts = alice;bob",
            "accounts = \"alice\"", "offline = 0 hours", "offline = 721 hours",
            "offline = 12", "offline = 12 days", "offline = 012 hours", "offline = 12 hours more",
            "offline = allow", "offline = ", "token = yes", "token = file x", "token = ",
            "names = all", "names = any same", "[server]", "accounts = al\u{1}ice",
            "accounts = al\u{7f}ice", "offline = refuse\r",
        ])
    func malformed(_ line: String) {
        #expect(throws: LoginServer.Fault.line(4)) { try parse(Self.least + [line]) }
    }

    @Test("is refused if a line occurs twice, even with equal values")
    func repeated() {
        for line in Self.least + ["token = none", "offline = refuse", "names = same"] {
            let lines = Self.least + ["token = none", "offline = refuse", "names = same", line]
            #expect(throws: LoginServer.Fault.line(7)) { try parse(lines) }
        }
    }

    @Test("is refused without a URL, an audience or a key")
    func missing() {
        for (index, entry) in [LoginServer.Entry.url, .audience, .key].enumerated() {
            var lines = Self.least
            lines.remove(at: index)
            #expect(throws: LoginServer.Fault.missing(entry)) { try parse(lines) }
        }
        #expect(throws: LoginServer.Fault.missing(.url)) { try parse([]) }
    }

    @Test(
        "is refused for an invalid URL, or one that is not HTTPS",
        arguments: [
            "http://h", "HTTPS://h", "h", "https:/h", "https://h x", "https://h\ty",
            "https://" + String(repeating: "h", count: 193),
        ])
    func url(_ url: String) {
        #expect(throws: LoginServer.Fault.line(1)) {
            try parse(["url = \(url)"] + Self.least.dropFirst())
        }
    }

    @Test("is refused for a key of another kind, cut or with more behind it")
    func key() {
        let text = Self.keyText
        for key in [
            text.replacing("nistp256", with: "nistp384"), String(text.dropLast()),
            String(text.dropLast(4)), "\(text) comment", text + "AAAA", "ecdsa-sha2-nistp256",
            text.replacing(" ", with: ""), "ssh-ed25519 AAAA",
        ] {
            #expect(throws: LoginServer.Fault.line(3)) {
                try parse(Array(Self.least.prefix(2)) + ["key = \(key)"])
            }
        }
    }

    @Test("is refused beyond its maximum length, before any of it is read")
    func tooLong() throws {
        let filler = String(repeating: "#", count: LoginServer.maximumLength)
        #expect(throws: LoginServer.Fault.tooLong) { try parse(Self.least + [filler]) }
        let lines = Self.least.joined(separator: "\n") + "\n"
        let room = LoginServer.maximumLength - lines.utf8.count
        _ = try parse([lines + String(repeating: "#", count: room)])
    }
}
