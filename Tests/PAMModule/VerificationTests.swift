// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("what the module accepts as proof")
struct VerificationTests {
    @Test(
        "a proven touch gives access, and leaves nothing of the module behind",
        arguments: ModuleEdition.allCases)
    func proven(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let probe = try fixture.start(environment: ["PROBE_TTY": "/dev/pts/77"])
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        #expect(request.account == "alice")
        #expect(request.service == "probe")
        // It is not the process's own, so it is neither told nor shown.
        #expect(request.terminal.isEmpty)
        #expect(request.purpose.isEmpty)
        #expect(request.timeoutMilliseconds == 30_000)
        #expect(request.maximumTries == 3)
        try visit.send(.notice(Notice(.touch, scan: .press)))
        try visit.prove(fixture.proof(for: request))
        #expect(
            try probe.lines() == [
                "info touch the reader for probe (alice)", "auth 0",
                "left mapped=0 threads=1 files=0 signals=0",
            ])
        #expect(try visit.hasEnded())
    }

    @Test("every login has a challenge of its own")
    func freshChallenges() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start(["auth", "auth", "auth"])
        var seen: Set<[UInt8]> = []
        for _ in 0..<3 {
            let visit = try fixture.visit()
            let request = try visit.authenticate()
            seen.insert(request.challenge.bytes)
            try visit.prove(fixture.proof(for: request))
        }
        #expect(seen.count == 3)
        #expect(try probe.lines().prefix(3) == ["auth 0", "auth 0", "auth 0"])
    }

    @Test("a notice that asks for it is acknowledged once it was shown, and no other")
    func shown() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        let subject = [UInt8]("su (bob, pts/1)".utf8)
        try visit.send(.notice(Notice(.touch, requester: "bob")))
        try visit.send(.notice(Notice(.fingerPresent, wantsAcknowledgement: true)))
        try visit.send(.notice(Notice(.contended, subject: subject, wantsAcknowledgement: true)))
        #expect(try visit.request() == .shown)
        try probe.expect("info another request has arrived: su (bob, pts/1)\n")
        try visit.prove(fixture.proof(for: request))
        let lines = try probe.lines()
        #expect(lines.first == "info touch the reader for probe (alice, asked by bob)")
        #expect(lines.contains("auth 0"))
    }

    @Test("what cannot be shown is not acknowledged")
    func quiet() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so prompt=off")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.contended, wantsAcknowledgement: true)))
        // The next that comes is the question about the proof.
        try visit.prove(fixture.proof(for: request))
        #expect(try probe.codes() == [ModuleFixture.Code.success])
    }

    @Test(
        "a command is asked for with the digest of its whole line; an unclear one, or a long one, is not"
    )
    func command() throws {
        let fixture = try ModuleFixture()
        try fixture.writeServices(["sudo"], options: "")
        func probe(_ words: [String]) throws -> Terminal {
            try fixture.host.terminal(
                ["\(Layout.products)/PAMModuleProbe"] + words, as: HostFixture.root,
                environment: [
                    "PROBE_SERVICE": "sudo", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
                ])
        }
        let words = ["V=1", "echo", String(repeating: "x", count: 900), "end"]
        let terminal = try probe(words)
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        let purpose = "sudo echo \(words[2]) end [V=1]"
        #expect(request.purpose == [UInt8](purpose.utf8))
        let line = (["\(Layout.products)/PAMModuleProbe"] + words).map { $0 + "\0" }.joined()
        #expect(request.commandDigest == (try SHA256.digest([UInt8](line.utf8))))
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("auth 0")
        for (words, text) in [
            (["--no-such", "id"], "it is unclear what"), (["-E", "id"], "it is unclear what"),
            (["echo", String(repeating: "x", count: 1_100)], "too long to be shown whole"),
            (["A=" + String(repeating: "b", count: 40_000), "id"], "too long to be shown whole"),
        ] {
            let unclear = try probe(words)
            try unclear.expect(text)
            try unclear.expect("assword: ")
            unclear.hangUp()
            #expect(!fixture.hasVisit)
        }
    }

    /// What a statement may not have changed in it.
    static let alterations: [(String, @Sendable (inout Statement) -> Void)] = [
        ("audience", { $0.audience = "example.org" }),
        ("account", { $0.account = "bob" }),
        ("uid", { $0.uid = 0 }),
        ("challenge", { $0.challenge.flipBit(ofByte: 0) }),
        ("service", { $0.service = "sudo" }),
        ("terminal", { $0.terminal = [UInt8]("/dev/pts/1".utf8) }),
        ("purpose", { $0.purpose = [UInt8]("sudo ls".utf8) }),
        ("credential", { $0.credential.flipBit(ofByte: 15) }),
        ("factor", { $0.factor = [UInt8]("password".utf8) }),
        ("no requester", { $0.requester = .none }),
        ("command", { $0.command = [UInt8](repeating: 1, count: 32) }),
        ("version", { $0.version = 1 }),
    ]

    @Test(
        "a well-signed statement about anything else is refused", arguments: alterations.indices,
        ModuleEdition.allCases)
    func altered(_ index: Int, _ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let probe = try fixture.start(environment: ["PROBE_RUSER": "alice"])
        let visit = try fixture.visit()
        var statement = fixture.statement(for: try visit.authenticate())
        VerificationTests.alterations[index].1(&statement)
        try visit.prove(fixture.assertion(statement.encoded()))
        #expect(try probe.lines().contains("auth \(ModuleFixture.Code.authError)"))
        try fixture.host.journal.expect("an alert") { $0.priority == 1 }
    }

    @Test(
        "another's key, another use, and a key that only claims to be the account's are refused",
        arguments: ModuleEdition.allCases)
    func foreignSignatures(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let other = try P256PrivateKey.generate()
        let probe = try fixture.start(["auth", "auth", "auth"])
        let makers: [([UInt8]) throws -> Assertion] = [
            { try fixture.assertion($0, key: other) },
            { try fixture.assertion($0, namespace: .request) },
            {
                // Signed by another, under the registered key's name.
                let theirs = try SSHSignature(blob: fixture.assertion($0, key: other).signature)
                let key = try #require(SSHPublicKey(point: fixture.key.publicPoint))
                let claim = SSHSignature(
                    publicKey: key, namespace: .login, r: theirs.r, s: theirs.s)
                return Assertion(statement: $0, signature: claim.blob)
            },
        ]
        for make in makers {
            let visit = try fixture.visit()
            let text = fixture.statement(for: try visit.authenticate()).encoded()
            try visit.prove(make(text))
        }
        #expect(try probe.codes() == [7, 7, 7])
    }

    @Test(
        "an assertion that was good once is refused when it comes again",
        arguments: ModuleEdition.allCases)
    func replayed(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let probe = try fixture.start(["auth", "auth"])
        let first = try fixture.visit()
        let proof = try fixture.proof(for: first.authenticate())
        try first.prove(proof)
        let second = try fixture.visit()
        _ = try second.authenticate()
        try second.prove(proof)
        #expect(try probe.codes() == [0, 7])
    }

    @Test(
        "a statement or signature with any byte changed, cut or added is refused",
        arguments: ModuleEdition.allCases)
    func everyByte(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        // Longer than both are; past the end, the last byte is changed or cut once more.
        var cases: [(inout Assertion) -> Void] = []
        for index in 0..<430 {
            cases.append { $0.statement.flip(index) }
            cases.append { $0.statement.cut(index) }
        }
        for index in 0..<290 {
            cases.append { $0.signature.flip(index) }
            cases.append { $0.signature.cut(index) }
        }
        cases.append { $0.statement += [10] }
        cases.append { $0.signature += [0] }
        let probe = try fixture.start([String](repeating: "auth", count: cases.count))
        for change in cases {
            let visit = try fixture.visit()
            let request = try visit.authenticate()
            var proof = try fixture.proof(for: request)
            change(&proof)
            #expect(proof.statement.count <= 430 && proof.signature.count <= 290)
            try visit.prove(proof)
        }
        let codes = try probe.codes(within: .seconds(120))
        #expect(codes.count == cases.count)
        #expect(codes.allSatisfy { $0 == ModuleFixture.Code.authError })
    }

    @Test("a number in another form than the canonical one is refused, though it is signed")
    func otherForm() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start(["auth", "auth"])
        for (from, to) in [("counter: 1", "counter: 01"), ("uid: 4242", "uid: +4242")] {
            let visit = try fixture.visit()
            let text = fixture.statement(for: try visit.authenticate()).encoded()
            let changed = String(decoding: text, as: UTF8.self).replacing(from, with: to)
            #expect([UInt8](changed.utf8) != text || from == "counter: 1")
            try visit.prove(fixture.assertion([UInt8](changed.utf8)))
        }
        #expect(try probe.codes() == [7, 7])
    }

    @Test("numbers of a signature that are zero, the order or beyond it are refused")
    func extremeNumbers() throws {
        let fixture = try ModuleFixture()
        let zero = [UInt8](repeating: 0, count: 32)
        let most = [UInt8](repeating: 0xFF, count: 32)
        let order = try #require(
            Hexadecimal.decode(
                [UInt8]("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551".utf8)))
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let pairs = [
            (zero, one), (one, zero), (order, one), (one, order), (most, most), (one, one),
        ]
        let probe = try fixture.start([String](repeating: "auth", count: pairs.count))
        for (r, s) in pairs {
            let visit = try fixture.visit()
            let text = fixture.statement(for: try visit.authenticate()).encoded()
            let key = try #require(SSHPublicKey(point: fixture.key.publicPoint))
            let signature = SSHSignature(publicKey: key, namespace: .login, r: r, s: s)
            try visit.prove(Assertion(statement: text, signature: signature.blob))
        }
        #expect(try probe.codes() == [7, 7, 7, 7, 7, 7])
    }
}

extension Program {
    /// What each pam_authenticate(3) of the probe returned.
    func codes(within limit: Duration = .patience) throws -> [Int] {
        try lines(within: limit).filter { $0.hasPrefix("auth ") }.compactMap {
            Int($0.dropFirst(5))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func flip(_ index: Int) {
        self[Swift.min(index, count - 1)] ^= 1
    }

    fileprivate mutating func cut(_ index: Int) {
        self = [UInt8](prefix(Swift.min(Swift.max(1, index), count - 1)))
    }
}
