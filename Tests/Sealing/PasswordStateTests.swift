// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import TestSupport
import Testing

@Suite("which password an account had")
struct PasswordStateTests {
    private let machine: HostSecret
    private let item = KeyringItemID.sample(repeating: 1)

    init() throws { machine = try host() }

    @Test("is identified by hash, day, account, item and machine, each of them")
    func differs() throws {
        let state = try state()
        #expect(try state.equals(self.state()))
        #expect(state.digest?.count == PasswordState.count)
        let others = [
            try self.state(hash: "$6$salt$othe"), try self.state(hash: "$6$salt$has"),
            try self.state(changed: 20_001), try self.state(changed: -1),
            try self.state(account: "bob"), try self.state(item: .sample(repeating: 9)),
            try self.state(host: try host()),
        ]
        for other in others { #expect(!state.equals(other)) }
    }

    @Test("a password that is kept elsewhere is neither the one nor the other")
    func elsewhere() throws {
        let none = try PasswordState(of: nil, account: AccountName([1]), item: item, host: machine)
        #expect(none.digest == nil)
        #expect(
            none.equals(
                try PasswordState(of: nil, account: AccountName([2]), item: item, host: machine)))
        #expect(try !none.equals(state()) && !state().equals(none))
    }

    @Test("what was read is taken only at its size")
    func sizes() {
        for count in [0, 31, 33] {
            #expect(PasswordState(digest: [UInt8](repeating: 1, count: count)) == nil)
        }
        #expect(PasswordState(digest: nil) != nil)
    }

    private func state(
        hash: String = "$6$salt$hash", changed: Int = 20_000, account: String = "alice",
        item: KeyringItemID? = nil, host: HostSecret? = nil
    ) throws -> PasswordState {
        var bytes = Array(hash.utf8)
        let entry = ShadowEntry(hash: try SecretBytes(moving: &bytes), changed: changed)
        return try PasswordState(
            of: entry, account: AccountName(account), item: item ?? self.item,
            host: host ?? machine)
    }
}
