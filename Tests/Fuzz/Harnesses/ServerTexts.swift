// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport

/// The texts for a server; the first line says which, so each reader is fed with everything.
enum ServerTexts: Harness {
    static let name = "server-texts"

    private static let head = StatementHead(
        audience: "shop.example", account: "alice", device: .sample(0..<16),
        credential: .sample(16..<32))
    private static let claims = StatementClaims(
        factor: Factor.fingerprint, integrity: Integrity(key: .tpm, secureBoot: .on),
        enrolment: 7, counter: 42, issued: Instant(seconds: 1_795_195_440))
    private static let request = RequestLines(
        method: bytes("POST"), resource: bytes("/v1/ü?a=100%"), nonce: [UInt8](0..<32),
        body: [UInt8](32..<64))
    private static let moment = Instant(seconds: 1_795_195_440)

    static let requestStatement = RequestStatement(head: head, request: request, claims: claims)

    static var seeds: [[UInt8]] {
        [
            LoginStatement(
                head: head, challenge: .sample(0..<32), action: LoginAction.macToken,
                service: "web", terminal: [], purpose: bytes("sign\nin"), claims: claims
            ).encoded(),
            requestStatement.encoded(),
            OperationStatement(
                head: head, operation: .sample(0..<16), challenge: .sample(0..<32),
                template: bytes("payment"), data: bytes("pay 10 €\nto Bob"), decision: .reject,
                claims: claims
            ).encoded(),
            MACText(
                audience: "shop.example", token: .sample(0..<16), request: request,
                issued: moment
            ).encoded(),
            ChallengeStatement(
                head: head, challenge: bytes("signet-login: 1\n%"), claims: claims
            ).encoded(),
            Verdict(
                audience: "shop.example", account: "alice", local: "al",
                device: .sample(0..<16), challenge: .sample(0..<32), module: .sample(32..<64),
                decision: .deny, issued: moment, expires: moment
            ).encoded(),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let read = [
            again(bytes, as: LoginStatement.self), again(bytes, as: RequestStatement.self),
            again(bytes, as: OperationStatement.self), again(bytes, as: MACText.self),
            again(bytes, as: Verdict.self), again(bytes, as: ChallengeStatement.self),
            (try? Statement(parsing: bytes))?.encoded(),
        ].compactMap { $0 }
        require(read.count <= 1, "a text is of two kinds")
        require(read.allSatisfy { $0 == bytes }, "a text has a second form")
    }

    private static func again<Text: CanonicalText>(_ bytes: [UInt8], as: Text.Type) -> [UInt8]? {
        (try? Text(parsing: bytes))?.encoded()
    }
}

/// The headers of an HTTP request.
enum Authorizations: Harness {
    static let name = "authorizations"
    static var seeds: [[UInt8]] {
        [
            SignetAuthorization(
                statement: ServerTexts.requestStatement.encoded(), signature: [UInt8](0..<200)
            ).header ?? [],
            MACAuthorization(
                token: .sample(0..<16), nonce: [UInt8](0..<32),
                issued: Instant(seconds: 1_795_195_440), mac: [UInt8](32..<64)
            ).header,
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        if let read = try? SignetAuthorization(header: bytes) {
            require(read.header == bytes, "a header has a second form")
        }
        if let read = try? MACAuthorization(header: bytes) {
            require(read.header == bytes, "a MAC's header has a second form")
        }
    }
}

/// What a person types as an activation code.
enum ActivationCodes: Harness {
    static let name = "activation-codes"
    static var seeds: [[UInt8]] {
        guard let code = ActivationCode(random: [UInt8](200..<219)) else { return [] }
        return [code.text, code.text.filter { $0 != UInt8(ascii: "-") }, bytes("oOiIlL - 0")]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let code = try? ActivationCode(typed: bytes) else { return }
        require((try? ActivationCode(typed: code.text)) == code, "a code reads as another")
        require(code.text.count == 23, "a code has another length")
    }
}
