// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

/// Alice's receipts: makes them as the daemon would, and checks them as the command would.
struct ReceiptFixture {
    let fixture: StateFixture
    let credential: StoredCredential
    let log: ReceiptLog

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1)
        credential = try fixture.issue()
        log = try fixture.account.receipts()
    }

    /// The text of a receipt at a place, with a signature by Alice's key or another one.
    func receipt(
        _ place: Reservation, service: String = "sudo", account: String = "alice",
        key: P256PrivateKey? = nil, publicKey: SSHPublicKey? = nil,
        namespace: SignatureNamespace = .login, issued: Instant = StateFixture.now
    ) throws -> [UInt8] {
        let enrolment = try fixture.account.prints.enrolment()
        let statement = Statement(
            audience: Audience.local, account: AccountName(account), uid: StateFixture.uid,
            requester: AccountName(account),
            device: fixture.state.device, credential: credential.identifier,
            challenge: .sample(repeating: 3), service: ServiceName(service),
            terminal: Array("/dev/pts/3".utf8), purpose: Array("sudo id".utf8),
            factor: Factor.fingerprint, enrolment: enrolment.state.generation,
            counter: place.counter, previous: place.previous, issued: issued
        ).encoded()
        let signed = SSHSignature.signedData(
            namespace: namespace.bytes, messageDigest: try SHA256.digest(statement))
        let numbers =
            if let key {
                try key.sign(signed)
            } else {
                try fixture.sign(signed, credential, enrolment)
            }
        let signature = SSHSignature(
            publicKey: publicKey ?? credential.publicKey, namespace: namespace, r: numbers.r,
            s: numbers.s)
        return Receipt.text(statement: statement, signature: signature.blob)
    }

    /// One login: reserve, sign, append, flush.
    @discardableResult
    func login(
        service: String = "sudo", flushing: Bool = true, namespace: SignatureNamespace = .login,
        issued: Instant = StateFixture.now
    ) throws -> [UInt8] {
        let text = try receipt(
            try log.prepare(), service: service, namespace: namespace, issued: issued)
        try log.append(text)
        if flushing { try log.flush() }
        return text
    }

    /// A login that the daemon confirmed; gives the entry.
    @discardableResult
    func granted(service: String = "sudo", flushing: Bool = true) throws -> [UInt8] {
        let place = try log.prepare()
        let text = try receipt(place, service: service)
        try log.append(text)
        log.beginSync()
        try log.granted(place.counter)
        if flushing { try log.flush() }
        return text + ReceiptEntry.mark(place.counter)
    }

    /// All entries of the file.
    func texts() throws -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var page = try log.read(from: 0, limit: 3)
        while !page.entries.isEmpty {
            texts += page.entries
            page = try log.read(from: page.next, limit: 3)
        }
        return texts
    }

    /// Checks some receipts against the registered keys and the head.
    func verify(_ texts: [[UInt8]]) throws(ChainFault) -> Int {
        guard let head = try? log.head(), let file = try? fixture.account.credential.signers(),
            let signers = RegisteredSigner.parse(file: file)
        else { throw .malformed(index: -1) }
        var chain = ReceiptChain(
            account: StateFixture.alice, uid: StateFixture.uid, signers: signers,
            headCounter: head.counter,
            headDigest: head.digest)
        for text in texts { try chain.verify(text) }
        return try chain.end()
    }

    var path: String { fixture.file("receipts") }
}
