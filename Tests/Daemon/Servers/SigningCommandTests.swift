// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    /// The command, the daemon, and programs that know neither.
    @Suite("signet sign")
    struct SigningCommandTests {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Runs the command as root about root itself, and touches when it says so.
        private func signet(
            _ words: [String], at fixture: DaemonFixture, with finger: String = "one",
            input: String? = nil
        ) throws -> Said {
            let said = Said()
            var surroundings = CommandEnvironment()
            surroundings.socketPath = fixture.socket
            surroundings.output = { bytes in
                said.output.withLock { $0 += bytes }
                return true
            }
            surroundings.release = { bytes in
                said.output.withLock { $0 += bytes }
                return true
            }
            let reader = fixture.text
            surroundings.errors = { bytes in
                said.errors.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                if bytes.starts(with: Bytes("swipe your finger across the reader".utf8)) {
                    try? reader.send(.scan(finger))
                }
            }
            var file: FileHandle?
            if let input {
                try scratch.write("input", input)
                file = FileHandle(forReadingAtPath: scratch.at("input"))
                surroundings.input = try #require(file).fileDescriptor
            }
            surroundings.columns = { nil }
            said.code = Invocation.run(words + ["--account", "root"], in: surroundings)
            withExtendedLifetime(file) {}
            return said
        }

        /// A daemon with root's finger, and root's signing key; its line is in `signers`.
        private func fixture() throws -> DaemonFixture {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.root, as: "one")
            let made = try signet(["enable", "--signing"], at: fixture)
            #expect(made.code == .done, "\(made.told)")
            #expect(made.told.contains("to create a key that signs files and challenges"))
            let shown = try signet(["sign", "--public-key"], at: fixture)
            let lines = shown.text.split(separator: "\n")
            #expect(lines.count == 2 && made.text.contains(lines[0]))
            try scratch.write("signers", lines[1] + "\n")
            return fixture
        }

        /// Whether stock ssh-keygen takes a signature over a file.
        private func isTaken(
            _ file: String, _ signature: String, _ namespace: String = "file@signet"
        ) throws -> Bool {
            let command = """
                ssh-keygen -Y verify -f signers -I root -n \(namespace) -s '\(signature)' \
                    < '\(file)'
                """
            return try Program(
                Command(["/bin/sh", "-c", "cd '\(scratch.path)' && \(command)"])
            ).expectEnd().succeeded
        }

        @Test("signs files that stock ssh-keygen takes, and takes with no byte changed")
        func files() throws {
            let fixture = try fixture()
            try scratch.write("big", Bytes(repeating: 0x61, count: 3_000_001))
            try scratch.write("a \u{1B}[2J", "small")
            try scratch.write("empty", "")
            let names = ["big", "a \u{1B}[2J", "empty"]
            let run = try signet(["sign"] + names.map(scratch.at), at: fixture)
            #expect(run.code == .done, "\(run.told)")
            let digest = Hexadecimal.encode(try SHA256.digest(Bytes("small".utf8)).prefix(8) + [])
            let start = String(decoding: digest, as: UTF8.self)
            #expect(
                run.told.hasPrefix("swipe your finger across the reader to sign these 3 files:\n"))
            #expect(run.told.contains("\n  \(scratch.at("a \\x1b[2J")) (SHA-256 \(start)…)\n"))
            #expect(run.told.split(separator: "\n").count == 4)
            for name in names { #expect(try isTaken(name, "\(name).sig"), "\(name)") }
            #expect(try !isTaken("big", "empty.sig"))
            #expect(try !isTaken("big", "big.sig", "login@signet"))
            try scratch.write("big", Bytes(repeating: 0x61, count: 3_000_000) + [0x62])
            #expect(try !isTaken("big", "big.sig"))
        }

        @Test("removes what it wrote if the signature of one of several cannot be written")
        func allOrNone() throws {
            let fixture = try fixture()
            for name in ["a", "b"] { try scratch.write(name, name) }
            // The same file by another name: its signature is there when its turn comes.
            let names = [scratch.at("a"), scratch.at("b"), scratch.at("./a")]
            let run = try signet(["sign"] + names, at: fixture)
            #expect(run.code == .fault && run.told.contains("a.sig"), "\(run.told)")
            #expect(Layout.entries(of: scratch.path).sorted() == ["a", "b", "signers"])
        }

        @Test("does not overwrite an existing signature, unless asked to")
        func existing() throws {
            let fixture = try fixture()
            try scratch.write("file", "text")
            try scratch.write("file.sig", "mine")
            let refused = try signet(["sign", scratch.at("file")], at: fixture)
            #expect(refused.code == .denied)
            #expect(refused.told.hasSuffix("already exists. Use '--force' to replace it\n"))
            #expect(try scratch.read("file.sig") == Bytes("mine".utf8))
            let forced = try signet(["sign", "--force", scratch.at("file")], at: fixture)
            #expect(forced.code == .done)
            #expect(try isTaken("file", "file.sig"))
            #expect(Layout.entries(of: scratch.path).sorted() == ["file", "file.sig", "signers"])
        }

        @Test("signs standard input, and writes the signature to standard output")
        func input() throws {
            let fixture = try fixture()
            let run = try signet(["sign", "-"], at: fixture, input: "some text")
            #expect(run.code == .done && run.told.contains("to sign standard input (SHA-256 "))
            try scratch.write("input.sig", run.bytes)
            #expect(try isTaken("input", "input.sig"))
        }

        @Test("answers a challenge as a stranger's server verifies it by what is documented")
        func challenge() throws {
            let fixture = try fixture()
            let challenge = "signet-login: 1\naudience: shop ü%41"
            let run = try signet(
                ["sign", "--challenge", challenge, "--audience", "shop.example"], at: fixture)
            #expect(run.code == .done, "\(run.told)")
            let asked = "signet-login: 1\\x0aaudience: shop ü%41\n"
            #expect(
                run.told
                    == "swipe your finger across the reader to answer the challenge of shop.example: "
                    + asked,
                "\(Array(run.told.utf8))")
            try scratch.write("printed", run.bytes)
            #expect(try judge("shop.example", challenge))
            #expect(try !judge("shop.example", challenge + "x"))
            #expect(try !judge("other.example", challenge))
            var altered = run.bytes
            let place = try #require(run.text.range(of: "counter: "))
            altered[run.text.utf8.distance(from: run.text.startIndex, to: place.upperBound)] ^= 1
            try scratch.write("printed", altered)
            #expect(try !judge("shop.example", challenge))
            // It is no file's, and no login's.
            let text = run.text.components(separatedBy: "-----BEGIN")
            try scratch.write("statement", text[0])
            try scratch.write("statement.sig", "-----BEGIN" + text[1])
            #expect(try isTaken("statement", "statement.sig", "challenge@signet"))
            for other in SignatureNamespace.allCases where other != .challenge {
                let namespace = String(decoding: other.bytes, as: UTF8.self)
                #expect(try !isTaken("statement", "statement.sig", namespace))
            }
        }

        /// Runs the function that docs/developer/PROTOCOL.md shows.
        private func judge(_ audience: String, _ challenge: String) throws -> Bool {
            let page = try Layout.read("\(Layout.package)/docs/developer/PROTOCOL.md")
            let parts = String(decoding: page, as: UTF8.self).components(separatedBy: "```python\n")
            let code = try #require(parts.last?.components(separatedBy: "```\n").first)
            try scratch.write(
                "judge.py",
                code + """

                    import sys
                    printed = open("printed", "rb").read()
                    print(holds(printed, "signers", "root", sys.argv[1], sys.argv[2]))
                    """)
            let run = try Program(
                Command([
                    "/bin/sh", "-c", "cd '\(scratch.path)' && exec python3 judge.py \"$@\"", "sh",
                    audience, challenge,
                ])
            ).expectEnd()
            #expect(run.errors == "")
            return run.output == "True\n"
        }

        @Test("signs a request that the real server accepts, once, and exactly that one")
        func request() async throws {
            let server = try await LiveServer.start()
            let fixture = try DaemonFixture(
                [.text], configuration: "[relay]\nca-file = \(server.authority)\n")
            let relay = try ServerFixture.relay(of: fixture)
            defer { relay.signal(15) }
            try fixture.enrol(.root, as: "one")
            let none = try signet(["sign", "--request", "GET", "/"], at: fixture)
            #expect(
                none.code == .denied && none.told.contains("root is not registered at any server"))
            _ = try fixture.touchEach(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.root.account, server: ServerURL(server.url),
                        code: Bytes(try server.code().utf8))), with: "one")
            try scratch.write("body", #"{"amount": 7}"#)
            let run = try signet(
                [
                    "sign", "--request", "POST", "https://shop.example/v1/pay?id=%37", "--body",
                    scratch.at("body"),
                ], at: fixture)
            #expect(run.code == .done, "\(run.told)")
            #expect(run.told.contains("the request POST https://shop.example/v1/pay?id=%37, with"))
            let header = try #require(run.text.wholeMatch(of: #/Authorization: (Signet .*)\n/#)).1
            let body = Base64.encode(try SHA256.digest(scratch.read("body")), alphabet: .url)
            let good: [String: Any] = [
                "authorization": String(header), "method": "POST",
                "resource": "/v1/pay?id=%37", "body": String(decoding: body, as: UTF8.self),
            ]
            for (name, value) in [
                ("method", "PUT"), ("resource", "/v1/pay?id=7"), ("resource", "/v1/pay"),
                ("body", String(repeating: "A", count: 43)),
            ] {
                var other = good
                other[name] = value
                let answer = try server.ask("POST", "/v1/authentication/verify", other)
                #expect(answer["valid"] as? Bool == false, "\(name)")
                #expect(answer["code"] as? String == "refused", "\(name)")
            }
            let answer = try server.ask("POST", "/v1/authentication/verify", good)
            #expect(answer["valid"] as? Bool == true && answer["account"] as? String == "alice")
            let again = try server.ask("POST", "/v1/authentication/verify", good)
            #expect(again["code"] as? String == "replayed")
        }

        @Test("writes nothing where the finger does not match")
        func wrongFinger() throws {
            let fixture = try fixture()
            try scratch.write("file", "text")
            let run = try signet(["sign", scratch.at("file")], at: fixture, with: "two")
            #expect(run.code == .denied && run.told.hasSuffix("the finger did not match\n"))
            #expect(!Layout.entries(of: scratch.path).contains("file.sig"))
        }
    }
}

/// What one run of the command said.
private final class Said: Sendable {
    let output = Mutex<Bytes>([])
    let errors = Mutex<String>("")
    private let ending = Mutex<ExitCode?>(nil)

    var code: ExitCode? {
        get { ending.withLock { $0 } }
        set { ending.withLock { $0 = newValue } }
    }
    var bytes: Bytes { output.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var told: String { errors.withLock { $0 } }
}
