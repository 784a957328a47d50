// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport

/// The text that was signed.
enum Statements: Harness {
    static let name = "statements"

    static let sample = Statement(
        audience: Audience.local, account: "alice", uid: 1_000,
        requester: "bob", device: .sample(0..<16), credential: .sample(16..<32),
        challenge: .sample(0..<32),
        service: "sudo", terminal: bytes("/dev/pts/3"), purpose: bytes("sudo a\nb 100% ü"),
        command: [UInt8](32..<64), factor: Factor.fingerprint, enrolment: 7, counter: 42,
        previous: [UInt8](repeating: 0, count: 32), issued: Instant(seconds: 1_795_195_440))

    private static var old: Statement {
        var statement = sample
        statement.version = 1
        return statement
    }

    static var seeds: [[UInt8]] {
        [sample.encoded(), old.encoded()]
            + [ServerMode.online, .offline].map { mode in
                var statement = sample
                statement.server = ServerLines(
                    url: "https://id.example.org", account: "a%", mode: mode)
                return statement.encoded()
            }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let statement = try? Statement(parsing: bytes) else { return }
        require(statement.encoded() == bytes, "a statement has a second form")
    }
}

/// Values that a caller chose, through the text and back; they can add no line.
enum StatementValues: Harness {
    static let name = "statement-values"
    static var seeds: [[UInt8]] {
        [bytes("alice\0/dev/pts/3\0sudo apt\nuid: 0"), bytes("%0A\0%\0\u{202E}\u{85}\r\t\u{1B}")]
    }

    static func feed(_ bytes: [UInt8]) {
        let values = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard values.count == 3 else { return }
        let sample = Statements.sample
        let statement = Statement(
            audience: sample.audience, account: AccountName([UInt8](values[0])), uid: sample.uid,
            requester: sample.requester, device: sample.device, credential: sample.credential,
            challenge: sample.challenge,
            service: sample.service, terminal: [UInt8](values[1]), purpose: [UInt8](values[2]),
            factor: sample.factor, enrolment: sample.enrolment, counter: sample.counter,
            previous: sample.previous, issued: sample.issued)
        let text = statement.encoded()
        require(text.count { $0 == UInt8(ascii: "\n") } == 17, "a value added a line")
        if let parsed = try? Statement(parsing: text) {
            require(parsed == statement, "a value was altered")
        }
    }
}
