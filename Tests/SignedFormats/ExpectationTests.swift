// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

// Testing has an Expectation too.
import struct SignedFormats.Expectation

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("What a relying party expects")
struct ExpectationTests {
    private let expectation = Expectation(
        audience: Audience.local, account: "alice", uid: 1_000, requester: "bob",
        challenge: .sample(0..<32), service: "sudo", terminal: bytes("/dev/pts/3"),
        purpose: bytes("sudo apt upgrade"), command: [UInt8](32..<64),
        credential: .sample(16..<32))

    @Test("is met by its own statement")
    func met() {
        #expect(expectation.mismatch(with: sampleStatement) == nil)
    }

    @Test("is not met if any part of it differs")
    func differs() {
        let other = bytes("other")
        let parts: [(WritableKeyPath<Statement, [UInt8]>, Expectation.Mismatch)] = [
            (\.audience.altered, .audience), (\.account.altered, .account),
            (\.service.altered, .service),
            (\.terminal, .context), (\.purpose, .context), (\.factor, .factor),
            (\.command, .context),
        ]
        for (part, mismatch) in parts {
            for value in [other, []] {
                var statement = sampleStatement
                statement[keyPath: part] = value
                #expect(expectation.mismatch(with: statement) == mismatch)
            }
        }
        for index in [0, 31] {
            var statement = sampleStatement
            statement.challenge.flipBit(ofByte: index)
            #expect(expectation.mismatch(with: statement) == .challenge)
        }
        for index in [0, 15] {
            var statement = sampleStatement
            statement.credential.flipBit(ofByte: index)
            #expect(expectation.mismatch(with: statement) == .credential)
        }
        var statement = sampleStatement
        statement.uid = 0
        #expect(expectation.mismatch(with: statement) == .account)
    }

    // `su bob`, then sudo: the application names bob, and the session is alice's.
    @Test("names a requester, and another than the account where the application does")
    func requester() {
        for (named, said, isMet) in [
            ("bob", "bob", true), ("bob", "carol", true), ("bob", "alice", false),
            ("bob", "", false), ("alice", "alice", true), ("alice", "bob", true),
            ("alice", "", false), ("", "alice", true), ("", "bob", true), ("", "", false),
        ] {
            var expectation = expectation
            expectation.requester = AccountName(named)
            var statement = sampleStatement
            statement.requester = AccountName(said)
            let mismatch = expectation.mismatch(with: statement)
            #expect(mismatch == (isMet ? nil : .requester), "\(named), \(said)")
        }
    }

    @Test("is not met by a statement of version 1, and not by a command where none was named")
    func version() {
        var old = sampleStatement
        old.version = 1
        #expect(expectation.mismatch(with: old) == .version)
        var plain = expectation
        plain.command = []
        #expect(plain.mismatch(with: sampleStatement) == .context)
    }
}

@Suite("What a relying party expects of a server's part in a statement")
struct ServerExpectationTests {
    private func mismatch(
        _ said: ServerLines?, wanting server: ServerExpectation?
    ) -> Expectation.Mismatch? {
        var statement = sampleStatement
        statement.server = said
        return Expectation(
            audience: Audience.local, account: "alice", uid: 1_000, requester: .none,
            challenge: .sample(0..<32), service: "sudo", terminal: bytes("/dev/pts/3"),
            purpose: bytes("sudo apt upgrade"), command: [UInt8](32..<64),
            credential: .sample(16..<32), server: server
        ).mismatch(with: statement)
    }

    private func lines(
        _ mode: ServerMode, _ url: String = "https://h", as account: String = "alice"
    ) -> ServerLines {
        ServerLines(url: ServerURL(url), account: ServerAccountName(account), mode: mode)
    }

    private func server(
        mayBeOffline: Bool = false, mayDiffer: Bool = false
    ) -> ServerExpectation {
        ServerExpectation(
            url: "https://h", mayBeOffline: mayBeOffline, mayDiffer: mayDiffer)
    }

    @Test("is met only by the server that was asked for, and by none if none was asked for")
    func presence() {
        #expect(mismatch(nil, wanting: nil) == nil)
        #expect(mismatch(lines(.online), wanting: server()) == nil)
        #expect(mismatch(lines(.online), wanting: nil) == .server)
        // The plain local assertion satisfies no login at a server.
        #expect(mismatch(nil, wanting: server(mayBeOffline: true, mayDiffer: true)) == .server)
        #expect(mismatch(lines(.online, "https://h/a"), wanting: server()) == .server)
        #expect(mismatch(lines(.online, ""), wanting: server()) == .server)
    }

