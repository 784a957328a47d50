// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import Sealing
import StateSupport
import TestSupport
import Testing

@Suite("the file vault")
struct FileVaultTests {
    let vault: FileVault
    let state: EnrolmentState

    init() throws {
        vault = FileVault(host: try host())
        state = try EnrolmentState(generation: 7, prints: [print(1), print(2)])
    }

    @Test("a key opens for what it was made for, and signs under its public half")
    func opens() throws {
        let made = try vault.create(try context())
        let key = try vault.ready(key: made.sealed, context: try context())
        let signature = try key.sign([1, 2, 3], try context())
        let verifier = try P256PublicKey(point: made.publicPoint)
        #expect(try verifier.verifies(signature, message: [1, 2, 3]))
        #expect(try !verifier.verifies(signature, message: [1, 2]))
        #expect(made.sealed.count <= VaultLimit.sealed)
    }

    @Test("a key does not open for other fingers")
    func otherFingers() throws {
        let made = try vault.create(try context())
        let others: [EnrolmentState] = [
            try EnrolmentState(generation: 8, prints: [print(1), print(2)]),
            try EnrolmentState(generation: 7, prints: [print(1)]),
            try EnrolmentState(generation: 7, prints: [print(1), print(2), print(3)]),
            try EnrolmentState(generation: 7, prints: [print(1), print(3)]),
            try EnrolmentState(generation: 7, prints: [print(1), print(2, template: 9)]),
            try EnrolmentState(generation: 7, prints: [print(1), print(2, finger: "left-thumb")]),
            try EnrolmentState(generation: 7, prints: [print(1), print(2, reader: "other")]),
        ]
        for other in others { refused(made.sealed, try context(enrolment: other)) }
    }

    @Test("a key sealed to other fingers stays the key, opens for them and not by the old bytes")
    func resealed() throws {
        let before = try sealing(relyingParty: "ssh:")
        let made = try vault.create(before)
        let later = try sealing(relyingParty: "ssh:", generation: 8, prints: [print(1)])
        let last = try sealing(relyingParty: "ssh:", generation: 9, prints: [print(1)])
        let change = try PlayedChange.of(1000)
        let again = try vault.reseal(key: made.sealed, from: before, to: later, for: change)
        let signature = try vault.ready(key: again, context: later).sign([1], later)
        #expect(try P256PublicKey(point: made.publicPoint).verifies(signature, message: [1]))
        refused(again, before)
        refused(made.sealed, later)
        #expect(throws: VaultError.doesNotOpen) {
            try vault.reseal(key: made.sealed, from: later, to: last, for: change)
        }
        #expect(throws: VaultError.malformed) {
            try vault.reseal(key: [1], from: before, to: later, for: change)
        }
    }

    @Test("a key does not open for another account, credential or relying party")
    func otherOwner() throws {
        let made = try vault.create(try context())
        refused(made.sealed, try context(account: "bob"))
        refused(made.sealed, try context(uid: 1001))
        refused(made.sealed, try context(credential: 2))
        refused(made.sealed, try context(relyingParty: "server"))
    }

    @Test("a key does not open with another host secret")
    func otherHost() throws {
        let made = try vault.create(try context())
        let other = FileVault(host: try host())
        #expect(throws: VaultError.doesNotOpen) {
            try other.ready(key: made.sealed, context: try context()).sign([1], try context())
        }
    }

    @Test("one altered bit anywhere: malformed in the header, does not open elsewhere")
    func altered() throws {
        let sealed = try vault.create(try context()).sealed
        for index in sealed.indices {
            var copy = sealed
            copy[index] ^= 1
            refused(copy, try context(), with: index < 8 ? .malformed : .doesNotOpen)
        }
    }

    @Test("cut or extended bytes are refused at every length")
    func truncated() throws {
        let sealed = try vault.create(try context()).sealed
        for count in 0..<sealed.count {
            let expected: VaultError = count < 8 ? .malformed : .doesNotOpen
            refused(Array(sealed[..<count]), try context(), with: expected)
        }
        refused(sealed + [0], try context())
        let huge = sealed + [UInt8](repeating: 0, count: VaultLimit.sealed)
        refused(huge, try context(), with: .malformed)
    }

    @Test("fields cannot be shifted into one another")
    func ambiguity() throws {
        let one = try context(account: "ab", relyingParty: "c")
        let made = try vault.create(one)
        refused(made.sealed, try context(account: "b", relyingParty: "ca"))
        refused(made.sealed, try context(account: "a", relyingParty: "bc"))
    }

    @Test("the state does not depend on the order of the prints")
    func order() throws {
        let turned = try EnrolmentState(generation: 7, prints: [print(2), print(1)])
        #expect(turned == state)
    }

    @Test("a context of a wrong shape is refused")
    func shape() {
        let name = Array("alice".utf8)
        func make(_ account: AccountName, _ party: String) -> SealingContext? {
            SealingContext(
                account: account, uid: 1, item: CredentialID.sample(repeating: 1),
                relyingParty: party, enrolment: state)
        }
        #expect(make(AccountName(name), "local") != nil)
        #expect(make(.none, "local") == nil)
        #expect(make(AccountName([UInt8](repeating: 97, count: 256)), "local") == nil)
        #expect(make(AccountName(name), "") == nil)
        #expect(EnrolmentState(generation: 1, digest: [UInt8](repeating: 1, count: 16)) == nil)
    }

    private func refused(
        _ sealed: [UInt8], _ context: SealingContext, with expected: VaultError = .doesNotOpen
    ) {
        #expect(throws: expected) {
            try vault.ready(key: sealed, context: context).sign([1], context)
        }
    }

    private func context(
        account: String = "alice", uid: UInt32 = 1000, credential: UInt8 = 1,
        relyingParty: String = "local", enrolment: EnrolmentState? = nil
    ) throws -> SealingContext {
        try #require(
            SealingContext(
                account: AccountName(account), uid: uid,
                item: CredentialID.sample(repeating: credential), relyingParty: relyingParty,
                enrolment: enrolment ?? state))
    }
}

/// A print whose values follow from its number.
func print(
    _ number: UInt8, template: UInt8? = nil, finger: String = "right-index",
    reader: String = "virtual"
) -> EnrolledPrint {
    EnrolledPrint(
        identifier: .sample(repeating: number), finger: finger, reader: reader,
        templateDigest: [UInt8](repeating: template ?? number, count: 32))
}

/// A new host secret.
func host() throws -> HostSecret {
    try #require(HostSecret(try SecretBytes.random(32)))
}
