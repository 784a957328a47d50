// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("the chain of receipts")
struct ReceiptChainTests {
    let receipts: ReceiptFixture
    let texts: [[UInt8]]

    init() throws {
        receipts = try ReceiptFixture()
        for number in 0..<4 { try receipts.login(service: "service-\(number)") }
        texts = try receipts.texts()
    }

    @Test("an untouched chain verifies, and so does an empty one of a new account")
    func good() throws {
        #expect(try receipts.verify(texts) == 4)
        #expect(try ReceiptFixture().verify([]) == 0)
    }

    @Test("a removed receipt shows, wherever it was")
    func removed() {
        refused(Array(texts.dropFirst()), .broken(index: 0))
        refused([texts[0], texts[2], texts[3]], .broken(index: 1))
        refused([texts[0], texts[1], texts[3]], .broken(index: 2))
        refused(Array(texts.dropLast()), .tailMissing)
        refused([], .tailMissing)
    }

    @Test("repeated and moved receipts show")
    func moved() {
        refused([texts[0], texts[0]] + texts[1...], .broken(index: 1))
        refused([texts[1], texts[0]] + texts[2...], .broken(index: 0))
        refused([texts[0], texts[2], texts[1], texts[3]], .broken(index: 1))
    }

    @Test("one altered byte anywhere in a receipt shows")
    func altered() {
        for index in stride(from: 0, to: texts[1].count, by: 7) {
            var copy = texts
            copy[1][index] ^= 1
            #expect(throws: ChainFault.self) { try receipts.verify(copy) }
        }
    }

    @Test("a changed purpose is a bad signature")
    func changedText() throws {
        let text = String(decoding: texts[1], as: UTF8.self)
        let changed = text.replacing("purpose: sudo id", with: "purpose: sudo rm")
        refused([texts[0], Array(changed.utf8), texts[2], texts[3]], .badSignature(index: 1))
    }

    @Test("a receipt signed again by a key that was never registered is detected")
    func resigned() throws {
        let key = try P256PrivateKey.generate()
        let publicKey = try #require(SSHPublicKey(point: key.publicPoint))
        let place = try placeOf(1)
        let forged = try receipts.receipt(place, key: key, publicKey: publicKey)
        refused([texts[0], forged, texts[2], texts[3]], .unknownSigner(index: 1))
        let posed = try receipts.receipt(place, key: key)
        refused([texts[0], posed, texts[2], texts[3]], .badSignature(index: 1))
    }

    @Test("even the right key cannot exchange a receipt that others follow, nor the last one")
    func exchanged() throws {
        let other = try receipts.receipt(try placeOf(1), service: "other")
        refused([texts[0], other, texts[2], texts[3]], .broken(index: 2))
        let last = try receipts.receipt(try placeOf(3), service: "other")
        refused(Array(texts[..<3]) + [last], .broken(index: 3))
    }

    @Test("a counter that does not grow shows")
    func counter() throws {
        let place = try placeOf(1)
        let stale = Reservation(counter: 1, previous: place.previous, isIntact: true)
        refused([texts[0], try receipts.receipt(stale)], .counterNotGreater(index: 1))
    }

    @Test("another account's receipt shows")
    func otherAccount() throws {
        let place = try placeOf(0)
        let bobs = try receipts.receipt(place, account: "bob")
        refused([bobs], .anotherAccount(index: 0))
        refused([[]], .malformed(index: 0))
        refused([Array("hello\n".utf8)], .malformed(index: 0))
    }

    @Test("receipts of a destroyed credential still verify under its registered key")
    func oldCredential() throws {
        try receipts.fixture.account.credential.destroy(.fingerAdded, now: StateFixture.now)
        try receipts.fixture.issue()
        #expect(try receipts.verify(texts) == 4)
    }

