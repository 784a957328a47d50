// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// The module with a server's file, this test in the daemon's place, and in the server's.
@Suite("a login that a server has to approve, in the module")
struct ServerLoginTests {
    private static let path = "/etc/signet/corp"
    private static let url: ServerURL = "https://id.example.org"
    private static let audience: Audience = "corp"

    let fixture: ModuleFixture
    /// The server's key of verdicts.
    private let server: P256PrivateKey

    init() throws {
        fixture = try ModuleFixture(
            stack: """
                auth required pam_signet.so server=\(Self.path)
                auth optional pam_exec.so stdout /usr/bin/env
                """)
        server = try P256PrivateKey.generate()
        try fixture.host.run(["mkdir", "-p", "-m", "755", "/etc/signet"])
        try write()
    }

    func write(_ more: String = "", key: P256PrivateKey? = nil) throws {
        let point = (key ?? server).publicPoint
        let line = try #require(SSHPublicKey(point: point)).line(comment: [])
        let key = String(decoding: line, as: UTF8.self)
        try fixture.host.write(
            Self.path,
            """
            url = https://id.example.org
            audience = corp
            key = \(key)\(more)

            """)
    }

    /// The seconds since 1970.
    private static var now: UInt64 { UInt64(time(nil)) }

    /// The lines of the statement that answers a request.
    func lines(
        _ mode: ServerMode = .online, as account: String = "alice"
    ) -> ServerLines {
        ServerLines(url: Self.url, account: ServerAccountName(account), mode: mode)
    }

    /// A yes to a request.
    func verdict(for request: AuthenticateRequest) -> Verdict {
        Verdict(
            audience: Self.audience, account: ServerAccountName(request.account.bytes),
            local: request.account,
            device: .sample(repeating: 1),
            challenge: .sample(repeating: 3), module: request.challenge,
            decision: .allow, issued: Instant(seconds: Self.now),
            expires: Instant(seconds: Self.now + 60))
    }

    /// What answers a request truthfully but for what is changed.
    func proof(
        for request: AuthenticateRequest, _ said: ServerLines?, _ verdict: Verdict,
        key: P256PrivateKey? = nil, namespace: SignatureNamespace = .verdict, token: String? = nil
    ) throws -> Assertion {
        var statement = fixture.statement(for: request)
        statement.server = said
        var assertion = try fixture.assertion(statement.encoded())
        let signed = try fixture.assertion(
            verdict.encoded(), key: key ?? server, namespace: namespace)
        assertion.server = ServerProof(
            verdict: signed.statement, signature: signed.signature,
            accessToken: token.map { [UInt8]($0.utf8) })
        return assertion
    }

    /// One login, answered by `answer`; what the probe tells.
    func lines(
        answering answer: (AuthenticateRequest) throws -> Assertion
    ) throws -> [String] {
        let probe = try fixture.start()
        let visit = try fixture.visit()
        try visit.prove(try answer(try visit.authenticate()))
        return try probe.lines()
    }

    private func code(
        answering answer: (AuthenticateRequest) throws -> Assertion
    ) throws -> Int? {
        let line = try lines(answering: answer).first { $0.hasPrefix("auth ") }
        return line.flatMap { Int($0.dropFirst(5)) }
    }

