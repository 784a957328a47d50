// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

@Suite("the credential on disk")
struct CredentialStoreTests {
    let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.add(1, .rightIndex)
        try bench.add(2, .leftIndex)
    }

    @Test("before anything was issued there is none")
    func none() throws {
        #expect(try store.state() == .none)
        #expect(try store.signers() == [])
    }

    @Test("what was issued opens for the same prints and signs under the published key")
    func issues() throws {
        let issued = try bench.issue()
        #expect(try store.state() == .issued(issued))
        let enrolment = try bench.account.prints.enrolment()
        #expect(store.fits(issued, enrolment: enrolment))
        let signature = try bench.sign([1, 2], issued, enrolment)
        let line = try SSHPublicKey.parse(line: try bench.contents(bench.publicKey))
        #expect(line.key == issued.publicKey)
        #expect(line.comment == Array("signet:alice:\(hexadecimal(issued.identifier))".utf8))
        #expect(
            try P256PublicKey(point: line.key.point).verifies(signature, message: [1, 2]))
    }

    @Test("after any change of the prints it does not open, and the cause is told")
    func invalidated() throws {
        let changes: [(InvalidationCause, (Enrolment) throws -> Void)] = [
            (.fingerAdded, { _ in try bench.add(3, .leftThumb) }),
            (.fingerRemoved, { try bench.account.prints.remove($0.prints[0].identifier) }),
            (.fingerReplaced, { try bench.add(9, $0.prints[0].finger) }),
            (
                .fingerReplaced,
                {
                    try bench.account.prints.remove($0.prints[0].identifier)
                    try bench.add(4, .leftRing)
                }
            ),
            (
                .printDamaged,
                {
                    let name = hexadecimal($0.prints[0].identifier)
                    try bench.overwrite(bench.file("prints/" + name), [])
                }
            ),
        ]
        for (cause, change) in changes {
            let issued = try bench.issue()
            try change(try bench.account.prints.enrolment())
            try doesNotOpen(issued, because: cause)
        }
    }

    @Test("adding a finger and removing it again does not bring the old credential back")
    func thereAndBack() throws {
        let issued = try bench.issue()
        let id = try bench.add(3, .leftThumb)
        try bench.account.prints.remove(id)
        try doesNotOpen(issued, because: .fingerReplaced)
    }

    @Test("with another host secret it does not open, and that is told")
    func hostChanged() throws {
        let issued = try bench.issue()
        try bench.overwrite(
            bench.scratch.at("private/host-secret"), [UInt8](repeating: 7, count: 32))
        let state = try StateDirectory.open(bench.scratch.path)
        let account = try #require(try state.account(Bench.alice, uid: Bench.uid))
        let enrolment = try account.prints.enrolment()
        #expect(enrolment.isEmpty)
        #expect(enrolment.damaged.count == 2)
        let context = try account.credential.context(of: issued, enrolment: enrolment)
        let key = try FileVault(host: state.host).ready(key: issued.sealed, context: context)
        #expect(throws: VaultError.doesNotOpen) { try key.sign([1], context) }
        #expect(try account.credential.explain(issued, enrolment: enrolment) == .hostSecretChanged)
    }

    @Test("sealed bytes put in by hand do not open, and are told as damaged")
    func swappedSeal() throws {
        try bench.issue()
        let old = String(decoding: try bench.contents(bench.file("credential")), as: UTF8.self)
        try bench.issue()
        let new = String(decoding: try bench.contents(bench.file("credential")), as: UTF8.self)
        let lines = new.split(separator: "\n").dropLast() + [old.split(separator: "\n").last ?? ""]
        let forged = lines.map { $0 + "\n" }.joined()
        try bench.overwrite(bench.file("credential"), Array(forged.utf8))
        guard case .issued(let found) = try store.state() else {
            Issue.record("not read")
            return
        }
        try doesNotOpen(found, because: .credentialDamaged)
    }

    @Test("a record that is cut, extended or altered is damaged")
    func damaged() throws {
        try bench.issue()
        let good = try bench.contents(bench.file("credential"))
        for bad in [
            [], Array(good.dropLast()), good + good, good + [10], Array(good.dropFirst()),
            [UInt8](repeating: 65, count: 20_000),
        ] {
            try bench.overwrite(bench.file("credential"), bad)
            #expect(try store.state() == .damaged)
        }
        #expect(unsafe chmod(bench.file("credential"), 0o644) == 0)
        #expect(try store.state() == .damaged)
    }

    @Test("without its public key, or with another's, a credential counts as none")
    func unpublished() throws {
        let old = try bench.issue()
        let oldKey = try bench.contents(bench.publicKey)
        try bench.issue()
        try bench.overwrite(bench.publicKey, oldKey)
        #expect(try store.state() == .none)
        #expect(unsafe unlink(bench.publicKey) == 0)
        #expect(try store.state() == .none)
        #expect(try store.state() != .issued(old))
    }

    @Test("disabled and destroyed are remembered, with the public and the private key gone")
    func tombstones() throws {
        try bench.issue()
        try store.disable(now: Bench.now)
        #expect(try store.state() == .disabled(since: Bench.now))
        #expect(!bench.exists(bench.publicKey))
        for cause in InvalidationCause.allCases {
            try bench.issue()
            try store.destroy(cause, now: Bench.now)
            #expect(try store.state() == .destroyed(cause, since: Bench.now))
            #expect(!bench.exists(bench.publicKey))
            let text = String(decoding: try bench.contents(bench.file("credential")), as: UTF8.self)
            #expect(!text.contains("sealed"))
        }
    }

    @Test("all keys ever registered stay good for checking old receipts")
    func signers() throws {
        let one = try bench.issue()
        try store.destroy(.fingerAdded, now: Bench.now)
        let two = try bench.issue()
        let signers = try #require(
            RegisteredSigner.parse(file: try store.signers(), account: Bench.alice))
        #expect(
            signers == [
                RegisteredSigner(key: one.publicKey, credential: one.identifier),
                RegisteredSigner(key: two.publicKey, credential: two.identifier),
            ])
        #expect(RegisteredSigner.parse(file: try store.signers(), account: [65]) == nil)
        #expect(
            RegisteredSigner.parse(
                file: Array(try store.signers().dropLast()), account: Bench.alice)
                == nil)
    }

    private var store: CredentialStore { bench.account.credential }

    private func isPublished(_ credential: FoundCredential) -> Bool {
        let line = (try? bench.contents(bench.publicKey)) ?? []
        return (try? SSHPublicKey.parse(line: line).key) == credential.publicKey
    }

    private func doesNotOpen(
        _ credential: FoundCredential, because cause: InvalidationCause
    ) throws {
        let enrolment = try bench.account.prints.enrolment()
        #expect(throws: VaultError.doesNotOpen) {
            try bench.sign([1], credential, enrolment)
        }
        #expect(try store.explain(credential, enrolment: enrolment) == cause)
    }
}
