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
        let template = Array(genuine.area.dropLast(68)) + [0, 0, 0, 0]
        let parameters = [0, 4, 0, 0, 0, 0] + template.sized + [0, 0, 0, 0, 0, 0]
        let create = TPMCommand(
            .createPrimary, [TPMHandle.owner], passwords: [[]], parameters: parameters)
        let response = try TPMClient(path: bus.path).run(create)
        let area = try #require(Self.sizedFields(of: response).first)
        #expect(area == key.posing(as: genuine.area))
        let name = try [0, 0x0B] + tpm.digest(area)
        #expect(response.parameters.firstRange(of: name) != nil)
        #expect(response.parameters.firstRange(of: genuine.name) == nil)
    }

    @Test("an object that is no storage key is shown as it is")
    func others() throws {
        let object = try tpm.sealObject()
        let genuine = try tpm.run(TPMCommand(.readPublic, [object])).bytes
        bus.fakePrimary(with: key)
        let program = TPMClient(path: bus.path)
        #expect(try program.run(TPMCommand(.readPublic, [object])).bytes == genuine)
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
