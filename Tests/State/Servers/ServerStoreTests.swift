// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

@Suite("keys for servers on disk")
struct ServerStoreTests {
    private let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1)
    }

    private var servers: ServerStore { fixture.account.servers }
    private var fingers: EnrolmentState {
        get throws { try fixture.account.prints.enrolment().state }
    }

    private func place(_ server: String) -> ServerRegistration {
        ServerRegistration(
            server: ServerURL(server),
            begun: RelayRegistration(
                registration: .sample(repeating: 5), account: "a\nb",
                application: "shop", audience: "shop.example",
                challenge: .sample(repeating: 0), expires: 0))
    }

    @discardableResult
    private func keep(
        _ place: ServerRegistration, _ number: UInt8, _ state: ServerKey.State = .good,
        in account: AccountState? = nil
    ) throws -> ServerKey {
        let servers = (account ?? fixture.account).servers
        let identifier = CredentialID.sample(repeating: number)
        let context = try servers.context(
            identifier, server: place.server, enrolment: try fingers)
        return try servers.keep(
            try fixture.vault.create(context), as: identifier, context: context, by: .file,
            at: place, state: state, now: StateFixture.now)
    }

    /// Whether the vault opens a key for these fingers, as that of a server.
    private func opens(_ key: ServerKey, as server: ServerURL? = nil) throws -> Bool {
        guard let sealed = key.sealed(for: try fingers) else { return false }
        let context = try servers.context(
            key.identifier, server: server ?? key.server, enrolment: try fingers)
        do {
            let ready = try fixture.vault.ready(key: sealed, context: context)
            defer { ready.release() }
            let signature = try ready.sign([1], context)
            return try P256PublicKey(point: key.publicKey.point.bytes).verifies(
                signature, message: [1])
        } catch { return false }
    }

    @Test("what was kept is listed by server, and opens for that server alone")
    func keeps() throws {
        let second = try keep(place("https://b"), 1)
        let first = try keep(place("https://a"), 2)
        #expect(try servers.list() == [first, second])
        #expect(first.counter == 1 && first.account == "a\nb")
        #expect(try servers.key(first.identifier) == first)
        #expect(try servers.key(.sample(repeating: 9)) == nil)
        #expect(try opens(first) && opens(second))
        #expect(try !opens(first, as: second.server))
        let again = try StateDirectory.open(fixture.scratch.path)
        let account = try #require(try again.account(StateFixture.alice, uid: StateFixture.uid))
        #expect(try account.servers.list() == [first, second])
    }

    @Test("a new one takes the place of the old, but not of one that its server has yet to forget")
    func replaces() throws {
        let old = try keep(place("https://a"), 1)
        let new = try keep(place("https://a"), 2, .proving)
        #expect(try servers.list() == [new])
        #expect(try servers.key(old.identifier) == nil)
        let given = try servers.beginRemoval(try servers.confirm(new))
        let third = try keep(place("https://a"), 3)
        #expect(try Set(servers.list().map(\.identifier)) == [new.identifier, third.identifier])
        try servers.remove(given)
        #expect(try servers.list() == [third])
        // Of one that is gone already, nothing is removed in its place.
        try servers.remove(given)
        #expect(try servers.list() == [third])
    }

    @Test("the signing key is not listed among the servers' keys, and does not open as one")
    func signing() throws {
        let server = try keep(place("https://a"), 1)
        let signing = try keep(.signing(StateFixture.alice), 2)
        #expect(signing.isSigning && !server.isSigning)
        #expect(try servers.list() == [server])
        #expect(try servers.all() == [server, signing])
        #expect(try opens(signing) && !opens(signing, as: server.server))
    }

    @Test("a counter is on disk before it is used, and none is taken twice")
    func counters() throws {
        let plan = FaultPlan()
        let account = try fixture.account(failing: plan)
        var key = try keep(place("https://a"), 1)
        for count in 2...4 as ClosedRange<UInt64> {
            key = try servers.advance(key)
            #expect(key.counter == count)
            #expect(try servers.list() == [key])
        }
        var steps = 0
        while true {
            plan.arm(after: steps)
            let next = try? account.servers.advance(key)
            plan.disarm()
            let kept = try #require(try servers.key(key.identifier))
            // Where it was not taken, the disk has it or not; where it was, the disk has it.
            #expect(kept.counter == key.counter || kept.counter == key.counter + 1)
            if let next {
                #expect(next == kept)
                break
            }
            key = kept
            steps += 1
        }
        #expect(steps > 3)
    }

    @Test("nothing is changed of a key that is another one meanwhile")
    func changedMeanwhile() throws {
        let key = try keep(place("https://a"), 1)
        let next = try servers.advance(key)
        #expect(throws: StoreFault.changedMeanwhile) { try servers.advance(key) }
        #expect(throws: StoreFault.changedMeanwhile) { try servers.beginRemoval(key) }
        #expect(throws: StoreFault.changedMeanwhile) { try servers.invalidate(key) }
        #expect(try servers.list() == [next])
        try servers.remove(next)
        #expect(throws: StoreFault.changedMeanwhile) { try servers.advance(next) }
        #expect(try servers.list().isEmpty)
    }

    @Test("one whose fingers changed has no private half left, and says so")
    func invalidated() throws {
        let key = try servers.invalidate(try keep(place("https://a"), 1))
        #expect(key.state == .invalidated)
        let state = try fingers
        #expect(key.sealed(for: state) == nil)
        #expect(try servers.list() == [key])
    }

    /// A key for the password in `hash`.
    private func passwordKey(
        of identifier: CredentialID, hash: String
    ) throws -> (ServerKey.PasswordKey, SealingContext) {
        let context = try passwordContext(of: identifier, hash: hash)
        let made = try fixture.vault.create(context)
        let key = try #require(
            ServerKey.PasswordKey(made, by: .file, created: StateFixture.now))
        return (key, context)
    }

    private func passwordContext(
        of identifier: CredentialID, hash: String
    ) throws -> SealingContext {
        var bytes = Array(hash.utf8)
        let entry = ShadowEntry(hash: try SecretBytes(moving: &bytes), changed: 20_000)
        return try #require(
            try servers.passwordContext(identifier, server: "https://a", entry: entry))
    }

    @Test("one has the name that the device was registered with, and keeps it through changes")
    func named() throws {
        let name = DeviceName(Bytes("Alice laptop (2)".utf8))
        let registration = ServerRegistration(
            server: "https://a",
            begun: RelayRegistration(
                registration: .sample(repeating: 5), account: "a", application: "shop",
                audience: "shop.example", challenge: .sample(repeating: 0), expires: 0),
            deviceName: name)
        let key = try keep(registration, 1, .proving)
        #expect(key.deviceName == name && name != nil)
        let good = try servers.advance(try servers.confirm(key))
        #expect(try servers.key(key.identifier) == good && good.deviceName == name)
        #expect(try servers.invalidate(good).deviceName == name)
        #expect(try keep(place("https://b"), 2).deviceName == nil)
    }

    @Test("one for the password is kept with it, opens for that password, and ends with it")
    func password() throws {
        let plain = try keep(place("https://a"), 1)
        let path = fixture.file("servers/\(String(repeating: "01", count: 16))")
        let before = try fixture.contents(path)
        let (password, context) = try passwordKey(of: plain.identifier, hash: "$6$old")
        let key = try servers.keep(password, of: plain)
        #expect(try servers.key(plain.identifier) == key && key.password == password)
        // What was there before is as it was: a record without it needs no change.
        #expect(try fixture.contents(path).starts(with: before))
        let proof = try PlayedPassword.of(context.uid)
        let ready = try fixture.vault.ready(key: password.sealed, context: context)
        let signature = try ready.sign([1], context: context, for: proof.match)
        let point = password.publicKey.point.bytes
        #expect(try P256PublicKey(point: point).verifies(signature, message: [1]))
        let other = try passwordContext(of: plain.identifier, hash: "$6$new")
        #expect(throws: VaultError.doesNotOpen) {
            try ready.sign([1], context: other, for: proof.match)
        }
        #expect(
            try servers.passwordContext(plain.identifier, server: "https://a", entry: nil) == nil)
        #expect(throws: StoreFault.changedMeanwhile) { try servers.keep(password, of: plain) }
        #expect(try servers.advance(key).password == password)
        let invalidated = try servers.invalidate(try #require(try servers.key(key.identifier)))
        #expect(invalidated.password == nil)
    }

    @Test("with one for the password whose lines are damaged, it is none")
    func damagedPassword() throws {
        let plain = try keep(place("https://a"), 1)
        let (password, _) = try passwordKey(of: plain.identifier, hash: "$6$old")
        _ = try servers.keep(password, of: plain)
        let path = fixture.file("servers/\(String(repeating: "01", count: 16))")
        let text = String(decoding: try fixture.contents(path), as: UTF8.self)
        for (old, new) in [
            ("password-vault: file", "password-vault: none"),
            ("password-public: ", "password-public: AA"), ("password-key: ", "password-key: %"),
            ("password-created: ", "password-created: x"), (text, text + "x: y\n"),
            (text, String(text.dropLast())),
        ] {
            try fixture.overwrite(path, Array(text.replacing(old, with: new).utf8))
            #expect(try servers.all().isEmpty, "\(new)")
        }
    }

    @Test("what is damaged, or stored under another's name, is ignored")
    func damaged() throws {
        let key = try keep(place("https://a"), 1)
        let name = String(repeating: "01", count: 16)
        let path = fixture.file("servers/\(name)")
        let good = try fixture.contents(path)
        let text = String(decoding: good, as: UTF8.self)
        #expect(text.hasPrefix("signet-server-key: 1\nserver: https://a\naccount: a%0Ab\n"))
        for (old, new) in [
            ("signet-server-key: 1", "signet-server-key: 2"), ("state: good", "state: best"),
            ("sealings: 1", "sealings: 3"), ("sealings: 1", "sealings: 0"),
            ("counter: 1", "counter: 01"), ("vault: file", "vault: none"),
            ("registration: 05", "registration: "), ("a%0Ab", "a\nb"), ("public: ", "public: AA"),
            (text, String(text.dropLast())), (text, text + "x: y\n"), (text, ""),
        ] {
            try fixture.overwrite(path, Array(text.replacing(old, with: new).utf8))
            #expect(try servers.all().isEmpty, "\(new)")
        }
        try fixture.overwrite(fixture.file("servers/\(String(repeating: "02", count: 16))"), good)
        try fixture.overwrite(fixture.file("servers/notes"), good)
        try fixture.overwrite(path, good)
        #expect(try servers.all() == [key])
    }
}
