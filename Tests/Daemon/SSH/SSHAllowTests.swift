// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport
import Testing

/// What ends a grant, beside its number.
enum GrantEnd {
    case lid
    case time
    case lockout
    case disable

    /// What is answered to a signature that the grant has already counted.
    var reason: DenialReason {
        switch self {
        case .lid: .lidClosed
        case .time: .timedOut
        case .lockout: .lockedUntilPassword
        case .disable: .notEnabled
        }
    }

    func happen(to fixture: DaemonFixture) throws {
        switch self {
        case .lid: try fixture.setLid("state:      closed\n")
        case .time: try fixture.passTime(61)
        case .lockout: try fixture.setFailures(20, of: .daemon)
        case .disable:
            let request = Request.disable(account: Person.daemon.account)
            try #require(try fixture.ask(request).done != nil)
        }
    }
}

extension DaemonTests {
    @Suite("a grant of ssh signatures") struct SSHAllowTests {
        private static let name = Person.daemon.account
        private static let on = "[ssh]\ngrants = allow\n"

        private func fixture(_ configuration: String = Self.on) throws -> DaemonFixture {
            let fixture = try DaemonFixture([.text], configuration: configuration)
            try fixture.enrol(.daemon, as: "one")
            return fixture
        }

        private func destination(_ text: String) throws -> SSHDestination {
            try #require(SSHDestination(Bytes(text.utf8)))
        }

        private func host() throws -> SSHDestination {
            let digest = try SHA256.digest(SSHData.hostKey)
            let text = Base64.encode(digest, alphabet: .standard).filter { $0 != 0x3D }
            return try destination("SHA256:" + String(decoding: text, as: UTF8.self))
        }

        private func request(
            _ key: SSHKeyContent, _ destination: SSHDestination, signatures: UInt32 = 2,
            seconds: UInt32 = 60
        ) -> Request {
            .sshAllow(
                SSHAllowRequest(
                    account: Self.name, timeoutMilliseconds: 20_000, key: key.handle.key,
                    destination: destination, signatures: signatures, seconds: seconds))
        }

        /// Asks for a grant, and touches for it.
        private func allow(
            _ fixture: DaemonFixture, _ request: Request
        ) throws -> TestClient {
            let client = try fixture.client(.daemon)
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            while let answer = try client.next() {
                if answer.own(SSHAllowedAnswer.self) != nil { return client }
                try #require(!answer.isLast, "\(answer)")
            }
            throw ClientFault.ended(client.heard)
        }

        private func signing(
            _ data: Bytes, _ key: SSHKeyContent, verified: Bool = false
        ) -> Request {
            .sshSign(
                SSHSignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000,
                    application: key.application.bytes, handle: key.handle.bytes, data: data,
                    wantsVerification: verified))
        }

