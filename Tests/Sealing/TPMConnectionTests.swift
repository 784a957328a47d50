// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Sealing
import StateSupport
import Synchronization
import TestSupport
import Testing

@Suite("the TPM vault and its connection")
struct TPMConnectionTests {
    @Test("one command lies between the touch and the signature, and one before opened data")
    func oneCommand() throws {
        for pcrs in [[], [7]] {
            let fixture = try TPMFixture(pcrs: pcrs)
            let made = try fixture.vault.create(try sealing())
            let data = try fixture.vault.seal(try secret([1]), context: try sealing(use: .keyring))
            let key = try fixture.vault.ready(key: made.sealed, context: try sealing())
            let item = try fixture.vault.ready(data: data, context: try sealing(use: .keyring))
            let before = fixture.vault.commands
            _ = try key.sign([1], try sealing())
            #expect(fixture.vault.commands == before + 1)
            _ = try item.open(try sealing(use: .keyring))
            #expect(fixture.vault.commands == before + 2)
            key.release()
            item.release()
            #expect(try fixture.leftovers().isEmpty)
        }
    }

    @Test("a hundred keys made, used and given back, in whatever order, leave nothing in the TPM")
    func rounds() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        for round in 0..<100 {
            let key = try fixture.vault.ready(key: made.sealed, context: try sealing())
            switch round % 4 {
            case 0: _ = try key.sign([1], try sealing())
            case 1:
                #expect(throws: VaultError.doesNotOpen) { try key.sign([1], try sealing(uid: 1)) }
            case 2: break
            default:
                _ = try fixture.vault.create(try sealing())
                continue
            }
            key.release()
            key.release()
            #expect(throws: VaultError.self) { try key.sign([1], try sealing()) }
        }
        #expect(try fixture.leftovers().isEmpty)
        #expect(try fixture.tpm.persistentHandles == [0x8100_0001])
    }

    @Test("a key may sign twice")
    func twice() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let key = try fixture.vault.ready(key: made.sealed, context: try sealing())
        let verifier = try P256PublicKey(point: made.publicPoint)
        for message in [[1], [2, 3], []] as [[UInt8]] {
            #expect(try verifier.verifies(key.sign(message, try sealing()), message: message))
        }
    }

    @Test("a TPM that lost its power while a key was ready still signs, or not at all")
    func powerLoss() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let verifier = try P256PublicKey(point: made.publicPoint)
        let key = try fixture.vault.ready(key: made.sealed, context: try sealing())
        try fixture.tpm.restart()
        #expect(try verifier.verifies(key.sign([1], try sealing()), message: [1]))
        let again = try fixture.vault.ready(key: made.sealed, context: try sealing())
        fixture.tpm.kill()
        #expect(throws: VaultError.self) { try again.sign([1], try sealing()) }
        try fixture.tpm.start()
        #expect(try verifier.verifies(again.sign([1], try sealing()), message: [1]))
        #expect(throws: VaultError.doesNotOpen) { try again.sign([1], try sealing(uid: 0)) }
        let last = try fixture.vault.ready(key: made.sealed, context: try sealing())
        try fixture.tpm.clear()
        #expect(throws: VaultError.trouble(.anotherRoot)) { try last.sign([1], try sealing()) }
    }

    @Test("what a killed process left is flushed by the next, whichever command was its last")
    func killed() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        fixture.vault.rest()
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        var left = 0
        for command in 1...12 {
            for moment in TPMInterposer.Moment.allCases {
                bus.cut(at: command, moment) {}
                let victim = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
                _ = try? victim.sign(made.sealed, try sealing())
                _ = try? victim.create(try sealing())
                bus.removeRules()
                left += try fixture.leftovers().count
                _ = try fixture.another().sign(made.sealed, try sealing())
                #expect(try fixture.leftovers().isEmpty)
            }
        }
        #expect(left > 0)
    }

    @Test("killed while the first root key is made, it leaves one or none, and the next continues")
    func killedAtFirst() throws {
        for command in 1...9 {
            let fixture = try TPMFixture()
            let bus = try TPMInterposer(fixture.tpm)
            defer { bus.stop() }
            bus.cut(at: command, .answer) {}
            let victim = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
            #expect(throws: VaultError.self) { try victim.create(try sealing()) }
            let pinned = try fixture.pin.load()
            let made = try fixture.vault.create(try sealing())
            _ = try fixture.vault.sign(made.sealed, try sealing())
            #expect(try pinned == nil || pinned == fixture.pin.load())
            #expect(try fixture.tpm.persistentHandles == [0x8100_0001])
            #expect(try fixture.leftovers().isEmpty)
        }
    }

    @Test("callers on several threads have their turns")
    func threads() async throws {
        let fixture = try TPMFixture()
        let made = try await withThrowingTaskGroup(of: NewCredential.self) { group in
            for number in UInt32(0)..<8 {
                group.addTask { try fixture.vault.create(try sealing(uid: number)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(made.map(\.publicPoint)).count == 8)
        #expect(try fixture.leftovers().isEmpty)
    }

    @Test("an answer that was altered on its way is never believed")
    func alteredAnswers() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let data = try fixture.vault.seal(try secret([4, 5, 6]), context: try sealing())
        fixture.vault.rest()
        let verifier = try P256PublicKey(point: made.publicPoint)
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        let count = try commands(bus) { try use($0, made, data, verifier) }
        for number in 1...count {
            for position in [9, 12, 14, 30, -40, -1] {
                let last = (bus.exchanges.last?.number ?? 0) + number
                bus.setRule(at: .answer) { exchange in
                    guard exchange.number == last, var answer = exchange.response,
                        answer.count > max(position, -position)
                    else { return .pass }
                    answer[position < 0 ? answer.count + position : position] ^= 1
                    return .answer(answer)
                }
                let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
                do {
                    try use(vault, made, data, verifier)
                } catch let error as VaultError {
                    // An error's code is the one thing in an answer that nothing authenticates.
                    if position > 9 { #expect(error != .doesNotOpen) }
                }
                bus.removeRules()
                vault.rest()
            }
        }
        try use(fixture.vault, made, data, verifier)
        #expect(try fixture.leftovers().isEmpty)

        func commands(_ bus: TPMInterposer, _ body: (TPMVault) throws -> Void) throws -> Int {
            let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
            try body(vault)
            return vault.commands
        }
    }

    @Test("one refusal of the TPM is not enough to call a key closed")
    func refusedOnce() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
        for code: UInt32 in [0x9a2, 0x98e, 0x901, 0x910, 0x918, 0x101, 0x922, 0x128] {
            let signs = Mutex(0)
            bus.setRule(at: .command) { exchange in
                guard exchange.code == .sign else { return .pass }
                return signs.withLock { count in
                    count += 1
                    return count == 1 ? .fail(code) : .pass
                }
            }
            let signature = try vault.sign(made.sealed, try sealing())
            #expect(
                try P256PublicKey(point: made.publicPoint).verifies(signature, message: [1, 2, 3]))
            bus.removeRules()
        }
        #expect(throws: VaultError.doesNotOpen) {
            try vault.sign(made.sealed, try sealing(uid: 1))
        }
        vault.rest()
        #expect(try fixture.leftovers().isEmpty)
    }

    /// Signs and opens; what comes out has to be right.
    private func use(
        _ vault: TPMVault, _ made: NewCredential, _ data: [UInt8], _ verifier: P256PublicKey
    ) throws {
        let signature = try vault.sign(made.sealed, try sealing(), [1])
        #expect(try verifier.verifies(signature, message: [1]))
        #expect(try vault.open(data, try sealing()) == [4, 5, 6])
    }

    @Test("neither secret, nor unsealed data, nor what is signed crosses the bus in clear")
    func secrecy() throws {
        let fixture = try TPMFixture()
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
        let made = try vault.create(try sealing())
        let plain = try randomBytes(40)
        let data = try vault.seal(try secret(plain), context: try sealing())
        #expect(try vault.open(data, try sealing()) == plain)
        _ = try vault.sign(made.sealed, try sealing(), [1, 2, 3])
        let covering = try sealing(prints: [print(1)])
        let again = try vault.reseal(key: made.sealed, from: try sealing(), to: covering)
        _ = try vault.sign(again, covering)
        #expect(!bus.contains(plain))
        #expect(!bus.contains(try SHA256.digest([1, 2, 3])))
        let passwords = bus.exchanges.flatMap(\.commandSessions).filter { $0.handle == 0x4000_0009 }
        #expect(passwords.isEmpty)
    }

    @Test("a faked root key gets nothing")
    func faked() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        bus.fakePrimary(with: try AttackerKey())
        let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
        #expect(throws: VaultError.trouble(.anotherRoot)) {
            try vault.sign(made.sealed, try sealing())
        }
        #expect(throws: VaultError.trouble(.anotherRoot)) { try vault.create(try sealing()) }
        #expect(bus.count(of: .startAuthSession) == 0)
    }
}
