import Crypto
import Posix
import TPM
import TestSupport
import Testing

@Suite("objects in a TPM", .serialized)
struct SealedObjectTests {
    @Test("a key signs under its public half")
    func signs() throws {
        let tpm = try SoftwareTPM()
        let connection = try TPMConnection(try TCTIName.parse(tpm.tcti))
        #expect(try connection.findRoot() == nil)
        let root = try connection.root(expecting: nil)
        let policy = try #require(ObjectPolicy(registers: .none, registerDigest: []))
        let auth = try SecretBytes.random(32)
        print(try connection.properties())
        var before = connection.commands
        let parts = try connection.createSigner(policy: policy, authorisation: auth, root: root)
        print("create", connection.commands - before, parts.sealed.count, parts.area.bytes.count)
        before = connection.commands
        let ready = try connection.ready(parts, policy: policy, root: root)
        print("ready", connection.commands - before)
        before = connection.commands
        let digest = try SHA256.digest([1, 2, 3])
        let (r, s) = try connection.sign(digest, with: ready, authorisation: auth)
        print("sign", connection.commands - before)
        let point = try #require(parts.area.signerPoint(policy: try policy.digest()))
        let signature = try #require(P256Signature(r: r, s: s))
        #expect(try P256PublicKey(point: point).verifies(signature, message: [1, 2, 3]))
        print(try connection.handles(.transient), try connection.handles(.loadedSessions))
        let new = try SecretBytes.random(32)
        let again = try connection.changeAuthorisation(of: parts, from: auth, to: new, root: root)
        let r2 = try connection.ready(again, policy: policy, root: root)
        _ = try connection.sign(digest, with: r2, authorisation: new)
        do { 
            let r3 = try connection.ready(again, policy: policy, root: root)
            _ = try connection.sign(digest, with: r3, authorisation: auth)
        } catch { print(error) }
    }
}