        /// Signs without a touch.
        private func signs(
            _ fixture: DaemonFixture, _ data: Bytes, _ key: SSHKeyContent, counter: UInt32
        ) throws {
            let client = try fixture.client(.daemon)
            let answer = try client.ask(signing(data, key))
            let signature = try #require(answer.own(SSHSignatureAnswer.self), "\(answer)")
            #expect(!client.heard.contains { $0.notice?.kind == .touch })
            #expect(signature.flags == 0x01 && signature.counter == counter)
            let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
            let signed =
                try SHA256.digest(key.application.bytes) + [1] + number + SHA256.digest(data)
            let numbers = try #require(
                P256Signature(
                    r: Bytes(signature.numbers.prefix(32)), s: Bytes(signature.numbers.suffix(32))))
            let point = try P256PublicKey(point: key.publicKey.bytes)
            #expect(try point.verifies(numbers, message: signed))
        }

        /// Checks that a touch is asked for, as if there were no grant.
        private func needsTouch(_ fixture: DaemonFixture, _ request: Request) throws {
            let client = try fixture.client(.daemon)
            try client.send(request)
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
        }

        private func login(_ key: SSHKeyContent, host: Bytes? = nil) throws -> Bytes {
            let blob = SSHSecurityKey(
                key: try #require(SSHPublicKey(key.publicKey)), application: key.application
            ).blob
            return SSHData.Request.with {
                $0.keyBlob = SSHData.string(blob)
                if let host { $0.host = SSHData.string(host) }
            }
        }

        private func purposes(_ fixture: DaemonFixture) throws -> [String] {
            try fixture.verifiedReceipts().map {
                String(decoding: $0.statement.purpose, as: UTF8.self)
            }
        }

        @Test("is off unless an administrator has turned it on")
        func off() throws {
            let fixture = try fixture("")
            let key = try fixture.makeSSHKey()
            let client = try fixture.client(.daemon)
            #expect(try client.ask(request(key, try host())).reason == .sshGrantsOff)
            #expect(!client.heard.contains { $0.notice?.kind == .touch })
        }

        @Test("covers its number of logins at one host key, each with a receipt that says so")
        func logins() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let host = try host()
            let client = try allow(fixture, request(key, host))
            try signs(fixture, try login(key), key, counter: 1)
            try signs(fixture, try login(key), key, counter: 2)
            #expect(try client.last().done != nil)
            try needsTouch(fixture, signing(try login(key), key))
            let texts = try purposes(fixture)
            let fingerprint = String(decoding: host.bytes, as: UTF8.self)
            #expect(texts.count == 4)
            #expect(texts[1] == "allow 2 ssh signatures in 60 s for \(fingerprint)")
            for (text, number) in zip(texts[2...], 1...) {
                #expect(
                    text == "ssh alice (host key \(fingerprint)), \(number) of 2 that a touch has "
                        + "allowed")
            }
        }

        @Test("covers neither another host key nor a login without one, nor a file")
        func destinations() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try host(), signatures: 9))
            let other =
                SSHData.string("ssh-ed25519") + SSHData.string([UInt8](repeating: 8, count: 32))
            try needsTouch(fixture, signing(try login(key, host: other), key))
            var unbound = SSHData.Request.unbound
            unbound.keyBlob = SSHData.string(
                SSHSecurityKey(
                    key: try #require(SSHPublicKey(key.publicKey)), application: key.application
                ).blob)
            try needsTouch(fixture, signing(unbound.bytes, key))
            try needsTouch(fixture, signing(SSHData.Signature().bytes, key))
            try signs(fixture, try login(key), key, counter: 1)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
        }

        @Test("covers files only in the namespace that it names")
        func namespaces() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try destination("namespace:git")))
            try signs(fixture, SSHData.Signature().bytes, key, counter: 1)
            var other = SSHData.Signature()
            other.namespace = SSHData.string("file")
            try needsTouch(fixture, signing(other.bytes, key))
            try needsTouch(fixture, signing(try login(key), key))
            try signs(fixture, SSHData.Signature().bytes, key, counter: 2)
            #expect(try client.last().done != nil)
        }

        @Test("covers no other key, and nothing for which the user must be verified")
        func others() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let other = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try host(), signatures: 9))
            try needsTouch(fixture, signing(try login(other), other))
            try needsTouch(fixture, signing(try login(key), key, verified: true))
            try signs(fixture, try login(key), key, counter: 1)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
        }

        @Test("ends after its time, and with its client")
        func time() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try host(), signatures: 9, seconds: 30))
            try signs(fixture, try login(key), key, counter: 1)
            try fixture.passTime(31)
            #expect(try client.last().done != nil)
            try needsTouch(fixture, signing(try login(key), key))
            let next = try allow(fixture, request(key, try host(), signatures: 9))
            try next.send(.cancel)
            #expect(try next.last().reason == .cancelled)
            try needsTouch(fixture, signing(try login(key), key))
        }

        @Test("ends with the daemon, with the lid, and with a change of fingers")
        func ends() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            _ = try allow(fixture, request(key, try host(), signatures: 9))
            try fixture.restart(by: SIGKILL)
            try needsTouch(fixture, signing(try login(key), key))

            let lid = try allow(fixture, request(key, try host(), signatures: 9))
            try fixture.setLid("state:      closed\n")
            #expect(try lid.last().reason == .lidClosed)
            try fixture.setLid("state:      open\n")
            try needsTouch(fixture, signing(try login(key), key))

            let changed = try allow(fixture, request(key, try host(), signatures: 9))
            #expect(try fixture.enrolWithPassword(.leftIndex, as: "two").done != nil)
            #expect(try changed.last().denial != nil)
            try needsTouch(fixture, signing(try login(key), key))
        }

        @Test("ends with a lockout")
        func lockout() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try host(), signatures: 9))
            try fixture.setFailures(20, of: .daemon)
            #expect(try client.last().denial != nil)
            let refused = try fixture.client(.daemon)
            #expect(try refused.ask(signing(try login(key), key)).denial != nil)
            #expect(!refused.heard.contains { $0.notice?.kind == .touch })
        }

        /// A grant of one signature on a TPM that will stand still, and its key.
        private func grant(on tpm: HeldTPM) throws -> (DaemonFixture, SSHKeyContent, TestClient) {
            let fixture = try DaemonFixture([.text], configuration: tpm.configuration + Self.on)
            try fixture.enrol(.daemon, as: "one")
            let key = try fixture.makeSSHKey()
            let client = try allow(fixture, request(key, try host(), signatures: 1))
            return (fixture, key, client)
        }

        @Test(
            "signs nothing, and leaves no receipt, if it has ended while that had to wait",
            arguments: [GrantEnd.lid, .time, .disable])
        func waiting(_ end: GrantEnd) throws {
            let tpm = try HeldTPM()
            let (fixture, key, allowed) = try grant(on: tpm)
            let receipts = try purposes(fixture).count
            // A login of the account's holds the chain of receipts while it is signed.
            tpm.stop { $0.code == .sign }
            let login = try fixture.client()
            try login.send(.login(.daemon, tries: 1))
            try login.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try tpm.awaitStop()
            let signing = try fixture.client(.daemon)
            try signing.send(self.signing(try self.login(key), key))
            // Its one signature is counted, and has no receipt yet.
            #expect(try allowed.last().done != nil)
            try end.happen(to: fixture)
            tpm.goOn()
            let answer = try signing.last()
            #expect(answer.reason == end.reason, "\(answer)")
            let outcome = try login.last()
            let texts = try purposes(fixture)
            #expect(!texts.contains { $0.contains("1 of 1") }, "\(texts)")
            #expect(texts.count <= receipts + 1, "\(texts), \(outcome)")
        }

        @Test(
            "signs nothing if it has ended while the receipt was signed",
            arguments: [GrantEnd.lid, .time, .lockout])
        func receipt(_ end: GrantEnd) throws {
            let tpm = try HeldTPM()
            let (fixture, key, allowed) = try grant(on: tpm)
            tpm.stop { $0.code == .sign }
            let signing = try fixture.client(.daemon)
            try signing.send(self.signing(try login(key), key))
            try tpm.awaitStop()
            #expect(try allowed.last().done != nil)
            try end.happen(to: fixture)
            tpm.goOn()
            let answer = try signing.last()
            #expect(answer.reason == end.reason, "\(answer)")
        }

        @Test("is not made for a key of signet-agent, which is none of the command's programs")
        func agentKeys() throws {
            let fixture = try fixture()
            let made = try fixture.touchEach(
                .sshAgentCreate(
                    SSHAgentCreateRequest(
                        account: Self.name, timeoutMilliseconds: 20_000, name: nil)),
                with: "one", client: fixture.client(.daemon))
            let key = try #require(made.own(SSHAgentKeyMadeAnswer.self)?.content, "\(made)")
            let asked = Request.sshAllow(
                SSHAllowRequest(
                    account: Self.name, timeoutMilliseconds: 20_000, key: key.identifier,
                    destination: try host(), signatures: 2, seconds: 60))
            #expect(
                try fixture.client(.daemon).ask(asked).reason == .sshApplicationRefused)
        }

        @Test("is made for no finger that does not match, for no key that is gone, and not by root")
        func refusals() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let asked = request(key, try host())
            let stranger = try fixture.touchEach(
                asked, with: "two", client: fixture.client(.daemon))
            #expect(stranger.reason == .noMatch)
            try needsTouch(fixture, signing(try login(key), key))
            for person in [Person.root, .bin] {
                #expect(try fixture.client(person).ask(asked).reason == .notPermitted)
            }
            #expect(
                try fixture.ask(.sshRemove(account: Self.name, key: key.handle.key)).done != nil)
            #expect(try fixture.client(.daemon).ask(asked).reason == .unknownSshKey)
        }
    }
}
