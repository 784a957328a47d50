// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Gate
import Posix
import SignedFormats
import StateSupport
import TestSupport
import Testing

@testable import Sealing

@Suite("a key for the password")
struct PasswordKeyTests {
    private static let item = CredentialID.sample(repeating: 1)
    private let machine: HostSecret
    private let vault: FileVault

    init() throws {
        machine = try host()
        vault = FileVault(host: machine)
    }

    @Test("opens for the password that it was made for, and signs under its public half")
    func opens() throws {
        let made = try vault.create(try context())
        let key = try vault.ready(key: made.sealed, context: try context())
        let proof = try PlayedPassword.of(1000)
        let signature = try key.sign([1, 2], context: try context(), for: proof.match)
        #expect(
            try P256PublicKey(point: made.publicPoint).verifies(signature, message: [1, 2]))
    }

    @Test("does not open after the password was changed, nor for another account or server")
    func changed() throws {
        let made = try vault.create(try context())
        let proof = try PlayedPassword.of(1000)
        for other in [
            try context(hash: "$6$salt$other"), try context(day: 20_001),
            try context(account: "bob"), try context(item: CredentialID.sample(repeating: 2)),
            try context(server: "https://other.example"),
        ] {
            let key = try vault.ready(key: made.sealed, context: other)
            #expect(throws: VaultError.doesNotOpen) {
                try key.sign([1], context: other, for: proof.match)
            }
        }
    }

    @Test("signs for no finger, and a key for fingers signs for no password")
    func swapped() throws {
        let password = try context()
        let state = try EnrolmentState(generation: 1, prints: [print(1)])
        let fingers = try #require(
            SealingContext(
                account: "alice", uid: 1000, item: Self.item,
                relyingParty: "https://id.example", enrolment: state))
        let proof = try PlayedPassword.of(1000)
        let touch = try PlayedTouch.of(1000)
        let key = try vault.ready(key: try vault.create(password).sealed, context: password)
        expectTrouble("the key opens for the password, not for a finger") {
            try key.sign([1], context: password, for: touch.match)
        }
        let other = try vault.ready(key: try vault.create(fingers).sealed, context: fingers)
        expectTrouble("the key opens for a finger, not for the password") {
            try other.sign([1], context: fingers, for: proof.match)
        }
        // Nor by the context of the other kind.
        #expect(throws: VaultError.doesNotOpen) {
            try other.sign([1], context: password, for: proof.match)
        }
        #expect(throws: VaultError.doesNotOpen) {
            try key.sign([1], context: fingers, for: touch.match)
        }
    }

    @Test("signs for no other account's password")
    func another() throws {
        let made = try vault.create(try context())
        let key = try vault.ready(key: made.sealed, context: try context())
        let proof = try PlayedPassword.of(1001)
        expectTrouble("the password that was accepted belongs to another account") {
            try key.sign([1], context: try context(), for: proof.match)
        }
    }

    @Test("signs for a minute after the password was accepted, and no longer")
    func stale() throws {
        let time = PlayedTime()
        let made = try vault.create(try context())
        let key = try vault.ready(key: made.sealed, context: try context())
        let proof = try PlayedPassword.of(1000, clock: time.clock)
        time.pass(.seconds(59))
        _ = try key.sign([1], context: try context(), for: proof.match)
        time.pass(.seconds(1))
        expectTrouble("the password was accepted too long ago") {
            try key.sign([1], context: try context(), for: proof.match)
        }
    }

    @Test("is made for no account whose password this machine does not store")
    func elsewhere() throws {
        let none = try PasswordState(
            of: nil, account: "alice", item: Self.item, host: machine)
        #expect(
            SealingContext.passwordKey(
                account: "alice", uid: 1000, item: Self.item,
                relyingParty: "https://id.example", password: none) == nil)
    }

    @Test("signs the statement of a registration for either factor, and nothing else so")
    func registration() throws {
        let made = try vault.create(try context())
        let key = try vault.ready(key: made.sealed, context: try context())
        let (touch, proof) = (try PlayedTouch.of(1000), try PlayedPassword.of(1000))
        for action in [LoginAction.register, LoginAction.passwordKey] {
            let statement = statement(action)
            let message = try RegistrationMessage(statement)
            let data = SSHSignature.signedData(
                namespace: SignatureNamespace.registration.bytes,
                messageDigest: try SHA256.digest(statement.encoded()))
            let verifier = try P256PublicKey(point: made.publicPoint)
            for signature in [
                try key.sign(message, context: try context(), for: touch.match),
                try key.sign(message, context: try context(), for: proof.match),
            ] {
                #expect(try verifier.verifies(signature, message: data))
            }
        }
        for action in [LoginAction.login, LoginAction.macToken, LoginAction.remove] {
            #expect(throws: VaultError.malformed) { try RegistrationMessage(statement(action)) }
        }
    }

    private func statement(_ action: [UInt8]) -> LoginStatement {
        LoginStatement(
            head: StatementHead(
                audience: "https://id.example/shop", account: "alice",
                device: .sample(repeating: 2), credential: Self.item),
            challenge: .sample(repeating: 3), action: action, service: "signet", terminal: [],
            purpose: [],
            claims: StatementClaims(
                factor: Factor.password, integrity: Integrity(key: .file, secureBoot: .on),
                enrolment: 1, counter: 1, issued: Instant(seconds: 0)))
    }

    private func expectTrouble(_ text: String, _ body: () throws -> P256Signature) {
        #expect(throws: VaultError.trouble(.failed(text))) { _ = try body() }
    }

    private func context(
        account: AccountName = "alice", hash: String = "$6$salt$hash", day: Int = 20_000,
        item: CredentialID = PasswordKeyTests.item, server: String = "https://id.example"
    ) throws -> SealingContext {
        var bytes = Array(hash.utf8)
        let entry = ShadowEntry(hash: try SecretBytes(moving: &bytes), changed: day)
        let state = try PasswordState(of: entry, account: account, item: item, host: machine)
        return try #require(
            SealingContext.passwordKey(
                account: account, uid: 1000, item: item, relyingParty: server, password: state))
    }
}
