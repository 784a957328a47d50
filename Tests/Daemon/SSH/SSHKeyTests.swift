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
    @Suite("ssh keys")
    struct SSHKeyTests {
        private static let name = Person.daemon.account
        private let fixture: DaemonFixture

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
        }

        // MARK: What a person does

        private func create(
            _ keyName: String? = nil, application: String = "ssh:", as person: Person = .daemon,
            with finger: String = "one"
        ) throws -> Answer {
            let name = try keyName.map { try #require(SSHKeyName(Bytes($0.utf8))) }
            let request = SSHCreateRequest(
                account: Self.name, timeoutMilliseconds: 20_000,
                application: Bytes(application.utf8), name: name)
            return try fixture.touchEach(
                .sshCreate(request), with: finger, client: fixture.client(person))
        }

        private func made(_ keyName: String? = nil) throws -> SSHKeyContent {
            let answer = try create(keyName)
            return try #require(answer.own(SSHKeyMadeAnswer.self)?.content, "\(answer)")
        }

        private func request(
            _ data: Bytes, by key: SSHKeyContent, handle: Bytes? = nil, application: Bytes? = nil
        ) -> Request {
            .sshSign(
                SSHSignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000,
                    application: application ?? key.application.bytes,
                    handle: handle ?? key.handle.bytes, data: data))
        }

        private func sign(
            _ data: Bytes, by key: SSHKeyContent, as person: Person = .daemon,
            with finger: String = "one"
        ) throws -> Answer {
            try fixture.touchEach(
                request(data, by: key), with: finger, client: fixture.client(person))
        }

        private func signature(_ data: Bytes, by key: SSHKeyContent) throws -> SSHSignatureAnswer {
            let answer = try sign(data, by: key)
            return try #require(answer.own(SSHSignatureAnswer.self), "\(answer)")
        }

        /// Checks a refusal that must come before a finger is asked for.
        private func isRefused(_ request: Request, _ reason: DenialReason) throws {
            let client = try fixture.client(.daemon)
            #expect(try client.ask(request).reason == reason)
            #expect(!client.heard.contains { $0.notice?.kind == .touch })
        }

        private func keys(_ person: Person = .daemon) throws -> [SSHKeyContent] {
            let client = try fixture.client(person)
            try client.send(.sshList(account: Self.name))
            let last = try client.last()
            let keys = client.heard.compactMap { $0.own(SSHKeyAnswer.self)?.content }
            #expect(last.own(SSHKeyCountAnswer.self)?.count == UInt32(keys.count), "\(last)")
            return keys
        }

        // MARK: What is signed

        private func key(_ content: SSHKeyContent) throws -> SSHSecurityKey {
            SSHSecurityKey(
                key: try #require(SSHPublicKey(content.publicKey)),
                application: content.application)
        }

        private func login(_ content: SSHKeyContent, user: String = "alice") throws -> Bytes {
            var request = SSHData.Request()
            request.user = SSHData.string(user)
            request.keyBlob = SSHData.string(try key(content).blob)
            return request.bytes
        }

        /// Checks a signature as sshd does; PROTOCOL.u2f.
        private func verify(
            _ answer: SSHSignatureAnswer, of data: Bytes, by content: SSHKeyContent,
            counter: UInt32
        ) throws {
            #expect(answer.flags == 0x05 && answer.counter == counter)
            let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
            let signed =
                try SHA256.digest(content.application.bytes) + [5] + number
                + SHA256.digest(data)
            let numbers = try #require(
                P256Signature(
                    r: Bytes(answer.numbers.prefix(32)), s: Bytes(answer.numbers.suffix(32))))
            let key = try P256PublicKey(point: content.publicKey.bytes)
            #expect(try key.verifies(numbers, message: signed))
        }

        private var files: [String] {
            Layout.entries(of: fixture.file("ssh-keys", of: .daemon)).sorted()
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

        // MARK: Tests

        @Test("a key signs logins and SSHSIGs by a touch each, with a counter that grows on disk")
        func signs() throws {
            let key = try made("work")
            #expect(key.state == .good && key.name.bytes == Bytes("work".utf8))
            #expect(try keys() == [key] && keys(.root) == [key])
            let login = try login(key)
            try verify(try signature(login, by: key), of: login, by: key, counter: 1)
            let file = SSHData.Signature().bytes
            try verify(try signature(file, by: key), of: file, by: key, counter: 2)
            try fixture.restart()
            try verify(try signature(file, by: key), of: file, by: key, counter: 3)
            let record = try Layout.read(fixture.file("ssh-keys/\(files[0])", of: .daemon))
            #expect(String(decoding: record, as: UTF8.self).contains("\ncounter: 3\n"))
        }

        @Test("the receipt names what was signed")
        func receipts() throws {
            let key = try made("work")
            _ = try signature(try login(key), by: key)
            _ = try signature(SSHData.Signature().bytes, by: key)
            let texts = try purposes
            #expect(texts.count == 3)
            #expect(texts[0] == "make an ssh key, work")
            let digest = try SHA256.digest(SSHData.hostKey)
            let fingerprint = String(
                decoding: Base64.encode(digest, alphabet: .standard).filter { $0 != 0x3D },
                as: UTF8.self)
            #expect(texts[1] == "ssh alice (host key SHA256:\(fingerprint))")
            #expect(texts[2] == "ssh signature: namespace git")
        }

        @Test("several keys are told apart, by names that are given or chosen")
        func several() throws {
            let first = try made()
            let second = try made()
            let named = try made("work")
            let worded = try #require(
                try create(application: "ssh:laptop").own(SSHKeyMadeAnswer.self)?.content)
            let names = [first, second, named, worded].map {
                String(decoding: $0.name.bytes, as: UTF8.self)
            }
            #expect(names == ["ssh", "ssh-2", "work", "laptop"])
            #expect(Set([first, second, named, worded].map(\.publicKey)).count == 4)
            #expect(try create("work").reason == .sshKeyExists)
            #expect(try keys().count == 4)
            // Each signs for itself alone.
            let login = try login(first)
            try isRefused(request(login, by: second), .sshOtherKey)
            try verify(try signature(login, by: first), of: login, by: first, counter: 1)
        }

        @Test("data that cannot be named are refused before a finger is asked for")
        func otherData() throws {
            let key = try made()
            let login = try login(key)
            for data in [
                [], [0], Bytes("hello".utf8), Bytes(login.dropLast()), login + [0],
                Bytes(repeating: 0, count: SSHSignedData.longest),
            ] {
                try isRefused(request(data, by: key), .sshDataRefused)
            }
            let question = SSHData.Request.with {
                $0.keyBlob = SSHData.string((try? self.key(key).blob) ?? [])
                $0.isSigned = [0]
            }
            try isRefused(request(question, by: key), .sshDataRefused)
            try isRefused(request(SSHData.Request().bytes, by: key), .sshOtherKey)
            #expect(try purposes.count == 1)
        }

        @Test("handles that are altered, another's, or of another machine have their own denials")
        func handles() throws {
            let key = try made()
            let data = SSHData.Signature().bytes
            let handle = key.handle.bytes
            for malformed in [
                [], Bytes(handle.dropLast()), handle + [0], [2] + handle.dropFirst(),
                Bytes(repeating: 0, count: Limit.label),
            ] {
                try isRefused(request(data, by: key, handle: malformed), .sshHandleMalformed)
            }
            for (place, reason) in [
                (1, DenialReason.sshHandleOfOtherMachine), (16, .sshHandleOfOtherMachine),
                (17, .sshHandleOfOtherAccount), (20, .sshHandleOfOtherAccount),
                (21, .unknownSshKey), (36, .unknownSshKey),
            ] {
                var altered = handle
                altered[place] ^= 1
                try isRefused(request(data, by: key, handle: altered), reason)
            }
            #expect(try signature(data, by: key).counter == 1)
        }

        @Test("an application that is not one of ssh, or not the key's, is refused")
        func applications() throws {
            let key = try made()
            let data = SSHData.Signature().bytes
            for application in ["web:", "ssh", "ssh:other", "ssh: ", "x"] {
                try isRefused(
                    request(data, by: key, application: Bytes(application.utf8)),
                    .sshApplicationRefused)
            }
            for application in ["web:", "ssh", "ssh:a b"] {
                #expect(try create(application: application).reason == .sshApplicationRefused)
            }
        }

        @Test("nothing is signed or made for a finger that does not match, others, or root")
        func others() throws {
            let key = try made()
            let data = SSHData.Signature().bytes
            #expect(try sign(data, by: key, with: "two").reason == .noMatch)
            // A match takes the failures back.
            #expect(try signature(data, by: key).counter == 1)
            #expect(try create("more", with: "two").reason == .noMatch)
            for person in [Person.bin, .root] {
                #expect(try sign(data, by: key, as: person).reason == .notPermitted)
                #expect(try create("more", as: person).reason == .notPermitted)
            }
            for request in [
                Request.sshList(account: Self.name),
                .sshRemove(account: Self.name, key: key.handle.key),
            ] {
                #expect(try fixture.client(.bin).ask(request).reason == .notPermitted)
            }
            #expect(try keys() == [key])
            #expect(try signature(data, by: key).counter == 2)
        }

        @Test("a touch that is taken back signs nothing and uses up no counter")
        func cancelled() throws {
            let key = try made()
            let client = try fixture.client(.daemon)
            try client.send(request(SSHData.Signature().bytes, by: key))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try signature(SSHData.Signature().bytes, by: key).counter == 1)
        }

        @Test("a change of fingers destroys the keys, which are listed as such")
        func fingersChanged() throws {
            let key = try made("work")
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            var destroyed = key
            destroyed.state = .invalidated
            #expect(try keys() == [destroyed])
            let data = SSHData.Signature().bytes
            let denial = try #require(try sign(data, by: key).denial)
            #expect(denial.reason == .sshKeyInvalidated && denial.subject == Bytes("work".utf8))
            let record = try Layout.read(fixture.file("ssh-keys/\(files[0])", of: .daemon))
            #expect(!String(decoding: record, as: UTF8.self).contains("\nkey: "))
            // The name is free once the key is removed.
            #expect(try create("work").reason == .sshKeyExists)
            let removal = Request.sshRemove(account: Self.name, key: key.handle.key)
            #expect(try fixture.ask(removal).done != nil)
            let next = try made("work")
            #expect(next.publicKey != key.publicKey && next.handle != key.handle)
            #expect(try sign(data, by: key).reason == .unknownSshKey)
            #expect(try signature(data, by: next).counter == 1)
        }

        @Test("a key that is removed signs no more, and is removed once")
        func removed() throws {
            let (first, second) = (try made("a"), try made("b"))
            let removal = Request.sshRemove(account: Self.name, key: first.handle.key)
            #expect(try fixture.ask(removal).done != nil)
            #expect(try fixture.ask(removal).reason == .unknownSshKey)
            try isRefused(request(SSHData.Signature().bytes, by: first), .unknownSshKey)
            #expect(try keys() == [second] && files.count == 1)
            let client = try fixture.client(.daemon)
            try client.send(.sshRemove(account: Self.name, key: second.handle.key))
            #expect(try client.isAskedPassword(of: Self.name))
            try client.send(.password(Bytes("wrong".utf8)))
            #expect(try client.last().reason == .noPassword)
            #expect(try keys() == [second])
        }

        @Test("a record that was altered opens nothing")
        func alteredRecord() throws {
            let key = try made("work")
            let other = try made("other")
            let data = SSHData.Signature().bytes
            let path = fixture.file(
                "ssh-keys/" + String(decoding: key.handle.key.hexadecimal, as: UTF8.self),
                of: .daemon)
            let text = String(decoding: try Layout.read(path), as: UTF8.self)
            // Another application: the key is not sealed to it.
            try DaemonFixture.write(
                text.replacing("application: ssh:\n", with: "application: ssh:x\n"), to: path)
            let asked = request(data, by: key, application: Bytes("ssh:x".utf8))
            let answer = try fixture.touchEach(asked, with: "one", client: fixture.client(.daemon))
            #expect(answer.reason == .sshKeyInvalidated)
            // Cut short, it is no key at all.
            try DaemonFixture.write(String(text.dropLast(5)), to: path)
            try isRefused(request(data, by: key), .unknownSshKey)
            #expect(try signature(data, by: other).counter == 1)
        }

        @Test("there is room for 32 keys, and no more")
        func full() throws {
            for _ in 0..<32 { _ = try made() }
            #expect(try create().reason == .tooManySshKeys)
            #expect(try keys().count == 32)
        }
    }
}
