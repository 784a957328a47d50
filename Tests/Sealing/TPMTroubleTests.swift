// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Sealing
import StateSupport
import Synchronization
import TestSupport
import Testing

@Suite("the TPM vault in trouble")
struct TPMTroubleTests {
    @Test("without a TPM it says what was tried, and works when it is back")
    func absent() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        try fixture.tpm.stop()
        for _ in 0..<2 {
            let error = #expect(throws: VaultError.self) {
                try fixture.vault.sign(made.sealed, try sealing())
            }
            guard case .trouble(.absent(let why)) = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(!why.isEmpty)
        }
        #expect(throws: VaultError.self) { try fixture.vault.describe() }
        try fixture.tpm.start()
        _ = try fixture.vault.sign(made.sealed, try sealing())
        let nowhere = try TPMVault(
            host: fixture.host, tcti: "device:/dev/signet-no-such-tpm", pin: fixture.pin)
        let error = #expect(throws: VaultError.self) { try nowhere.describe() }
        #expect("\(error as Any)".contains("No such file"))
    }

    @Test("a TPM in lockout still opens keys")
    func lockout() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        try fixture.tpm.enterLockout()
        _ = try fixture.vault.sign(made.sealed, try sealing())
        _ = try fixture.vault.create(try sealing())
        let data = try fixture.vault.seal(try secret([1]), context: try sealing())
        #expect(try fixture.vault.open(data, try sealing()) == [1])
    }

    @Test("wrong fingers, however often, lock neither the key nor the TPM")
    func noLockout() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        for _ in 0..<40 {
            #expect(throws: VaultError.doesNotOpen) {
                try fixture.vault.sign(made.sealed, try sealing(generation: 8))
            }
        }
        _ = try fixture.vault.sign(made.sealed, try sealing())
    }

    @Test("after a TPM was cleared or replaced nothing secret is sent until it is trusted again")
    func cleared() throws {
        for replaces in [false, true] {
            let fixture = try TPMFixture()
            let made = try fixture.vault.create(try sealing())
            let old = try fixture.pin.load()
            if replaces { try fixture.tpm.replace() } else { try fixture.tpm.clear() }
            let vault = try fixture.another()
            for other in [vault, replaces ? vault : fixture.vault] {
                // Where it is looked at before anything fails, too.
                #expect(throws: VaultError.trouble(.anotherRoot)) { try other.describe() }
                #expect(throws: VaultError.trouble(.anotherRoot)) {
                    try other.sign(made.sealed, try sealing())
                }
                #expect(throws: VaultError.trouble(.anotherRoot)) {
                    try other.create(try sealing())
                }
                #expect(throws: VaultError.trouble(.anotherRoot)) { try other.describe() }
            }
            #expect(try fixture.pin.load() == old)
            #expect(try fixture.tpm.persistentHandles.isEmpty)
            let change = try vault.trust()
            #expect(change.old == old && change.new != old)
            #expect(try fixture.pin.load() == change.new)
            #expect(throws: VaultError.doesNotOpen) {
                try vault.sign(made.sealed, try sealing())
            }
            let again = try vault.create(try sealing())
            _ = try vault.sign(again.sealed, try sealing())
        }
    }

    @Test("a TPM whose root key was removed makes that root key again")
    func evicted() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        try fixture.tpm.evict(0x8100_0001)
        // Who only looks makes none.
        #expect(try fixture.another().describe().root == [])
        #expect(try fixture.tpm.persistentHandles.isEmpty)
        _ = try fixture.another().sign(made.sealed, try sealing())
        #expect(try fixture.tpm.persistentHandles == [0x8100_0001])
    }

    @Test("a root key that others made is used, and another one in its place is noticed")
    func found() throws {
        let fixture = try TPMFixture()
        let theirs = try fixture.tpm.makeStorageRootKey(unique: [1, 2, 3])
        try fixture.tpm.persist(theirs, at: 0x8100_0001)
        try fixture.tpm.flush(theirs)
        let made = try fixture.vault.create(try sealing())
        #expect(try fixture.pin.load() == (try fixture.tpm.readPublic(0x8100_0001).name))
        try fixture.tpm.evict(0x8100_0001)
        let swapped = try fixture.tpm.makeStorageRootKey(unique: [3, 2, 1])
        try fixture.tpm.persist(swapped, at: 0x8100_0001)
        try fixture.tpm.flush(swapped)
        #expect(throws: VaultError.trouble(.anotherRoot)) {
            try fixture.another().sign(made.sealed, try sealing())
        }
        // Without the pin, the Name in the key itself still tells.
        fixture.pin.forget()
        #expect(throws: VaultError.trouble(.anotherRoot)) {
            try fixture.another().sign(made.sealed, try sealing())
        }
        #expect(try fixture.pin.load() == nil)
    }

    @Test("an owner with a password is reported, and needed only to make a root key")
    func owned() throws {
        let fixture = try TPMFixture()
        try fixture.tpm.setOwnerAuth([1, 2, 3])
        #expect(throws: VaultError.self) { try fixture.vault.describe() }
        let error = #expect(throws: VaultError.self) { try fixture.vault.create(try sealing()) }
        guard case .trouble(.notPermitted(let why)) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(why.contains("owner"))
        #expect(try fixture.leftovers().isEmpty)
        #expect(try fixture.pin.load() == nil)
        let root = try fixture.tpm.makeStorageRootKey()
        try fixture.tpm.persist(root, at: 0x8100_0001)
        try fixture.tpm.flush(root)
        let made = try fixture.vault.create(try sealing())
        _ = try fixture.vault.sign(made.sealed, try sealing())
    }

    @Test("a TPM that was not started is started, and its keys open")
    func notStarted() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let client = TPMClient(path: fixture.tpm.path)
        // CMD_INIT of swtpm's control channel, no flags: as after a reset.
        let reset: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 0]
        #expect(try client.control(reset) == 0)
        #expect(try client.ask(TPMCommand(.getRandom, parameters: [0, 1])).code == 0x100)
        _ = try fixture.vault.sign(made.sealed, try sealing())
        #expect(try client.control(reset) == 0)
        _ = try fixture.another().sign(made.sealed, try sealing())
    }

    @Test("a key bound to registers opens until one of them changes, and again when it is back")
    func registers() throws {
        let fixture = try TPMFixture(pcrs: [7, 23])
        let made = try fixture.vault.create(try sealing())
        let data = try fixture.vault.seal(try secret([1]), context: try sealing())
        _ = try fixture.vault.sign(made.sealed, try sealing())
        // Registers that do not count may change, also while a key is ready.
        let ready = try fixture.vault.ready(key: made.sealed, context: try sealing())
        try fixture.tpm.extend(pcr: 16)
        _ = try ready.sign([1], try sealing())
        ready.release()
        // One that counts may not, neither before nor while a key is ready.
        let late = try fixture.vault.ready(key: made.sealed, context: try sealing())
        try fixture.tpm.extend(pcr: 7)
        #expect(throws: VaultError.trouble(.platformChanged)) {
            try late.sign([1], try sealing())
        }
        late.release()
        #expect(throws: VaultError.trouble(.platformChanged)) {
            try fixture.vault.ready(key: made.sealed, context: try sealing())
        }
        #expect(throws: VaultError.trouble(.platformChanged)) {
            try fixture.another().open(data, try sealing())
        }
        #expect(try fixture.leftovers().isEmpty)
        try fixture.tpm.restart()
        _ = try fixture.another().sign(made.sealed, try sealing())
    }

    @Test("a key that was made before registers were listed keeps opening, and says so")
    func registersLater() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        try fixture.tpm.extend(pcr: 7)
        _ = try fixture.another(pcrs: [7]).sign(made.sealed, try sealing())
    }

    @Test("with registers listed, altered registers or digest in the file open nothing")
    func registersAltered() throws {
        let fixture = try TPMFixture(pcrs: [7])
        let made = try fixture.vault.create(try sealing())
        for index in 42..<77 {
            var copy = made.sealed
            copy[index] ^= 4
            #expect(throws: VaultError.self) { try fixture.vault.sign(copy, try sealing()) }
        }
        // As if the file said that there are none.
        let none = Array(made.sealed[..<42] + [0, 0, 0] + made.sealed[77...])
        #expect(throws: VaultError.doesNotOpen) { try fixture.vault.sign(none, try sealing()) }
    }

    @Test("a full TPM gets room where only the dead hold it")
    func slots() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        try fixture.tpm.fillSlots()
        _ = try fixture.vault.sign(made.sealed, try sealing())
        try fixture.tpm.fillSessions()
        _ = try fixture.vault.sign(made.sealed, try sealing())
        #expect(try fixture.leftovers().isEmpty)
    }

    @Test("what is ready for longest gives room, and is loaded again when it is used")
    func room() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        let verifier = try P256PublicKey(point: made.publicPoint)
        let data = try fixture.vault.seal(try secret([7]), context: try sealing())
        // More than any TPM has to have room for.
        let keys = try (0..<7).map { _ in
            try fixture.vault.ready(key: made.sealed, context: try sealing())
        }
        let opened = try fixture.vault.ready(data: data, context: try sealing())
        _ = try fixture.vault.create(try sealing())
        for key in keys {
            let signature = try key.sign([1], try sealing())
            #expect(try verifier.verifies(signature, message: [1]))
        }
        #expect(bytes(of: try opened.open(try sealing())) == [7])
        for key in keys { key.release() }
        opened.release()
        #expect(try fixture.leftovers().isEmpty)
        #expect(throws: VaultError.self) { try keys[0].sign([1], try sealing()) }
    }

    @Test("a TPM that has no room whatever is released is reported as full")
    func full() throws {
        let fixture = try TPMFixture()
        let bus = try TPMInterposer(fixture.tpm)
        defer { bus.stop() }
        let vault = try TPMVault(host: fixture.host, tcti: bus.tcti, pin: fixture.pin)
        let made = try vault.create(try sealing())
        let held = try vault.ready(key: made.sealed, context: try sealing())
        let isFull = Mutex(true)
        bus.setRule(at: .command) { exchange in
            exchange.code == .load && isFull.withLock(\.self) ? .fail(0x902) : .pass
        }
        #expect(throws: VaultError.trouble(.outOfSlots)) {
            try vault.ready(key: made.sealed, context: try sealing())
        }
        isFull.withLock { $0 = false }
        _ = try held.sign([1], try sealing())
        held.release()
    }

    @Test("without a pin that can be read and written, nothing is made and nothing is opened")
    func pin() throws {
        let fixture = try TPMFixture()
        let made = try fixture.vault.create(try sealing())
        for pin in [BrokenPin(onLoad: true), BrokenPin(onLoad: false)] {
            let vault = try TPMVault(host: fixture.host, tcti: fixture.tpm.tcti, pin: pin)
            let error = #expect(throws: VaultError.self) { try vault.create(try sealing()) }
            guard case .trouble(.failed) = error else {
                Issue.record("\(error as Any)")
                return
            }
        }
        try fixture.pin.save([1, 2, 3])
        #expect(throws: VaultError.self) { try fixture.another().sign(made.sealed, try sealing()) }
        #expect(try fixture.leftovers().isEmpty)
        // Root can get out of it.
        #expect(try fixture.vault.trust().old == [1, 2, 3])
        _ = try fixture.another().sign(made.sealed, try sealing())
    }
}

/// A pin whose file cannot be read, or not be written.
private struct BrokenPin: RootPin {
    let onLoad: Bool

    func load() throws -> [UInt8]? {
        if onLoad { throw SystemFault("openat", code: 5) }
        return nil
    }

    func save(_ name: [UInt8]) throws { throw SystemFault("openat", code: 28) }
}
