// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@Suite("the software TPM of the tests")
struct SoftwareTPMTests {
    let tpm: SoftwareTPM

    init() throws { tpm = try SoftwareTPM() }

    @Test("it answers, and never repeats its random bytes")
    func random() throws {
        let command = TPMCommand(.getRandom, parameters: [0, 16])
        let first = try tpm.run(command).parameters
        #expect(first.count == 18)
        #expect(try tpm.run(command).parameters != first)
    }

    @Test("nothing is in it at first")
    func empty() throws {
        #expect(try tpm.transientHandles == [])
        #expect(try tpm.persistentHandles == [])
        #expect(try tpm.loadedSessions == [])
        #expect(try tpm.savedSessions == [])
    }

    @Test("a power cycle keeps what is persistent, and nothing else")
    func restart() throws {
        let name = try persistKey()
        try tpm.extend(pcr: 7)
        try tpm.setOwnerAuth(Array("owner".utf8))
        let loaded = try tpm.sealObject()
        #expect(try tpm.transientHandles == [loaded])
        try tpm.restart()
        #expect(try tpm.transientHandles == [])
        #expect(try tpm.persistentHandles == [TPMHandle.storageRootKey])
        #expect(try tpm.readPublic(TPMHandle.storageRootKey).name == name)
        #expect(try tpm.read(pcr: 7) == [UInt8](repeating: 0, count: 32))
        try tpm.evict(TPMHandle.storageRootKey)
    }

    @Test("a loss of power keeps what is persistent")
    func kill() throws {
        let name = try persistKey()
        tpm.kill()
        #expect(throws: TestFault.self) { try tpm.transientHandles }
        try tpm.start()
        #expect(try tpm.readPublic(TPMHandle.storageRootKey).name == name)
    }

    @Test("another TPM in its place has nothing of it, and makes another storage root key")
    func replace() throws {
        let name = try persistKey()
        try tpm.setOwnerAuth(Array("owner".utf8))
        try tpm.replace()
        #expect(try tpm.persistentHandles == [])
        #expect(try persistKey() != name)
    }

    @Test("a TPM makes its storage root key again, until it is cleared")
    func clear() throws {
        let name = try persistKey()
        #expect(try tpm.readPublic(tpm.makeStorageRootKey()).name == name)
        #expect(try tpm.readPublic(tpm.makeStorageRootKey(unique: [1])).name != name)
        try tpm.setOwnerAuth(Array("owner".utf8))
        try tpm.clear()
        #expect(try tpm.persistentHandles == [])
        #expect(try tpm.readPublic(tpm.makeStorageRootKey()).name != name)
    }

    @Test("a Name is the digest of the public area")
    func name() throws {
        let key = try tpm.readPublic(tpm.makeStorageRootKey())
        #expect(try key.name == [0, 0x0B] + tpm.digest(key.area))
    }

    @Test("the owner's password is asked for once it is set")
    func owner() throws {
        try tpm.setOwnerAuth(Array("owner".utf8))
        let key = try tpm.makeStorageRootKey()
        let evict = TPMCommand(
            .evictControl, [TPMHandle.owner, key], passwords: [[]],
            parameters: [UInt8](bigEndian: TPMHandle.storageRootKey))
        #expect(TPMCode.base(of: try tpm.ask(evict).code) == TPMCode.wrongPassword)
    }

    @Test("a lockout refuses the right password too, lasts over a restart, and can be ended")
    func lockout() throws {
        let password = Array("mine".utf8)
        let object = try tpm.sealObject(password: password, isProtected: true)
        let unseal = TPMCommand(.unseal, [object], passwords: [password])
        #expect(try tpm.ask(unseal).code == TPMCode.success)
        try tpm.enterLockout()
        #expect(try tpm.ask(unseal).code == TPMCode.lockout)
        #expect(try tpm.transientHandles == [object])
        try tpm.restart()
        let again = try tpm.sealObject(password: password, isProtected: true)
        let unsealAgain = TPMCommand(.unseal, [again], passwords: [password])
        #expect(try tpm.ask(unsealAgain).code == TPMCode.lockout)
        try tpm.leaveLockout()
        #expect(try tpm.ask(unsealAgain).code == TPMCode.success)
    }

    @Test("a PCR that is extended changes, and its neighbours do not", arguments: [7, 16, 23])
    func extend(pcr: Int) throws {
        let before = try tpm.read(pcr: pcr)
        let neighbour = try tpm.read(pcr: pcr - 1)
        try tpm.extend(pcr: pcr)
        let after = try tpm.read(pcr: pcr)
        #expect(try after == tpm.digest(before + [UInt8](repeating: 1, count: 32)))
        #expect(try tpm.read(pcr: pcr - 1) == neighbour)
    }

    @Test("full slots accept no further object, from any client, until one is flushed")
    func slots() throws {
        let handles = try tpm.fillSlots()
        #expect(handles.count == 3)
        #expect(try tpm.transientHandles == handles)
        #expect(throws: TestFault.self) { try tpm.sealObject() }
        try tpm.flush(handles)
        #expect(try tpm.transientHandles == [])
        _ = try tpm.sealObject()
    }

    @Test("full sessions take none more until one is flushed")
    func sessions() throws {
        let handles = try tpm.fillSessions()
        #expect(handles.count == 3)
        #expect(try tpm.loadedSessions == handles)
        try tpm.flush(handles)
        #expect(try tpm.loadedSessions == [])
    }

    @Test("a suspended one accepts a command, and answers when it is resumed")
    func suspend() throws {
        let command = TPMCommand(.getRandom, parameters: [0, 8]).bytes
        tpm.suspend()
        #expect(throws: TestFault.self) { try tpm.send(command, within: .milliseconds(50)) }
        tpm.resume()
        #expect(try tpm.send(command).count == 20)
    }

    @Test("nothing of it is left: no process, no file")
    func nothingLeft() throws {
        var other: SoftwareTPM? = try SoftwareTPM()
        let pid = try #require(other?.pid)
        let path = try #require(other?.path)
        #expect(unsafe access(path, F_OK) == 0)
        other = nil
        #expect(Glibc.kill(pid, 0) == -1)
        #expect(unsafe access(Layout.directory(of: path), F_OK) == -1)
    }

    private func persistKey() throws -> [UInt8] {
        let key = try tpm.makeStorageRootKey()
        try tpm.persist(key, at: TPMHandle.storageRootKey)
        try tpm.flush(key)
        return try tpm.readPublic(TPMHandle.storageRootKey).name
    }
}