    @Test("succeeds by a touch and the server's approval of this very challenge")
    func accepted() throws {
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        #expect(
            try request.server
                == ServerLoginRequest(
                    url: Self.url, audience: Self.audience,
                    key: #require(PublicKeyPoint(server.publicPoint))))
        try visit.prove(proof(for: request, lines(), verdict(for: request)))
        let told = try probe.lines()
        #expect(told.contains("auth 0"))
        #expect(told.last == "left mapped=0 threads=1 files=0 signals=0")
        #expect(!told.contains { $0.contains("SIGNET_TOKEN") })
    }

    @Test("needs no clock for that")
    func noClock() throws {
        for seconds in [0, 1_000_000_000, Instant.last] {
            let code = try code { request in
                var verdict = verdict(for: request)
                verdict.issued = Instant(seconds: seconds)
                verdict.expires = Instant(seconds: seconds)
                return try proof(for: request, lines(), verdict)
            }
            #expect(code == ModuleFixture.Code.success)
        }
    }

    @Test("the plain proof of a touch is refused, and so is one about another server")
    func noServer() throws {
        for said in [
            nil,
            ServerLines(
                url: ServerURL("https://id.example.org/"), account: "a", mode: .online),
        ] {
            #expect(
                try code { try proof(for: $0, said, verdict(for: $0)) }
                    == ModuleFixture.Code.authError)
        }
        #expect(try code { try fixture.proof(for: $0) } == ModuleFixture.Code.authError)
        let bare = try code { request in
            var assertion = try proof(for: request, lines(), verdict(for: request))
            assertion.server = nil
            return assertion
        }
        #expect(bare == ModuleFixture.Code.authError)
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("verdict is missing")
        }
    }

    /// What a verdict may not have changed in it.
    static let alterations: [(String, @Sendable (inout Verdict) -> Void)] = [
        ("audience", { $0.audience = "shop" }),
        ("account", { $0.account = "bob" }),
        ("local", { $0.local = "bob" }),
        ("device", { $0.device.flipBit(ofByte: 15) }),
        ("module", { $0.module.flipBit(ofByte: 0) }),
        ("decision", { $0.decision = .deny }),
    ]

    @Test("a well-signed verdict about anything else is refused", arguments: alterations.indices)
    func altered(_ index: Int) throws {
        let code = try code { request in
            var verdict = verdict(for: request)
            Self.alterations[index].1(&verdict)
            return try proof(for: request, lines(), verdict)
        }
        #expect(code == ModuleFixture.Code.authError, "\(Self.alterations[index].0)")
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("verdict does not approve")
        }
    }

    @Test("a verdict by another key, for another use, or that was altered is refused")
    func foreign() throws {
        let other = try P256PrivateKey.generate()
        let answers: [(AuthenticateRequest) throws -> Assertion] = [
            { try proof(for: $0, lines(), verdict(for: $0), key: other) },
            // The device's own key is no server's.
            { try proof(for: $0, lines(), verdict(for: $0), key: fixture.key) },
            { try proof(for: $0, lines(), verdict(for: $0), namespace: .login) },
            { try proof(for: $0, lines(), verdict(for: $0), namespace: .operation) },
            { request in
                let good = try proof(for: request, lines(), verdict(for: request))
                var changed = verdict(for: request)
                changed.expires = Instant(seconds: Self.now + 3_600)
                return try replacing(good, text: changed.encoded())
            },
            { request in
                let good = try proof(for: request, lines(), verdict(for: request))
                return try replacing(good, text: try #require(good.server).verdict + [10])
            },
            { request in
                let good = try proof(for: request, lines(), verdict(for: request))
                // The local statement with its signature in the verdict's place.
                return try replacing(good, text: good.statement, signature: good.signature)
            },
        ]
        for answer in answers {
            #expect(try code(answering: answer) == ModuleFixture.Code.authError)
        }
    }

    private func replacing(
        _ assertion: Assertion, text: [UInt8], signature: [UInt8]? = nil
    ) throws -> Assertion {
        var changed = assertion
        let server = try #require(assertion.server)
        changed.server = ServerProof(verdict: text, signature: signature ?? server.signature)
        return changed
    }

    @Test("a file with another key pinned refuses this one's verdict")
    func otherPin() throws {
        try write(key: try P256PrivateKey.generate())
        #expect(
            try code { try proof(for: $0, lines(), verdict(for: $0)) }
                == ModuleFixture.Code.authError)
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("not signed with the server's key")
        }
    }

    @Test("a verdict that was good once is refused for the next login")
    func replayed() throws {
        try write("offline = 24 hours")
        var kept: Verdict?
        #expect(
            try code { request in
                kept = verdict(for: request)
                return try proof(for: request, lines(), verdict(for: request))
            } == ModuleFixture.Code.success)
        let old = try #require(kept)
        #expect(try code { try proof(for: $0, lines(), old) } == ModuleFixture.Code.authError)
        // Said to be offline at the touch, it is what the file allows.
        #expect(try code { try proof(for: $0, lines(.offline), old) } == ModuleFixture.Code.success)
    }

    @Test("an offline login is refused unless the file allows it, and beyond its hours")
    func offline() throws {
        let hour: UInt64 = 3_600
        for (setting, age, expected) in [
            ("", 0, ModuleFixture.Code.authError),
            ("offline = refuse", 0, ModuleFixture.Code.authError),
            ("offline = 2 hours", 0, ModuleFixture.Code.success),
            ("offline = 2 hours", 2 * hour - 60, ModuleFixture.Code.success),
            ("offline = 2 hours", 2 * hour + 60, ModuleFixture.Code.authError),
            ("offline = 720 hours", 720 * hour - 60, ModuleFixture.Code.success),
            ("offline = 720 hours", 720 * hour + 60, ModuleFixture.Code.authError),
        ] {
            try write(setting)
            let code = try code { request in
                var verdict = verdict(for: request)
                verdict.module = .sample(repeating: 8)
                verdict.issued = Instant(seconds: Self.now - age)
                verdict.expires = Instant(seconds: Self.now - age + 60)
                return try proof(for: request, lines(.offline), verdict)
            }
            #expect(code == expected, "\(setting) \(age)")
        }
    }

    @Test("an offline verdict of tomorrow is refused: a clock is wrong")
    func future() throws {
        try write("offline = 2 hours")
        for (ahead, expected) in [
            (200, ModuleFixture.Code.success), (400, ModuleFixture.Code.authError),
            (86_400, ModuleFixture.Code.authError),
        ] as [(UInt64, Int)] {
            let code = try code { request in
                var verdict = verdict(for: request)
                verdict.module = .sample(repeating: 8)
                verdict.issued = Instant(seconds: Self.now + ahead)
                verdict.expires = Instant(seconds: Self.now + ahead)
                return try proof(for: request, lines(.offline), verdict)
            }
            #expect(code == expected)
        }
    }

    @Test("another name at the server is refused, unless the file allows the one that was signed")
    func names() throws {
        func answer(_ request: AuthenticateRequest, _ said: String) throws -> Assertion {
            var verdict = verdict(for: request)
            verdict.account = "a.smith"
            return try proof(for: request, lines(as: said), verdict)
        }
        #expect(try code { try answer($0, "a.smith") } == ModuleFixture.Code.authError)
        try write("names = any")
        #expect(try code { try answer($0, "a.smith") } == ModuleFixture.Code.success)
        #expect(try code { try answer($0, "alice") } == ModuleFixture.Code.authError)
        #expect(try code { try answer($0, "b.smith") } == ModuleFixture.Code.authError)
    }

    @Test("users that the file does not name log in as before, and those that it names do not")
    func accounts() throws {
        for names in ["bob", "@tty", "bob @tty"] {
            try write("accounts = \(names)")
            var wish: ServerLoginRequest?
            let code = try code { request in
                wish = request.server
                return try fixture.proof(for: request)
            }
            #expect(code == ModuleFixture.Code.success && wish == nil)
        }
        for names in ["alice", "bob alice", "@alice", "@tty @alice"] {
            try write("accounts = \(names)")
            var wish: ServerLoginRequest?
            let code = try code { request in
                wish = request.server
                return try fixture.proof(for: request)
            }
            #expect(code == ModuleFixture.Code.authError && wish != nil, "\(names)")
        }
        // The members of an unknown group are unknown.
        try write("accounts = @nowhere")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.authError])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("group")
        }
    }

    @Test(
        "a file that users other than root may have changed is refused, without asking the daemon",
        arguments: [
            "chmod g+w corp", "chmod o+w corp", "chown bob corp", "chmod o+w .", "chown bob .",
            "mv corp real && ln -s real corp", "ln corp second", "rm corp && mkfifo corp",
            "rm corp && mkdir corp", "truncate -s 2049 corp",
        ])
    func untrusted(_ command: String) throws {
        let done = try fixture.host.run(["/bin/sh", "-c", "cd /etc/signet && \(command)"])
        #expect(done.succeeded, "\(done)")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.authError])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("the server file is not trusted")
        }
    }

    @Test(
        "a missing or faulty file gives no access, and the journal names the line",
        arguments: [
            ("rm corp", 0), ("rm -r ../signet", 0), (": >corp", 0), ("sed -i /url/d corp", 0),
            ("sed -i /audience/d corp", 0), ("sed -i /key/d corp", 0),
            ("echo 'offline = always' >>corp", 5),
            ("sed -i 's/^url.*/url = http:\\/\\/h/' corp", 1),
            ("sed -i s/nistp256/nistp384/ corp", 3), ("echo 'accounts =' >>corp", 5),
        ])
    func mistaken(_ command: String, _ line: Int) throws {
        let done = try fixture.host.run(["/bin/sh", "-c", "cd /etc/signet && \(command)"])
        #expect(done.succeeded, "\(done)")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.serviceError])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1
                && $0.message.contains(line > 0 ? "line \(line) of" : "is missing or incomplete")
        }
    }

    @Test(
        "what a server's policy requires is said in words",
        arguments: [
            (UnmetRequirement.factor, "the server does not accept fingerprints for this"),
            (.keys, "the server accepts only keys in a TPM, and this device's key is not in one"),
            (.secureBoot, "the server requires Secure Boot, which is off on this machine"),
        ])
    func policy(unmet: UnmetRequirement, text: String) throws {
        let probe = try fixture.start()
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(
            .denial(Denial(.serverRefused, subject: [UInt8]("\(unmet.code)".utf8))))
        let lines = try probe.lines()
        #expect(lines.contains("auth \(ModuleFixture.Code.authError)"))
        #expect(lines.contains { $0.hasPrefix("error ") && $0.contains(text) }, "\(lines)")
        #expect(!lines.contains { $0.contains("policy-") }, "\(lines)")
    }

    @Test("a server's no is a refusal, and one that cannot be asked is not")
    func denials() throws {
        for (reason, code, text) in [
            (
                DenialReason.serverKeyBlocked, ModuleFixture.Code.authError,
                "is blocked. Ask the server's"
            ),
            (.serverKeyReplaced, ModuleFixture.Code.authError, "another device replaced this one"),
            (.serverKeyRemoved, ModuleFixture.Code.authError, "the registration was removed at"),
            (.serverRefused, ModuleFixture.Code.authError, "the server refused"),
            (
                .serverUnreachable, ModuleFixture.Code.unavailable,
                "the request to the server failed"
            ),
            (.unknownServer, ModuleFixture.Code.unavailable, "is not registered at"),
            (.serverKeyInvalidated, ModuleFixture.Code.unavailable, "the fingers have changed"),
            (.serverTooLongAgo, ModuleFixture.Code.unavailable, "no earlier approval"),
            (.serverLost, ModuleFixture.Code.unavailable, "before the touch, but not after it"),
            (.serverBusy, ModuleFixture.Code.unavailable, "has not answered"),
            (.clockSetBack, ModuleFixture.Code.unavailable, "was set back"),
        ] {
            let probe = try fixture.start()
            let visit = try fixture.visit()
            _ = try visit.authenticate()
            try visit.send(.denial(Denial(reason, subject: [UInt8]("https://h".utf8))))
            let lines = try probe.lines()
            #expect(lines.contains("auth \(code)"))
            #expect(lines.contains { $0.hasPrefix("error ") && $0.contains(text) }, "\(lines)")
        }
    }
}
