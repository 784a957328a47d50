// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@testable import State

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

private let alice: AccountName = "alice"

private func refusal(
    _ verb: Verb = AuthenticateRequest.verb, service: String = "sudo",
    by requester: String = "alice",
    _ reason: DenialReason = .noMatch, at moment: UInt64 = 1_800_000_000
) -> Refusal {
    Refusal(
        verb, service: ServiceName(bytes(service)), terminal: bytes("/dev/pts/3"),
        requester: AccountName(bytes(requester)), reason: reason, since: moment, until: moment)
}

extension RefusalList {
    fileprivate func entries(of requester: String) -> [Refusal] {
        refusals.filter { $0.requester.bytes == bytes(requester) }
    }
}

@Suite("refused attempts on disk")
struct RefusalListTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private var store: RefusalStore { fixture.account.refusals }

    @Test("an account has none at first, and what was saved is loaded")
    func saves() throws {
        #expect(try store.load() == RefusalList())
        var list = RefusalList()
        list.add(refusal(), to: alice)
        list.add(
            Refusal(
                SignRequest.verb, requester: "b\nc %", reason: .lidClosed, since: 1,
                until: 1),
            to: alice)
        try store.save(list)
        #expect(try store.load() == list)
        let again = try StateDirectory.open(fixture.scratch.path)
        #expect(
            try again.account(StateFixture.alice, uid: StateFixture.uid)?.refusals.load() == list)
        var status = stat()
        #expect(
            unsafe lstat(fixture.file("refusals"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("attempts that are alike share an entry for a day, with a count and the last time")
    func alike() {
        var list = RefusalList()
        let start: UInt64 = 1_800_000_000
        let areNew = [
            list.add(refusal(at: start), to: alice),
            list.add(refusal(VerifyRequest.verb, service: "", at: start + 1), to: alice),
            list.add(refusal(at: start + 86_399), to: alice),
        ]
        #expect(areNew == [true, true, false])
        #expect(list.refusals.map(\.count) == [1, 2])
        #expect(list.refusals.map(\.verb) == [VerifyRequest.verb, AuthenticateRequest.verb])
        #expect(list.refusals[1].since == start && list.refusals[1].until == start + 86_399)
        // On the next day, and where the clock was set back, there is another.
        list.add(refusal(at: start + 86_400), to: alice)
        list.add(refusal(at: start - 1), to: alice)
        #expect(list.refusals.map(\.count) == [1, 2, 1, 1])
        for other in [
            refusal(service: "login"), refusal(by: "bob"), refusal(VerifyRequest.verb),
            refusal(by: "alice", .lidClosed),
        ] {
            var list = RefusalList()
            list.add(refusal(), to: alice)
            list.add(other, to: alice)
            #expect(list.refusals.count == 2, "\(other)")
        }
    }

    @Test("a count that is full stays so")
    func overflow() {
        var list = RefusalList()
        var full = refusal()
        full.count = .max
        list.add(full, to: alice)
        list.add(refusal(), to: alice)
        #expect(list.refusals.map(\.count) == [.max])
    }

    @Test("requests in ever new ways displace no other user's entries, and no other reason")
    func flood() {
        var list = RefusalList()
        list.add(refusal(), to: alice)
        list.add(refusal(by: "carol"), to: alice)
        for index in 0..<500 {
            list.add(refusal(service: "s\(index)", by: "bob", .notPermitted), to: alice)
            list.add(refusal(service: "s\(index)", by: "bob", .inBackground), to: alice)
            list.add(refusal(service: "s\(index)", by: "bob", .lidClosed), to: alice)
            list.add(refusal(service: "s\(index)", .notAtMachine), to: alice)
        }
        #expect(list.entries(of: "bob").count == RefusalList.perRequester)
        #expect(list.entries(of: "alice").map(\.reason).contains(.noMatch))
        #expect(list.entries(of: "alice").count == 1 + RefusalList.perReason)
        #expect(list.entries(of: "carol").count == 1)
        #expect(list.entries(of: "bob").last?.service == "s499")
    }

    @Test("many users' requests leave the account's own alone, and leave each other a share")
    func crowd() {
        var list = RefusalList()
        for index in 0..<10 { list.add(refusal(service: "own\(index)"), to: alice) }
        list.add(refusal(by: "carol"), to: alice)
        for index in 0..<40 {
            for user in 0..<5 {
                let reason: DenialReason = index % 2 == 0 ? .notPermitted : .lidClosed
                list.add(refusal(service: "s\(index)", by: "user\(user)", reason), to: alice)
            }
        }
        #expect(list.entries(of: "alice").count == 10)
        #expect(list.entries(of: "carol").count == 1)
        #expect(list.refusals.count == 10 + RefusalList.others)
        for user in 0..<5 { #expect(list.entries(of: "user\(user)").count >= 9) }
    }

    @Test("the longest list that there can be fits the file")
    func longest() throws {
        var list = RefusalList()
        let name = [UInt8](repeating: 1, count: Limit.account - 2)
        let reasons = DenialReason.allCases
        for index in 0..<UInt8(120) {
            var own = refusal()
            own.service = ServiceName([UInt8](repeating: 1, count: Limit.service - 1) + [index])
            own.terminal = [UInt8](repeating: 1, count: Limit.label)
            own.requester = AccountName(name)
            own.reason = reasons[Int(index) % 9]
            (own.since, own.until, own.count) = (.max, .max, .max)
            list.add(own, to: AccountName(name))
            own.requester = AccountName(name + [index / 20])
            list.add(own, to: AccountName(name))
        }
        #expect(list.refusals.count == RefusalList.own + RefusalList.others)
        #expect(list.encoded().count < RefusalList.cap)
        try store.save(list)
        #expect(try store.load() == list)
    }

    @Test("is read in one form only")
    func form() throws {
        var list = RefusalList()
        list.add(refusal(), to: alice)
        let contents = list.encoded()
        #expect(
            String(decoding: contents, as: UTF8.self) == """
                signet-refusals: 1
                refusals: 1
                verb: 1
                service: sudo
                terminal: /dev/pts/3
                requester: alice
                reason: 11
                count: 1
                since: 1800000000
                until: 1800000000

                """)
        #expect(try RefusalList(contents: contents) == list)
        for length in 0..<contents.count {
            #expect(throws: LineFault.self) {
                try RefusalList(contents: Array(contents.prefix(length)))
            }
        }
        #expect(throws: LineFault.self) { try RefusalList(contents: contents + [10]) }
    }

    @Test(
        "a damaged record is reported as such",
        arguments: [
            ("signet-refusals: 1", "signet-refusals: 2"), ("refusals: 1", "refusals: 0"),
            ("refusals: 1", "refusals: 101"), ("verb: 1", "verb: 257"), ("verb: 1", "verb: 0"),
            ("reason: 11", "reason: 255"), ("count: 1", "count: 0"),
            ("count: 1", "count: 4294967296"), ("until: 1800000000", "until: 1799999999"),
            ("service: sudo", "service: %0a%"), ("since", "sinze"),
        ])
    func damaged(good: String, bad: String) throws {
        var list = RefusalList()
        list.add(refusal(), to: alice)
        let text = String(decoding: list.encoded(), as: UTF8.self)
        try #require(text.contains("\n\(good)") || text.hasPrefix(good))
        try fixture.overwrite(fixture.file("refusals"), bytes(text.replacing(good, with: bad)))
        #expect(throws: StoreFault.damaged(path: fixture.file("refusals"))) { try store.load() }
        // What follows is kept all the same.
        try store.save(list)
        #expect(try store.load() == list)
    }
}
