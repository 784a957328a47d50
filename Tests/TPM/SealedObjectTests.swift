// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import TPM
import TPMStructures
import TestSupport
import Testing

@Suite("objects in a TPM")
struct SealedObjectTests {
    let tpm: SoftwareTPM
    let connection: TPMConnection
    let root: StorageRoot
    let policy: ObjectPolicy

    init() throws {
        tpm = try SoftwareTPM()
        connection = try TPMConnection(try TCTIName.parse(tpm.tcti))
        root = try connection.root(expecting: nil)
        policy = try #require(ObjectPolicy(registers: .none, registerDigest: []))
    }

    @Test("a value that ends in zeros is proven, and one that differs before them is not")
    func trailingZeros() throws {
        let values: [[UInt8]] = [
            Array(1...31) + [0], Array(1...16) + [UInt8](repeating: 0, count: 16), [1],
            [0, 0, 1, 0], Array(1...32),
        ]
        for value in values {
            let parts = try connection.createSigner(
                policy: policy, authorisation: try secret(value), root: root)
            _ = try sign(parts, value)
            let again = try connection.changeAuthorisation(
                of: parts, from: try secret(value), to: try secret([9, 0]), root: root)
            _ = try sign(again, [9])
            refused { _ = try sign(parts, [2] + value.dropFirst()) }
            refused { _ = try sign(again, value) }
        }
        for value in [[], [0], [UInt8](repeating: 0, count: 32), Array(1...33)] {
            #expect(throws: TPMFault.memory) {
                try connection.createSigner(
                    policy: policy, authorisation: try secret(value), root: root)
            }
        }
    }

    @Test("without the policy neither a password nor an HMAC with the right value authorises")
    func withoutPolicy() throws {
        let value: [UInt8] = Array(1...32)
        let parts = try connection.createSigner(
            policy: policy, authorisation: try secret(value), root: root)
        let ready = try connection.ready(parts, policy: policy, root: root)
        let handle = try #require(try tpm.transientHandles.first)
        // Digest, no scheme of its own, no ticket.
        let digest = [UInt8](repeating: 5, count: 32)
        let parameters: [UInt8] =
            [0, 32] + digest + [0, 0x18, 0, 0x0b, 0x80, 0x24, 0x40, 0, 0, 7, 0, 0]
        let plain = try tpm.ask(
            TPMCommand(.sign, [handle], passwords: [value], parameters: parameters))
        #expect(plain.code == 0x12f)
        // The kind of session is refused before its HMAC is looked at.
        let session = try #require(try tpm.fillSessions().first)
        let hmac = [UInt8](bigEndian: session) + [0, 0, 1] + [UInt8](repeating: 0, count: 32).sized
        let body =
            [UInt8](bigEndian: handle) + [UInt8](bigEndian: UInt32(hmac.count)) + hmac + parameters
        let header: [UInt8] = [0x80, 2] + [UInt8](bigEndian: UInt32(10 + body.count))
        let answer = try tpm.send(header + [0, 0, 1, 0x5d] + body)
        #expect(Array(answer.suffix(4)) == [0, 0, 1, 0x2f])
        // The same key does sign when its policy is met.
        _ = try connection.sign(digest, with: ready, authorisation: try secret(value))
    }

    @Test("an object under another policy does not load into a session that meets this one")
    func otherPolicy() throws {
        let bound = try #require(RegisterSelection([7]))
        let digest = try bound.digest(over: connection, root: root)
        #expect(try digest == SHA256.digest(tpm.read(pcr: 7)))
        let strict = try #require(ObjectPolicy(registers: bound, registerDigest: digest))
        let value: [UInt8] = [1, 2, 3]
        let parts = try connection.createSigner(
            policy: strict, authorisation: try secret(value), root: root)
        _ = try sign(parts, value, strict)
        let ready = try connection.ready(parts, policy: policy, root: root)
        let fault = #expect(throws: TPMFault.self) {
            try connection.sign(digest, with: ready, authorisation: try secret(value))
        }
        guard case .refused(.sign, let code) = fault else {
            Issue.record("\(fault as Any)")
            return
        }
        #expect(code.value == 0x99d)
    }

    @Test("many registers are read in several commands, in order")
    func registers() throws {
        try tpm.extend(pcr: 23, with: 7)
        let all = try #require(RegisterSelection(Array(0..<24)))
        let values = try (0..<24).flatMap { try tpm.read(pcr: $0) }
        #expect(try all.digest(over: connection, root: root) == SHA256.digest(values))
        #expect(try RegisterSelection.none.digest(over: connection, root: root) == [])
    }

    @Test("an object that is not held is flushed, and one that is held stays")
    func stale() throws {
        let value: [UInt8] = [1, 2, 3]
        let parts = try connection.createSigner(
            policy: policy, authorisation: try secret(value), root: root)
        let ready = try connection.ready(parts, policy: policy, root: root)
        try tpm.fillSlots()
        try tpm.fillSessions()
        try connection.flushStale()
        #expect(try connection.handles(.transient).count == 1)
        #expect(try connection.handles(.loadedSessions).count == 1)
        _ = try connection.sign(
            [UInt8](repeating: 0, count: 32), with: ready, authorisation: try secret(value))
        #expect(!ready.isUsable)
    }

    @Test("the TPM reports its maker and whether it is locked")
    func properties() throws {
        let before = try connection.properties()
        #expect(before.maker.hasPrefix("IBM SW") && !before.isLockedOut && !before.isOwned)
        #expect(before.firmware.split(separator: ".").count == 4)
        try tpm.enterLockout()
        try tpm.setOwnerAuth([1])
        let after = try connection.properties()
        #expect(after.isLockedOut && after.isOwned)
        #expect(try connection.handles(.persistent) == [StorageRoot.persistentHandle])
    }

    @Test("a key that is not a storage key, or guards itself against guesses, is not a root key")
    func unfit() throws {
        for area in [signerArea, guardedArea] {
            let other = try SoftwareTPM()
            let response = try other.run(
                TPMCommand(
                    .createPrimary, [0x4000_0001], passwords: [[]],
                    parameters: [0, 4, 0, 0, 0, 0] + area.sized + [0, 0, 0, 0, 0, 0]))
            let handle = try #require(response.handle)
            try other.persist(handle, at: StorageRoot.persistentHandle)
            try other.flush(handle)
            let connection = try TPMConnection(try TCTIName.parse(other.tcti))
            let fault = #expect(throws: TPMFault.self) { try connection.root(expecting: nil) }
            guard case .unfitRoot(let why) = fault else {
                Issue.record("\(fault as Any)")
                return
            }
            #expect(!why.isEmpty)
        }
    }

    @Test("an RSA storage root key is as good")
    func rsa() throws {
        let other = try SoftwareTPM()
        let area: [UInt8] =
            [0, 1, 0, 0x0b, 0, 3, 4, 0x72, 0, 0, 0, 6, 0, 128, 0, 0x43, 0, 0x10, 8, 0, 0, 0, 0, 0]
            + [0, 0]
        let response = try other.run(
            TPMCommand(
                .createPrimary, [0x4000_0001], passwords: [[]],
                parameters: [0, 4, 0, 0, 0, 0] + area.sized + [0, 0, 0, 0, 0, 0]))
        let handle = try #require(response.handle)
        try other.persist(handle, at: StorageRoot.persistentHandle)
        try other.flush(handle)
        let connection = try TPMConnection(try TCTIName.parse(other.tcti))
        let root = try connection.root(expecting: nil)
        #expect(try root.name == other.readPublic(StorageRoot.persistentHandle).name)
        let parts = try connection.createSigner(
            policy: policy, authorisation: try secret([1]), root: root)
        let ready = try connection.ready(parts, policy: policy, root: root)
        _ = try connection.sign(
            [UInt8](repeating: 0, count: 32), with: ready, authorisation: try secret([1]))
    }

    /// Our own signing key's area, with userWithAuth so that it can be made as a primary.
    private var signerArea: [UInt8] {
        [
            0, 0x23, 0, 0x0b, 0, 4, 4, 0x72, 0, 0, 0, 0x10, 0, 0x18, 0, 0x0b, 0, 3, 0, 0x10, 0, 0,
            0, 0,
        ]
    }

    /// TCG's storage root key, without noDA.
    private var guardedArea: [UInt8] {
        [0, 0x23, 0, 0x0b, 0, 3, 0, 0x72, 0, 0, 0, 6, 0, 128, 0, 0x43, 0, 0x10, 0, 3, 0, 0x10]
            + [0, 0, 0, 0]
    }

    private func sign(
        _ parts: ObjectParts, _ value: [UInt8], _ policy: ObjectPolicy? = nil
    ) throws -> [UInt8] {
        let ready = try connection.ready(parts, policy: policy ?? self.policy, root: root)
        let digest = [UInt8](repeating: 3, count: 32)
        return try connection.sign(digest, with: ready, authorisation: try secret(value)).r
    }

    private func refused(_ body: () throws -> Void) {
        let fault = #expect(throws: TPMFault.self) { try body() }
        guard case .refused(.sign, let code) = fault else {
            Issue.record("\(fault as Any)")
            return
        }
        #expect(code.value == 0x9a2)
    }

    private func secret(_ bytes: [UInt8]) throws -> SecretBytes {
        var bytes = bytes
        return try SecretBytes(moving: &bytes)
    }
}