    @Test("stock ssh-keygen accepts a receipt and refuses it with one byte changed")
    func sshKeygen() throws {
        let parts = try #require(Receipt.split(texts[2]))
        let scratch = receipts.fixture.scratch
        let directory = try Directory.open(scratch.path)
        try directory.replace("statement", bytes: parts.statement)
        try directory.replace("wrong", bytes: parts.statement + [10])
        try directory.replace("signature", bytes: Armour.wrap(parts.signature))
        try directory.replace("signers", bytes: try receipts.fixture.account.credential.signers())
        func verify(_ message: String, _ who: String, _ namespace: String) -> Int32 {
            let command = """
                cd '\(scratch.path)' && ssh-keygen -Y verify -f signers -I \(who) -n \(namespace) \
                -s signature < \(message) >/dev/null 2>&1
                """
            return unsafe system(command)
        }
        #expect(verify("statement", "alice", "login@signet") == 0)
        #expect(verify("wrong", "alice", "login@signet") != 0)
        #expect(verify("statement", "bob", "login@signet") != 0)
        #expect(verify("statement", "alice", "request@signet") != 0)
    }

    @Test(
        "a receipt of a secret or a desktop stands among those of logins, and is good for no login",
        arguments: [SignatureNamespace.secret, .desktop])
    func notLogin(use: SignatureNamespace) throws {
        let released = try receipts.login(service: "signet", namespace: use)
        try receipts.login()
        #expect(try receipts.verify(try receipts.texts()) == 6)
        let parts = try #require(Receipt.split(released))
        let scratch = receipts.fixture.scratch
        let directory = try Directory.open(scratch.path)
        try directory.replace("statement", bytes: parts.statement)
        try directory.replace("signature", bytes: Armour.wrap(parts.signature))
        try directory.replace("signers", bytes: try receipts.fixture.account.credential.signers())
        func verify(_ namespace: String) -> Int32 {
            unsafe system(
                """
                cd '\(scratch.path)' && ssh-keygen -Y verify -f signers -I alice -n \(namespace) \
                -s signature < statement >/dev/null 2>&1
                """)
        }
        #expect(verify(String(decoding: use.bytes, as: UTF8.self)) == 0)
        #expect(verify("login@signet") != 0)
    }

    @Test("a receipt for any other use is not accepted")
    func otherUse() throws {
        for namespace in [SignatureNamespace.request, .operation, .file] {
            let place = try placeOf(1)
            let other = try receipts.receipt(place, namespace: namespace)
            refused([texts[0], other, texts[2], texts[3]], .badSignature(index: 1))
        }
    }

    @Test(
        "keys that earlier versions registered for fewer uses are good for the present ones",
        arguments: ["login@signet", "login@signet,secret@signet"])
    func olderSigners(uses: String) throws {
        let path = receipts.fixture.file("signers")
        let lines = String(decoding: try receipts.fixture.contents(path), as: UTF8.self)
        let present = "login@signet,secret@signet,desktop@signet"
        let older = lines.replacing(present, with: uses)
        try #require(older != lines)
        try receipts.fixture.overwrite(path, Array(older.utf8))
        #expect(try receipts.fixture.account.credential.signers() == Array(lines.utf8))
        #expect(try receipts.verify(texts) == 4)
        try receipts.fixture.issue()
        #expect(try receipts.verify(texts) == 4)
        for wrong in ["file@signet", "login@signet,file@signet", "*"] {
            let text = lines.replacing(present, with: wrong)
            #expect(RegisteredSigner.parse(file: Array(text.utf8)) == nil)
        }
    }

    /// Where a receipt stands, as its reservation was.
    private func placeOf(_ index: Int) throws -> Reservation {
        let previous =
            index == 0
            ? [UInt8](repeating: 0, count: 32) : try SHA256.digest(texts[index - 1])
        return Reservation(counter: UInt64(index + 1), previous: previous, isIntact: true)
    }

    private func refused(_ texts: [[UInt8]], _ fault: ChainFault) {
        #expect(throws: fault) { try receipts.verify(texts) }
    }
}
