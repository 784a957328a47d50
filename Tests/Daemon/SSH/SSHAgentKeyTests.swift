// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("ssh keys of the agent")
    struct SSHAgentKeyTests {
        private static let name = Person.daemon.account
        private static let none = SSHAgentPrograms([])
        private let fixture: DaemonFixture

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
        }

        // MARK: What a person does

        private func create(
            _ keyName: String? = nil, as person: Person = .daemon, with finger: String = "one"
        ) throws -> Answer {
            let name = try keyName.map { try #require(SSHKeyName(Bytes($0.utf8))) }
            let request = SSHAgentCreateRequest(
                account: Self.name, timeoutMilliseconds: 20_000, name: name)
            return try fixture.touchEach(
                .sshAgentCreate(request), with: finger, client: fixture.client(person))
        }

        private func made(_ keyName: String? = nil) throws -> SSHAgentKeyContent {
            let answer = try create(keyName)
            return try #require(answer.own(SSHAgentKeyMadeAnswer.self)?.content, "\(answer)")
        }

        private func request(
            _ data: Bytes, by key: SSHKeyID, programs: SSHAgentPrograms = none,
            forwarders: [Bytes] = [], host: [Bytes] = []
        ) throws -> Request {
            .sshAgentSign(
                SSHAgentSignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000, key: key, data: data,
                    programs: programs, forwarders: try #require(SSHHosts(forwarders)),
                    host: try #require(SSHHosts(host))))
        }

        private func sign(
            _ request: Request, as person: Person = .daemon, with finger: String = "one"
        ) throws -> Answer {
            try fixture.touchEach(request, with: finger, client: fixture.client(person))
        }

        /// Checks a refusal that must come before a finger is asked for.
        private func isRefused(_ request: Request, _ reason: DenialReason) throws {
            let client = try fixture.client(.daemon)
            #expect(try client.ask(request).reason == reason)
            #expect(!client.heard.contains { $0.notice?.kind == .touch })
        }

        private func keys(_ person: Person = .daemon) throws -> [SSHAgentKeyContent] {
            let client = try fixture.client(person)
            try client.send(.sshAgentList(account: Self.name))
            let last = try client.last()
            let keys = client.heard.compactMap { $0.own(SSHAgentKeyAnswer.self)?.content }
            #expect(last.own(SSHKeyCountAnswer.self)?.count == UInt32(keys.count), "\(last)")
            return keys
        }

        private func login(_ key: SSHAgentKeyContent) throws -> Bytes {
            let blob = try #require(SSHPublicKey(key.publicKey)).blob
            return SSHData.Request.with {
                $0.algorithm = SSHData.string("ecdsa-sha2-nistp256")
                $0.keyBlob = SSHData.string(blob)
            }
        }

        /// Checks a signature, which must be over the data themselves.
        private func verify(
            _ answer: Answer, of data: Bytes, by key: SSHAgentKeyContent
        ) throws {
            let numbers = try #require(
                answer.own(SSHAgentSignatureAnswer.self)?.numbers, "\(answer)")
            let signature = try #require(
                P256Signature(r: Bytes(numbers.prefix(32)), s: Bytes(numbers.suffix(32))))
            let verifier = try P256PublicKey(point: key.publicKey.bytes)
            #expect(try verifier.verifies(signature, message: data))
        }

        private var purposes: [String] {
            get throws {
                let log = try fixture.receipts(of: .daemon)
                try log.verify()
                return try log.receipts.compactMap(ReceiptEntry.init)
                    .map { try Statement(parsing: $0.statement) }
                    .map { String(decoding: $0.purpose, as: UTF8.self) }
            }
        }

        private func securityKey() throws -> SSHKeyContent {
            let request = SSHCreateRequest(
                account: Self.name, timeoutMilliseconds: 20_000, application: Bytes("ssh:".utf8))
            let answer = try sign(.sshCreate(request))
            return try #require(answer.own(SSHKeyMadeAnswer.self)?.content, "\(answer)")
        }

        // MARK: Tests

        @Test("a key signs the data of logins and of SSHSIGs themselves, by a touch each")
        func signs() throws {
            let key = try made("plain")
            #expect(try keys() == [key] && keys(.root) == [key])
            let login = try login(key)
            try verify(try sign(request(login, by: key.identifier)), of: login, by: key)
            let file = SSHData.Signature().bytes
            try verify(try sign(request(file, by: key.identifier)), of: file, by: key)
            try fixture.restart()
            try verify(try sign(request(file, by: key.identifier)), of: file, by: key)
            #expect(try made().name.bytes == Bytes("agent".utf8))
        }

        @Test("the receipt names what was signed, over which hosts, and for which programs")
        func receipts() throws {
            let key = try made("plain")
            let programs = SSHAgentPrograms([Bytes("ssh".utf8), Bytes("git\n".utf8)])
            let hops: [Bytes] = (0..<3).map { Bytes(repeating: $0, count: 32) }
            _ = try sign(
                request(
                    SSHData.Signature().bytes, by: key.identifier, programs: programs,
                    forwarders: hops))
            _ = try sign(
                request(
                    try login(key), by: key.identifier, host: [Bytes(repeating: 0, count: 32)]))
            let texts = try purposes
            #expect(texts[0] == "make an ssh key for the agent, plain")
            let first = String(repeating: "A", count: 43)
            #expect(
                texts[1].hasPrefix(
                    "ssh signature: namespace git, forwarded by SHA256:\(first) and SHA256:"),
                "\(texts)")
            #expect(texts[1].hasSuffix(" and 1 more, for ssh of git?"), "\(texts)")
            #expect(texts[2].hasPrefix("ssh alice (host key SHA256:"))
            #expect(texts[2].contains("), session with SHA256:\(first)"))
            #expect(!texts[2].contains(", for ") && !texts[2].contains("forwarded"))
        }

        @Test("neither kind of key signs as the other, nor is listed with it")
        func kinds() throws {
            let plain = try made("plain")
            let hardware = try securityKey()
            #expect(try keys() == [plain])
            let client = try fixture.client(.daemon)
            try client.send(.sshList(account: Self.name))
            _ = try client.last()
            #expect(client.heard.compactMap { $0.own(SSHKeyAnswer.self)?.content } == [hardware])
            let data = SSHData.Signature().bytes
            try isRefused(request(data, by: hardware.handle.key), .sshApplicationRefused)
            let handle = SSHKeyHandle(
                device: hardware.handle.device, uid: hardware.handle.uid, key: plain.identifier)
            for application in ["ssh:", "ssh agent"] {
                try isRefused(
                    .sshSign(
                        SSHSignRequest(
                            account: Self.name, timeoutMilliseconds: 20_000,
                            application: Bytes(application.utf8), handle: handle.bytes, data: data)
                    ), .sshApplicationRefused)
            }
            // A login with a security key's algorithm is none of this key's.
            try isRefused(
                request(SSHData.Request().bytes, by: plain.identifier), .sshDataRefused)
            // A record that says it is of the other kind does not open.
            let path = fixture.file(
                "ssh-keys/" + String(decoding: plain.identifier.hexadecimal, as: UTF8.self),
                of: .daemon)
            let text = String(decoding: try Layout.read(path), as: UTF8.self)
            try DaemonFixture.write(
                text.replacing("application: ssh agent\n", with: "application: ssh:\n"), to: path)
            try isRefused(request(data, by: plain.identifier), .sshApplicationRefused)
            let asked = Request.sshSign(
                SSHSignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000,
                    application: Bytes("ssh:".utf8), handle: handle.bytes, data: data))
            #expect(try sign(asked).reason == .sshKeyInvalidated)
        }

        @Test("another key's login, other data and unknown keys are refused before a touch")
        func refusals() throws {
            let key = try made()
            let other = try made()
            try isRefused(request(try login(other), by: key.identifier), .sshOtherKey)
            let login = try login(key)
            for data in [[], [0], Bytes(login.dropLast()), login + [0]] {
                try isRefused(request(data, by: key.identifier), .sshDataRefused)
            }
            try isRefused(request(login, by: .sample(repeating: 5)), .unknownSshKey)
            #expect(try purposes.count == 2)
        }

        @Test("nothing is signed, made or listed for another finger, others, or root")
        func others() throws {
            let key = try made()
            let data = SSHData.Signature().bytes
            let asked = try request(data, by: key.identifier)
            #expect(try sign(asked, with: "two").reason == .noMatch)
            try verify(try sign(asked), of: data, by: key)
            for person in [Person.bin, .root] {
                #expect(try sign(asked, as: person).reason == .notPermitted)
                #expect(try create("more", as: person).reason == .notPermitted)
            }
            let listed = try fixture.client(.bin).ask(.sshAgentList(account: Self.name))
            #expect(listed.reason == .notPermitted)
        }

        @Test("a change of fingers destroys a key, and its owner removes it as any other")
        func endings() throws {
            let key = try made("plain")
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try keys().map(\.state) == [.invalidated])
            let asked = try request(SSHData.Signature().bytes, by: key.identifier)
            #expect(try sign(asked).reason == .sshKeyInvalidated)
            #expect(try create("plain").reason == .sshKeyExists)
            let removal = Request.sshRemove(account: Self.name, key: key.identifier)
            #expect(try fixture.ask(removal).done != nil)
            #expect(try keys().isEmpty)
            try isRefused(asked, .unknownSshKey)
        }
    }
}
