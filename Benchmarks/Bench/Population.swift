// SPDX-License-Identifier: Apache-2.0
import Domain
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport

/// Fills a machine's state as years of use would; runs on that machine.
enum Population {
    /// What is added.
    enum Kind: String {
        /// Receipts of alice's.
        case receipts
        /// Accounts with a finger, a key and a receipt each.
        case accounts
    }

    /// The bench is called with it to run there.
    static let word = "populate"
    private static let now = Instant(seconds: 1_795_195_440)
    private static let firstUID: UInt32 = 20_000

    /// Adds what the words say: a kind and a number.
    static func add(_ words: ArraySlice<String>) throws {
        guard words.count == 2, let kind = words.first.flatMap(Kind.init(rawValue:)),
            let count = words.last.flatMap({ UInt32($0) })
        else { throw BenchFault.unexpected("populate wants a kind and a number") }
        let state = try StateDirectory.open()
        let name = Array(HostFixture.alice.name.utf8)
        guard let alice = try state.account(AccountName(name), uid: HostFixture.alice.uid) else {
            throw BenchFault.unexpected("alice is not enrolled")
        }
        switch kind {
        case .receipts: try alice.addReceipts(Int(count), in: state, now: now)
        case .accounts:
            for number in 0..<count { try addAccount(number, like: alice, state) }
        }
    }

    private static func addAccount(
        _ number: UInt32, like model: AccountState, _ state: StateDirectory
    ) throws {
        guard let print = try model.prints.enrolment().prints.first else {
            throw BenchFault.unexpected("alice has no finger")
        }
        let account = try state.makeAccount(
            AccountName("user\(number)"), uid: firstUID + number, now: now)
        var template = print.template
        _ = try account.prints.add(
            &template, finger: print.finger, reader: print.reader, now: now)
        _ = try account.credential.issue(
            try account.prints.enrolment(), vault: FileVault(host: state.host), now: now)
        try account.addReceipts(1, in: state, now: now)
    }
}
