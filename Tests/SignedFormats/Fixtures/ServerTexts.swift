// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

/// A kind of text for a server: a sample, what it must look like, and how it is read.
struct ServerText: Sendable, CustomTestStringConvertible {
    let name: String
    let text: [UInt8]
    let expected: String
    /// Every value at its longest, in the form that takes most room.
    let longest: [UInt8]
    let maximumLength: Int
    /// What an alteration of the sample must not get through: old and new.
    let otherForms: [(String, String)]
    /// Reads a text and writes it again.
    let again: @Sendable ([UInt8]) throws -> [UInt8]

    var testDescription: String { name }

    init<Text: CanonicalText>(
        _ sample: Text, longest: Text, otherForms: [(String, String)], expected: String
    ) {
        name = "\(Text.kind)"
        text = sample.encoded()
        self.expected = expected
        self.longest = longest.encoded()
        maximumLength = Text.maximumLength
        self.otherForms = otherForms
        again = { try Text(parsing: $0).encoded() }
    }

    static let all = [login, request, operation, mac, verdict, challenge]
}

let sampleHead = StatementHead(
    audience: "shop.example", account: "alice", device: .sample(0..<16),
    credential: .sample(16..<32))

let sampleClaims = StatementClaims(
    factor: Factor.fingerprint, integrity: Integrity(key: .tpm, secureBoot: .unknown),
    enrolment: 7, counter: 42, issued: Instant(seconds: 1_795_195_440))

let sampleLogin = LoginStatement(
    head: sampleHead, challenge: .sample(0..<32), action: LoginAction.login,
    service: "web", terminal: [], purpose: bytes("sign in"), claims: sampleClaims)

let sampleRequestLines = RequestLines(
    method: bytes("POST"), resource: bytes("/v1/payments"), nonce: [UInt8](0..<32),
    body: [UInt8](32..<64))

let sampleRequest = RequestStatement(
    head: sampleHead, request: sampleRequestLines, claims: sampleClaims)

let sampleOperation = OperationStatement(
    head: sampleHead, operation: .sample(32..<48), challenge: .sample(0..<32),
    template: bytes("payment"), data: bytes("pay 10 EUR\nto Bob"), decision: .approve,
    claims: sampleClaims)

let sampleMAC = MACText(
    audience: "shop.example", token: .sample(32..<48), request: sampleRequestLines,
    issued: Instant(seconds: 1_795_195_440))

let sampleVerdict = Verdict(
    audience: "shop.example", account: "alice", local: "al",
    device: .sample(0..<16), challenge: .sample(0..<32), module: .sample(32..<64),
    decision: .allow, issued: Instant(seconds: 1_795_195_440),
    expires: Instant(seconds: 1_795_195_500))

let sampleChallenge = ChallengeStatement(
    head: sampleHead, challenge: bytes("are you there?\n7"), claims: sampleClaims)

