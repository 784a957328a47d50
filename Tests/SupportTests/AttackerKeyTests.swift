// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("an attacker's key in place of the storage root key")
struct AttackerKeyTests {
    let tpm: SoftwareTPM
    let bus: TPMInterposer
    let key: AttackerKey

    init() throws {
        tpm = try SoftwareTPM()
        bus = try TPMInterposer(tpm)
        key = try AttackerKey()
    }

    @Test("its halves belong together: a TPM takes them as a pair, and no other pair")
    func pair() throws {
        #expect(try tpm.ask(loading(key.secret)).code == TPMCode.success)
        let other = try AttackerKey()
        #expect(try tpm.ask(loading(other.secret)).code != TPMCode.success)
    }

    @Test("the program is shown the attacker's key, with a Name that fits")
    func shown() throws {
        let handle = try tpm.makeStorageRootKey()
        let genuine = try tpm.readPublic(handle)
        bus.fakePrimary(with: key)
        let program = TPMClient(path: bus.path)
        let response = try program.run(TPMCommand(.readPublic, [handle]))
        let shown = Self.sizedFields(of: response)
        let area = try #require(shown.first)
        #expect(area == key.posing(as: genuine.area))
        #expect(area != genuine.area)
        let name = try [0, 0x0B] + tpm.digest(area)
        let qualified = try tpm.digest([UInt8](bigEndian: TPMHandle.owner) + name)
        #expect(shown == [area, name, [0, 0x0B] + qualified])
    }

    @Test("a primary that is made is replaced too")
    func made() throws {
        let handle = try tpm.makeStorageRootKey()
        let genuine = try tpm.readPublic(handle)
        bus.fakePrimary(with: key)
        let create = TPMCommand(
            .createPrimary, [TPMHandle.owner], passwords: [[]],
            parameters: Self.parameters(like: genuine.area))
        let response = try TPMClient(path: bus.path).run(create)
        let area = try #require(Self.sizedFields(of: response).first)
        #expect(area == key.posing(as: genuine.area))
        let name = try [0, 0x0B] + tpm.digest(area)
        #expect(response.parameters.firstRange(of: name) != nil)
        #expect(response.parameters.firstRange(of: genuine.name) == nil)
    }

    @Test("a session without salt and password authenticates what any party can authenticate")
    func authenticated() throws {
        let genuine = try tpm.readPublic(tpm.makeStorageRootKey())
        bus.fakePrimary(with: key)
        let program = TPMClient(path: bus.path)
        let nonce = [UInt8](repeating: 3, count: 16)
        // No salt, HMAC session, no symmetric algorithm, SHA-256.
        let start = TPMCommand(
            .startAuthSession, [TPMHandle.none, TPMHandle.none],
            parameters: nonce.sized + [0, 0, 0, 0, 0x10, 0, 0x0B])
        let started = try program.run(start)
        let nonceTPM = try #require(Self.sizedFields(of: started).first)
        let parameters = Self.parameters(like: genuine.area)
        let code: [UInt8] = [0, 0, 1, 0x31]
        let owner = [UInt8](bigEndian: TPMHandle.owner)
        let asked = try hmac(tpm.digest(code + owner + parameters) + nonce + nonceTPM + [0])
        let session = try [UInt8](bigEndian: #require(started.handle))
        let area = session + nonce.sized + [0] + asked.sized
        let rest = owner + [UInt8](bigEndian: UInt32(area.count)) + area + parameters
        let size = [UInt8](bigEndian: UInt32(10 + rest.count))
        let bytes = try program.send([0x80, 2] + size + code + rest)
        let response = try #require(TPMResponse(bytes, to: .createPrimary))
        #expect(Self.sizedFields(of: response).first == key.posing(as: genuine.area))
        let answered = try #require(response.sessions.first)
        let digest = try tpm.digest([0, 0, 0, 0] + code + response.parameters)
        #expect(try answered.proof == hmac(digest + answered.nonce + nonce + [0]))
        #expect(bus.exchanges.last?.parsedResponse?.sessions.first?.proof != answered.proof)
    }

    @Test("an object that is not a storage key is passed on as it is")
    func others() throws {
        let object = try tpm.sealObject()
        let genuine = try tpm.run(TPMCommand(.readPublic, [object])).bytes
        bus.fakePrimary(with: key)
        let program = TPMClient(path: bus.path)
        #expect(try program.run(TPMCommand(.readPublic, [object])).bytes == genuine)
    }

    /// HMAC-SHA-256 under an empty key.
    private func hmac(_ message: [UInt8]) throws -> [UInt8] {
        let inner = try tpm.digest([UInt8](repeating: 0x36, count: 64) + message)
        return try tpm.digest([UInt8](repeating: 0x5C, count: 64) + inner)
    }

    /// TPM2_CreatePrimary's, for another key with this public area.
    private static func parameters(like area: [UInt8]) -> [UInt8] {
        let template = Array(area.dropLast(68)) + [0, 0, 0, 0]
        return [0, 4, 0, 0, 0, 0] + template.sized + [0, 0, 0, 0, 0, 0]
    }

    private static func sizedFields(of response: TPMResponse) -> [[UInt8]] {
        var reader = TPMReader(response.parameters)
        var fields: [[UInt8]] = []
        while let field = reader.sized() { fields.append(field) }
        return fields
    }

    /// TPM2_LoadExternal of the attacker's point with this as the private half.
    private func loading(_ secret: [UInt8]) -> TPMCommand {
        // No password, no seed.
        let sensitive: [UInt8] = [0, 0x23, 0, 0, 0, 0] + secret.sized
        // userWithAuth, sign; no policy, no symmetric algorithm, no scheme, P-256, no KDF.
        let area: [UInt8] =
            [0, 0x23, 0, 0x0B, 0, 4, 0, 0x40, 0, 0, 0, 0x10, 0, 0x10, 0, 3, 0, 0x10]
            + key.x.sized + key.y.sized
        let parameters = sensitive.sized + area.sized + [UInt8](bigEndian: TPMHandle.none)
        return TPMCommand(.loadExternal, parameters: parameters)
    }
}
