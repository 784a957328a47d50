// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
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
    let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1, .rightIndex)
        try fixture.add(2, .leftIndex)
    }

    @Test("before the first issue there is no credential")
    func none() throws {
        #expect(try store.state() == .none)
        #expect(try store.signers() == [])
    }

    @Test("an issued credential opens for its prints and signs under the published key")
    func issues() throws {
        let issued = try fixture.issue()
        #expect(try store.state() == .issued(issued))
        let enrolment = try fixture.account.prints.enrolment()
        #expect(store.fits(issued, enrolment: enrolment))
        let signature = try fixture.sign([1, 2], issued, enrolment)
        let line = try SSHPublicKey.parse(line: try fixture.contents(fixture.publicKey))
        #expect(line.key == issued.publicKey)
        #expect(line.comment == Array("signet:alice:\(hexadecimal(issued.identifier))".utf8))
        #expect(
            try P256PublicKey(point: line.key.point.bytes).verifies(signature, message: [1, 2]))
    }

    @Test("after any change of the prints it does not open, and the cause is reported")
    func invalidated() throws {
        let changes: [(InvalidationCause, (Enrolment) throws -> Void)] = [
            (.fingerAdded, { _ in try fixture.add(3, .leftThumb) }),
            (.fingerRemoved, { try fixture.account.prints.remove($0.prints[0].identifier) }),
            (.fingerReplaced, { try fixture.add(9, $0.prints[0].finger) }),
            (
                .fingerReplaced,
                {
                    try fixture.account.prints.remove($0.prints[0].identifier)
                    try fixture.add(4, .leftRing)
                }
            ),
            (
                .printDamaged,
                {
                    let name = hexadecimal($0.prints[0].identifier)
                    try fixture.overwrite(fixture.file("prints/" + name), [])
                }
            ),
        ]
        for (cause, change) in changes {
            let issued = try fixture.issue()
            try change(try fixture.account.prints.enrolment())
            try doesNotOpen(issued, because: cause)
        }
    }

    @Test("adding a finger and removing it again does not bring the old credential back")
    func thereAndBack() throws {
        let issued = try fixture.issue()
        let id = try fixture.add(3, .leftThumb)
        try fixture.account.prints.remove(id)
        try doesNotOpen(issued, because: .fingerReplaced)
    }

    @Test("with another host secret it does not open, and this is reported")
    func hostChanged() throws {
        let issued = try fixture.issue()
        try fixture.overwrite(
            fixture.scratch.at("private/host-secret"), [UInt8](repeating: 7, count: 32))
        let state = try StateDirectory.open(fixture.scratch.path)
        let account = try #require(try state.account(StateFixture.alice, uid: StateFixture.uid))
        let enrolment = try account.prints.enrolment()
        #expect(enrolment.isEmpty)
        #expect(enrolment.damaged.count == 2)
        let context = try account.credential.context(of: issued, enrolment: enrolment)
        let key = try FileVault(host: state.host).ready(key: issued.sealed, context: context)
        #expect(throws: VaultError.doesNotOpen) { try key.sign([1], context) }
        #expect(try account.credential.explain(issued, enrolment: enrolment) == .hostSecretChanged)
    }

    @Test("sealed bytes from an older credential do not open, and are reported as damaged")
    func swappedSeal() throws {
        try fixture.issue()
        let old = String(decoding: try fixture.contents(fixture.file("credential")), as: UTF8.self)
        try fixture.issue()
        let new = String(decoding: try fixture.contents(fixture.file("credential")), as: UTF8.self)
        let lines = new.split(separator: "\n").dropLast() + [old.split(separator: "\n").last ?? ""]
        let forged = lines.map { $0 + "\n" }.joined()
        try fixture.overwrite(fixture.file("credential"), Array(forged.utf8))
        guard case .issued(let found) = try store.state() else {
            Issue.record("not read")
            return
        }
        try doesNotOpen(found, because: .credentialDamaged)
    }

    @Test("a record that is cut, extended or altered is damaged")
    func damaged() throws {
        try fixture.issue()
        let good = try fixture.contents(fixture.file("credential"))
        for bad in [
            [], Array(good.dropLast()), good + good, good + [10], Array(good.dropFirst()),
            [UInt8](repeating: 65, count: 20_000),
        ] {
            try fixture.overwrite(fixture.file("credential"), bad)
            #expect(try store.state() == .damaged)
        }
        #expect(unsafe chmod(fixture.file("credential"), 0o644) == 0)
        #expect(try store.state() == .damaged)
    }

    @Test("without its public key, or with another's, a credential counts as none")
    func unpublished() throws {
        let old = try fixture.issue()
        let oldKey = try fixture.contents(fixture.publicKey)
        try fixture.issue()
        try fixture.overwrite(fixture.publicKey, oldKey)
        #expect(try store.state() == .none)
        #expect(unsafe unlink(fixture.publicKey) == 0)
        #expect(try store.state() == .none)
        #expect(try store.state() != .issued(old))
    }

    @Test("disabled and destroyed are remembered, with the public and the private key deleted")
    func tombstones() throws {
        try fixture.issue()
        try store.disable(now: StateFixture.now)
        #expect(try store.state() == .disabled(since: StateFixture.now))
        #expect(!fixture.exists(fixture.publicKey))
        for cause in InvalidationCause.allCases {
            try fixture.issue()
            try store.destroy(cause, now: StateFixture.now)
            #expect(try store.state() == .destroyed(cause, since: StateFixture.now))
            #expect(!fixture.exists(fixture.publicKey))
            let text = String(
                decoding: try fixture.contents(fixture.file("credential")), as: UTF8.self)
            #expect(!text.contains("sealed"))
        }
    }

    @Test("all keys ever registered stay good for checking old receipts")
    func signers() throws {
        let one = try fixture.issue()
        try store.destroy(.fingerAdded, now: StateFixture.now)
        let two = try fixture.issue()
        let signers = try #require(
            RegisteredSigner.parse(file: try store.signers()))
        #expect(
            signers == [
                RegisteredSigner(
                    account: StateFixture.alice, key: one.publicKey, credential: one.identifier),
                RegisteredSigner(
                    account: StateFixture.alice, key: two.publicKey, credential: two.identifier),
            ])
        // The name before the key must be the one in the comment.
        #expect(RegisteredSigner.parse(file: [65] + (try store.signers())) == nil)
        #expect(RegisteredSigner.parse(file: Array(try store.signers().dropLast())) == nil)
    }

    private var store: CredentialStore { fixture.account.credential }

    private func isPublished(_ credential: StoredCredential) -> Bool {
        let line = (try? fixture.contents(fixture.publicKey)) ?? []
        return (try? SSHPublicKey.parse(line: line).key) == credential.publicKey
    }

    private func doesNotOpen(
        _ credential: StoredCredential, because cause: InvalidationCause
    ) throws {
        let enrolment = try fixture.account.prints.enrolment()
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.sign([1], credential, enrolment)
        }
        #expect(try store.explain(credential, enrolment: enrolment) == cause)
    }
}