private func long(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

private let longHead = StatementHead(
    audience: Audience(long(256)), account: ServerAccountName(long(256)),
    device: .sample(repeating: 1),
    credential: .sample(repeating: 0xFF))
private let longClaims = StatementClaims(
    factor: long(32), integrity: Integrity(key: .file, secureBoot: .unknown), enrolment: .max,
    counter: .max, issued: Instant(seconds: .max))
private let longRequest = RequestLines(
    method: [UInt8](repeating: 0x5A, count: 16), resource: long(1_024), nonce: long(32),
    body: long(32))

private let headForms = [
    ("device: 00", "device: "), ("0a0b0c", "0A0b0c"), ("credential: 10", "credential: 1"),
    ("shop.example", "shop\u{202E}example"), ("alice", "%61lice"), ("alice", "al\tice"),
]
private let claimForms = [
    ("key: tpm", "key: TPM"), ("key: tpm", "key: "), ("key: tpm", "key: disk"),
    ("secure-boot: unknown", "secure-boot: yes"), ("secure-boot: unknown", "secure-boot: on "),
    ("enrolment: 7", "enrolment: 07"), ("counter: 42", "counter: 18446744073709551616"),
    ("counter: 42", "counter: -1"), ("2026-11-20T", "2026-11-31T"), ("00Z\n", "00z\n"),
]
private let challengeForms = [
    ("challenge: AA", "challenge: A"), ("Hh8\n", "Hh9\n"), ("Hh8\n", "Hh8=\n"),
]
private let requestForms = [
    ("method: POST", "method: "), ("method: POST", "method: post"),
    ("method: POST", "method: PO ST"), ("method: POST", "method: PO%0AST"),
    ("method: POST", "method: POSTPOSTPOSTPOSTP"), ("nonce: AA", "nonce: A"),
    ("body: IC", "body: AAIC"), ("Hh8\n", "Hh9\n"), ("Pj8\n", "Pj9\n"),
    ("/v1/payments", "/v1%2Fpayments"),
]

extension ServerText {
    private static let headLines = """
        audience: shop.example
        account: alice
        device: 000102030405060708090a0b0c0d0e0f
        credential: 101112131415161718191a1b1c1d1e1f
        """
    private static let claimLines = """
        factor: fingerprint
        key: tpm
        secure-boot: unknown
        enrolment: 7
        counter: 42
        issued: 2026-11-20T17:24:00Z

        """
    private static let requestLines = """
        method: POST
        resource: /v1/payments
        nonce: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
        body: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8
        """

    static let login = ServerText(
        sampleLogin,
        longest: LoginStatement(
            head: longHead, challenge: .sample(repeating: 1),
            action: [UInt8](repeating: 0x61, count: 32),
            service: ServiceName(long(64)), terminal: long(256), purpose: long(1_024),
            claims: longClaims),
        otherForms: headForms + challengeForms + claimForms + [
            ("action: login", "action: "), ("action: login", "action: Login"),
            ("action: login", "action: log in"), ("action: login", "action: log%0Ain"),
            ("action: login", "action: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ],
        expected: """
            signet-login: 1
            \(headLines)
            challenge: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
            action: login
            service: web
            terminal: \("")
            purpose: sign in
            \(claimLines)
            """)

    static let request = ServerText(
        sampleRequest,
        longest: RequestStatement(head: longHead, request: longRequest, claims: longClaims),
        otherForms: headForms + requestForms + claimForms,
        expected: """
            signet-request: 1
            \(headLines)
            \(requestLines)
            \(claimLines)
            """)

    static let operation = ServerText(
        sampleOperation,
        longest: OperationStatement(
            head: longHead, operation: .sample(repeating: 1), challenge: .sample(repeating: 0xFF),
            template: long(64),
            data: long(4_096), decision: .approve, claims: longClaims),
        otherForms: headForms + challengeForms + claimForms + [
            ("decision: approve", "decision: Approve"), ("decision: approve", "decision: "),
            ("decision: approve", "decision: approved"), ("operation: 20", "operation: "),
            ("EUR%0Ato", "EUR%0ato"), ("EUR%0Ato", "EUR to\nto"), ("EUR%0Ato", "EUR%0"),
        ],
        expected: """
            signet-operation: 1
            \(headLines)
            operation: 202122232425262728292a2b2c2d2e2f
            challenge: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
            template: payment
            data: pay 10 EUR%0Ato Bob
            decision: approve
            \(claimLines)
            """)

    static let mac = ServerText(
        sampleMAC,
        longest: MACText(
            audience: Audience(long(256)), token: .sample(repeating: 1), request: longRequest,
            issued: Instant(seconds: .max)),
        otherForms: requestForms + [("token: 20", "token: "), ("00Z\n", "00z\n")],
        expected: """
            signet-mac: 1
            audience: shop.example
            token: 202122232425262728292a2b2c2d2e2f
            \(requestLines)
            issued: 2026-11-20T17:24:00Z

            """)

    static let challenge = ServerText(
        sampleChallenge,
        longest: ChallengeStatement(
            head: longHead, challenge: long(1_024), claims: longClaims),
        otherForms: headForms + claimForms + [
            ("are you", "are%20you"), ("%0A7", "%0a7"), ("%0A7", "\n7"),
            ("challenge: are you there?%0A7", "challenge: "),
        ],
        expected: """
            signet-challenge: 1
            \(headLines)
            challenge: are you there?%0A7
            \(claimLines)
            """)

    static let verdict = ServerText(
        sampleVerdict,
        longest: Verdict(
            audience: Audience(long(256)), account: ServerAccountName(long(256)),
            local: AccountName(long(256)),
            device: .sample(repeating: 1),
            challenge: .sample(repeating: 1), module: .sample(repeating: 0xFF), decision: .allow,
            issued: Instant(seconds: .max), expires: Instant(seconds: .max)),
        otherForms: challengeForms + [
            ("decision: allow", "decision: ALLOW"), ("decision: allow", "decision: yes"),
            ("module: IC", "module: AAIC"), ("17:25:00Z", "17:23:59Z"), ("00Z\n", "00z\n"),
        ],
        expected: """
            signet-verdict: 1
            audience: shop.example
            account: alice
            local: al
            device: 000102030405060708090a0b0c0d0e0f
            challenge: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
            module: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8
            decision: allow
            issued: 2026-11-20T17:24:00Z
            expires: 2026-11-20T17:25:00Z

            """)
}