    @Test("takes an offline login, or another name, only where that may be")
    func permissions() {
        #expect(mismatch(lines(.offline), wanting: server()) == .server)
        #expect(mismatch(lines(.offline), wanting: server(mayBeOffline: true)) == nil)
        #expect(mismatch(lines(.online, as: "bob"), wanting: server()) == .server)
        #expect(mismatch(lines(.online, as: "bob"), wanting: server(mayDiffer: true)) == nil)
        #expect(
            mismatch(lines(.offline, as: "bob"), wanting: server(mayDiffer: true)) == .server)
    }
}

@Suite("What a relying party expects of a server's verdict")
struct VerdictExpectationTests {
    private static let now: UInt64 = 1_800_000_000

    private let verdict = Verdict(
        audience: "corp", account: "alice", local: "alice",
        device: sampleStatement.device, challenge: .sample(repeating: 1),
        module: .sample(0..<32), decision: .allow, issued: Instant(seconds: now),
        expires: Instant(seconds: now + 60))

    private func mismatch(
        _ verdict: Verdict, _ mode: ServerMode? = .online, as account: String = "alice",
        hours: UInt64 = 0, at now: UInt64 = now
    ) -> VerdictExpectation.Mismatch? {
        var statement = sampleStatement
        statement.server = mode.map {
            ServerLines(url: "https://h", account: ServerAccountName(account), mode: $0)
        }
        return VerdictExpectation(
            audience: "corp", local: "alice", challenge: .sample(0..<32),
            offlineSeconds: hours * 3_600
        ).mismatch(with: verdict, for: statement, at: now)
    }

    @Test("is met by a yes to this very challenge, whatever the clock says")
    func online() {
        for now in [0, Self.now - 86_400, Self.now, Self.now + 86_400 * 365] {
            #expect(mismatch(verdict, at: now) == nil)
        }
        var other = verdict
        other.module.flipBit(ofByte: 31)
        // However young it is, and however long an offline one would be good.
        #expect(mismatch(other, hours: 720) == .challenge)
    }

    @Test("is not met if any part of it differs, online or offline")
    func differs() {
        let changes: [(VerdictExpectation.Mismatch, (inout Verdict) -> Void)] = [
            (.audience, { $0.audience = "corp2" }), (.audience, { $0.audience = .none }),
            (.account, { $0.local = "bob" }), (.account, { $0.account = "bob" }),
            (.device, { $0.device.flipBit(ofByte: 0) }), (.decision, { $0.decision = .deny }),
        ]
        for mode in [ServerMode.online, .offline] {
            for (expected, change) in changes {
                var other = verdict
                change(&other)
                #expect(mismatch(other, mode, hours: 1) == expected)
            }
            // The name that was signed at the touch counts, also where another was allowed.
            #expect(mismatch(verdict, mode, as: "bob", hours: 1) == .account)
        }
        #expect(mismatch(verdict, nil, hours: 1) == .account)
    }

    @Test("accepts an offline one only for its hours, and none from an inexplicable future")
    func age() {
        let hour: UInt64 = 3_600
        for (at, hours, expected) in [
            (Self.now, 1, nil), (Self.now + hour, 1, nil), (Self.now + hour + 1, 1, .age),
            (Self.now + 720 * hour, 720, nil), (Self.now + 720 * hour + 1, 720, .age),
            (Self.now - 300, 1, nil), (Self.now - 301, 1, .age), (0, 720, .age),
            (Self.now, 0, .age), (Self.now - 1, 0, .age), (UInt64.max, 720, .age),
        ] as [(UInt64, UInt64, VerdictExpectation.Mismatch?)] {
            #expect(mismatch(verdict, .offline, hours: hours, at: at) == expected)
        }
        var old = verdict
        old.module = .sample(repeating: 9)
        #expect(mismatch(old, .offline, hours: 1) == nil)
        // Its own end does not prolong it, nor shorten it.
        old.expires = .init(seconds: Instant.last)
        #expect(mismatch(old, .offline, hours: 1, at: Self.now + hour + 1) == .age)
    }
}
