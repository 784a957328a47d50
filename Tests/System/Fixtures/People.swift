// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Ids of fingers, as the virtual reader knows them.
enum Touch {
    static let alice = "alice's"
    static let bob = "bob's"
    static let nobody = "nobody's"
}

extension SignetFixture {
    /// A fixture where alice and bob have a finger each.
    static func inhabited(
        options: String = "", allowsOthers: Bool = false
    ) throws -> SignetFixture {
        let signet = try SignetFixture(options: options, allowsOthers: allowsOthers)
        try signet.enrolPeople()
        return signet
    }

    /// Enrols a finger of alice's and one of bob's.
    func enrolPeople() throws {
        for (account, id) in [(HostFixture.alice, Touch.alice), (HostFixture.bob, Touch.bob)] {
            let answer = try enroll(account, as: id)
            guard case .done = answer else {
                throw TestFault.closed(awaited: "an enrolment", transcript: "\(answer)")
            }
        }
    }

    /// The directory of what is kept for an account, in the fixture.
    static func state(of account: Account) -> String {
        "/var/lib/signet/private/accounts/\(account.uid)"
    }

    /// Sees to it that so many fingers have failed to match already.
    func setFailures(_ count: Int, of account: Account) throws {
        let record = "signet-lockout: 1\nfailures: \(count)\n"
        try host.write("\(Self.state(of: account))/lockout", record, mode: 0o600)
    }

    /// How many fingers have failed to match, by the record on disk. A daemon that runs is asked for
    /// something first: it answers when it has written what it does after an answer.
    func failures(of account: Account) throws -> Int? {
        _ = try? status(account)
        let record = try host.read("\(Self.state(of: account))/lockout")
        let lines = String(decoding: record, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("failures: ") }
        return line.flatMap { Int($0.dropFirst("failures: ".count)) }
    }

    /// Puts a finger that no account has on the reader, each time it is asked for.
    func mismatch(_ times: Int, on terminal: Terminal) throws {
        for _ in 0..<times {
            // The line for the password stands again before the reader waits again.
            try terminal.expectInvitation()
            try touch(Touch.nobody)
            try terminal.expect("did not match")
        }
    }

    /// Puts a finger on the reader again and again until something is over, where nothing says when
    /// the reader waits: what comes before it does is lost.
    func touchBlindly(
        _ id: String, on kind: ReaderKind = .storage, until isOver: () -> Bool
    ) {
        let deadline = ContinuousClock.now + .patience
        while !isOver() && ContinuousClock.now < deadline {
            try? reader(kind).send(.scan(id), within: .milliseconds(300))
            usleep(100_000)
        }
    }

    /// Whether the daemon has refused a login for a reason.
    func hasDenied(_ reason: String) -> Bool {
        host.journal.entries.contains {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_REASON"] == reason
        }
    }

    /// Runs a shell's line as root, and requires that it succeeds.
    @discardableResult
    func shell(_ line: String) throws -> String {
        let outcome = try host.run(["sh", "-c", line])
        guard outcome.succeeded else {
            throw TestFault.closed(awaited: line, transcript: outcome.output + outcome.errors)
        }
        return outcome.output
    }

    /// Waits for the journal to hear of a login that was refused by the daemon for a reason.
    @discardableResult
    func expectDenial(_ reason: String) throws -> JournalEntry {
        try host.journal.expect("a denial because of \(reason)") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_REASON"] == reason
        }
    }

    /// Waits for an alert by the module.
    @discardableResult
    func expectAlert(_ text: String) throws -> JournalEntry {
        try host.journal.expect("an alert: \(text)") {
            $0.priority == 1 && $0.message.contains(text)
        }
    }
}

extension Terminal {
    /// Waits for the line on which a touch or the password is awaited.
    func expectInvitation() throws {
        try expect(SignetFixture.invitation)
        try expect(SignetFixture.orPassword)
    }

    /// Gives alice's password at sudo's own prompt, which accepts it.
    func passBySudosPrompt() throws {
        try expect("password for alice: ")
        try sendLine(HostFixture.alice.password)
        try expect("root\r\n")
        #expect(try expectEnd() == .exited(0))
    }

    /// Gives wrong passwords at sudo's own prompt until it refuses.
    func isRefusedBySudo() throws {
        try sendLine("wrong")
        try expect("Sorry, try again.")
    }
}
