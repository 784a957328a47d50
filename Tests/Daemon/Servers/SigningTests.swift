// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("The signing key")
    struct SigningTests {
        private static let name = Person.daemon.account
        private let fixture: DaemonFixture

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
        }

        private static let digest = Bytes(repeating: 9, count: 32)
        private static let file = SigningMatter.file(name: Bytes("a b".utf8), digest: digest)
        private static let challenge = SigningMatter.challenge(
            audience: "shop", text: Bytes("signet-login: 1\n".utf8))

        private func sign(
            _ matter: SigningMatter = SigningTests.file, as person: Person = .daemon,
            with finger: String = "one"
        ) throws -> Answer {
            let request = SignRequest(
                account: Self.name, timeoutMilliseconds: 20_000, matter: matter)
            return try fixture.touchEach(
                .sign(request), with: finger, client: fixture.client(person))
        }

        @discardableResult
        private func enable() throws -> Answer {
            try fixture.touchEach(.signingEnable(account: Self.name), with: "one")
        }

        private var key: Answer {
            get throws { try fixture.ask(.signingKey(account: Self.name)) }
        }

        private func counter() throws -> String? {
            let name = try #require(fixture.serverFiles.first)
            let record = try Layout.read(fixture.file("servers/\(name)", of: .daemon))
            return String(decoding: record, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("counter: ") }.map(String.init)
        }

        /// Checks a signature as any verifier would.
        private func verify(
            _ answer: Answer, _ namespace: SignatureNamespace, of digest: Bytes
        ) throws {
            let signed = try #require(answer.signed, "\(answer)")
            let signature = try SSHSignature(blob: signed.signature)
            #expect(signature.namespace == namespace.bytes)
            #expect(signature.publicKey.point == (try key.signingKey?.publicKey))
            let numbers = try #require(P256Signature(r: signature.r, s: signature.s))
            let data = SSHSignature.signedData(
                namespace: namespace.bytes, messageDigest: digest)
            let key = try P256PublicKey(point: signature.publicKey.point.bytes)
            #expect(try key.verifies(numbers, message: data))
        }

        @Test("signs a file's digest and a challenge, by a touch each, in a namespace of its own")
        func signs() throws {
            #expect(try sign().reason == .noSigningKey)
            let made = try #require(try enable().signingKey)
            #expect(try key.signingKey == made && made.state == .good)
            try verify(try sign(), .file, of: Self.digest)
            #expect(try counter() == "counter: 2")
            let answer = try sign(Self.challenge)
            let text = try #require(answer.signed?.statement)
            try verify(answer, .challenge, of: try SHA256.digest(text))
            let statement = try ChallengeStatement(parsing: text)
            #expect(statement.head.audience == "shop")
            #expect(statement.head.account.bytes == Self.name.bytes)
            #expect(statement.head.credential == made.credential)
            #expect(statement.challenge == Bytes("signet-login: 1\n".utf8))
            #expect(statement.claims.factor == Factor.fingerprint)
            #expect(statement.claims.counter == 3)
            try fixture.restart()
            try verify(try sign(), .file, of: Self.digest)
            #expect(try counter() == "counter: 4")
        }

        private static let files = [
            FileDigest(name: Bytes("a.pdf".utf8), digest: digest),
            FileDigest(name: [], digest: Bytes(repeating: 8, count: 32)),
            FileDigest(name: Bytes("c d".utf8), digest: Bytes(repeating: 7, count: 32)),
        ]

        @Test("signs several files with one touch: each by itself, with one receipt that names all")
        func several() throws {
            try enable()
            let client = try fixture.client(.daemon)
            let request = SignRequest(
                account: Self.name, timeoutMilliseconds: 20_000, matter: .files(Self.files))
            let last = try fixture.touchEach(.sign(request), with: "one", client: client)
            #expect(last == .done(DoneAnswer()))
            let signed = client.heard.compactMap { answer -> SignedFileAnswer? in
                answer.own(SignedFileAnswer.self)
            }
            #expect(signed.map(\.digest) == Self.files.map(\.digest))
            for one in signed {
                try verify(.signed(SignedAnswer(signature: one.signature)), .file, of: one.digest)
            }
            #expect(Set(signed.map(\.signature)).count == 3)
            let log = try fixture.receipts(of: .daemon)
            #expect(try log.verify() == 2)
            let text = String(decoding: try #require(log.receipts.last), as: UTF8.self)
            let digests = Self.files.map {
                "sha256:" + String(decoding: Hexadecimal.encode($0.digest), as: UTF8.self)
            }
            #expect(
                text.contains(
                    "\npurpose: sign 3 files \(digests.joined(separator: " ")) a.pdf - c d\n"))
        }

        @Test("counts one attempt for several files, and signs none for a wrong finger or after ^C")
        func severalRefused() throws {
            try enable()
            let request = Request.sign(
                SignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000, matter: .files(Self.files)))
            let client = try fixture.client(.daemon)
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.text.send(.scan("two"))
            try client.wait(for: .noMatch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.failures(of: .daemon) == 1)
            #expect(!client.heard.contains { $0.own(SignedFileAnswer.self) != nil })
            #expect(try fixture.receipts(of: .daemon).verify() == 1)
            #expect(try fixture.client(.bin).ask(request).reason == .notPermitted)
        }

        @Test(
            "the longest names and challenges that can be shown have a whole receipt, others no touch"
        )
        func longest() throws {
            try enable()
            func matters(beyond: Int) -> [SigningMatter] {
                [
                    .file(
                        name: Bytes(repeating: 0x61, count: Limit.purpose - 82 + beyond),
                        digest: Self.digest),
                    .challenge(
                        audience: Audience(Bytes(repeating: 0x62, count: Limit.label)),
                        text: Bytes(
                            repeating: 0x63, count: Limit.purpose - 21 - Limit.label + beyond)),
                ]
            }
            for matter in matters(beyond: 1) {
                let request = SignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000, matter: matter)
                #expect(try fixture.client(.daemon).ask(.sign(request)).reason == .badRequest)
            }
            let file = try sign(matters(beyond: 0)[0])
            try verify(file, .file, of: Self.digest)
            #expect(try sign(matters(beyond: 0)[1]).signed != nil)
            let log = try fixture.receipts(of: .daemon)
            #expect(try log.verify() == 3)
            let texts = log.receipts.map { String(decoding: $0, as: UTF8.self) }
            #expect(texts[1].contains("purpose: sign file sha256:0909"))
        }

        @Test("cannot log in: it is another key, and not a server's")
        func ownKey() throws {
            try enable()
            let line = try Layout.read(fixture.publicKey(of: .daemon))
            let login = try SSHPublicKey.parse(line: line).key
            #expect(try key.signingKey?.publicKey != login.point)
            #expect(try fixture.servers().isEmpty)
            for server in ["signing", "https://signing"] {
                let request = Request.serverLogin(
                    account: Self.name, server: ServerURL(server), timeoutMilliseconds: 1)
                let reason = try fixture.client(.daemon).ask(request).reason
                #expect(reason == (server == "signing" ? .badRequest : .unknownServer))
                let disable = Request.serverDisable(
                    account: Self.name, server: ServerURL(server))
                #expect(try fixture.ask(disable).denial != nil)
            }
            #expect(try key.signingKey?.state == .good)
        }

        @Test("leaves a receipt that says what was signed")
        func receipts() throws {
            try enable()
            #expect(try sign().signed != nil && sign(Self.challenge).signed != nil)
            let log = try fixture.receipts(of: .daemon)
            try log.verify()
            let purposes = try log.receipts.compactMap(ReceiptEntry.init)
                .map { try Statement(parsing: $0.statement) }
                .map { String(decoding: $0.purpose, as: UTF8.self) }
            let digest = String(repeating: "09", count: 32)
            #expect(
                purposes == [
                    "make the signing key", "sign file sha256:\(digest) a b",
                    "sign challenge for shop: signet-login: 1\n",
                ])
        }

        @Test("signs nothing for a finger that does not match, another account, or root")
        func others() throws {
            try enable()
            #expect(try sign(with: "two").reason == .noMatch)
            for person in [Person.bin, .root] {
                #expect(try sign(as: person).reason == .notPermitted)
            }
            for request in [
                Request.signingKey(account: Self.name), .signingEnable(account: Self.name),
                .signingDisable(account: Self.name),
            ] {
                #expect(try fixture.client(.bin).ask(request).reason == .notPermitted)
            }
            #expect(try counter() == "counter: 1")
        }

        @Test("is made and destroyed with the password, and shown without")
        func password() throws {
            let client = try fixture.client(.daemon)
            func refuses(_ request: Request) throws {
                try client.send(request)
                #expect(try client.isAskedPassword(of: Self.name))
                try client.send(.password(Bytes("wrong".utf8)))
                #expect(try client.last().reason == .noPassword)
            }
            try refuses(.signingEnable(account: Self.name))
            #expect(try client.ask(.signingKey(account: Self.name)).reason == .noSigningKey)
            #expect(fixture.serverFiles.isEmpty)
            // No password is asked for where there is nothing to destroy.
            #expect(try client.ask(.signingDisable(account: Self.name)).reason == .noSigningKey)
            try enable()
            try refuses(.signingDisable(account: Self.name))
            #expect(try client.ask(.signingKey(account: Self.name)).signingKey?.state == .good)
        }

        @Test("is unique: a second is not made, and after disable there is none")
        func single() throws {
            let first = try #require(try enable().signingKey)
            #expect(try enable().reason == .signingKeyExists)
            #expect(try key.signingKey == first)
            #expect(try fixture.ask(.signingDisable(account: Self.name)).done?.state == .disabled)
            #expect(fixture.serverFiles.isEmpty)
            #expect(try sign().reason == .noSigningKey)
            let again = try fixture.ask(.signingDisable(account: Self.name))
            #expect(again.reason == .noSigningKey)
            let second = try #require(try enable().signingKey)
            #expect(second.publicKey != first.publicKey)
            #expect(try sign().signed != nil)
        }

        @Test("is ended by a change of fingers, and replaced in one step")
        func fingersChanged() throws {
            try enable()
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try sign().reason == .signingKeyInvalidated)
            #expect(try key.signingKey?.state == .invalidated)
            #expect(try enable().signingKey?.state == .good)
            #expect(try sign().signed != nil && sign(with: "two").signed != nil)
            #expect(fixture.serverFiles.count == 1)
        }

        @Test("signs nothing where the touch is taken back, or login is off")
        func cancelled() throws {
            try enable()
            let client = try fixture.client(.daemon)
            try client.send(
                .sign(
                    SignRequest(account: Self.name, timeoutMilliseconds: 20_000, matter: Self.file))
            )
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.ask(.disable(account: Self.name)).done != nil)
            #expect(try sign().reason == .notEnabled)
            #expect(try counter() == "counter: 1")
        }

        @Test("is made in the TPM where that is the vault")
        func inTPM() throws {
            let tpm = try SoftwareTPM()
            let fixture = try DaemonFixture.onTPM(tpm.tcti, kind: "tpm")
            let made = try fixture.touchEach(.signingEnable(account: Self.name), with: "one")
            #expect(made.signingKey?.vault == Bytes("tpm".utf8))
            let request = Request.sign(
                SignRequest(account: Self.name, timeoutMilliseconds: 20_000, matter: Self.challenge)
            )
            let answer = try fixture.touchEach(
                request, with: "one", client: fixture.client(.daemon))
            let text = try #require(answer.signed?.statement)
            #expect(try ChallengeStatement(parsing: text).claims.integrity.key == .tpm)
        }
    }
}

extension Answer {
    var signed: SignedAnswer? { if case .signed(let signed) = self { signed } else { nil } }
    var signingKey: SigningKeyAnswer? {
        if case .signingKey(let key) = self { key } else { nil }
    }
}
