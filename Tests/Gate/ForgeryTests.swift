// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import TestSupport
import Testing

/// No match, no signature: what goes round the gate does not compile.
@Suite("a key", .timeLimit(.minutes(5)))
struct ForgeryTests {
    /// Source that the compiler has to refuse, and the words in which it does.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: String
        let refusal: String
    }

    private static let prelude = """
        import Crypto
        import Gate
        import MainContext
        import Posix
        import Sealing
        import LoginProtocol

        let message: [UInt8] = []


        """

    static let forgeries = [
        Forgery(
            testDescription: "does not sign without a match",
            source: """
                func forge(_ key: any ReadyKey, _ context: SealingContext) throws -> P256Signature {
                    try key.sign(message, context: context)
                }
                """, refusal: "cannot convert value of type '[UInt8]' to expected argument type"),
        Forgery(
            testDescription: "does not sign by a permission that a caller made up",
            source: """
                func forge(_ key: any ReadyKey, _ context: SealingContext) throws -> P256Signature {
                    try key.sign(message, context: context, by: SigningPermission())
                }
                """,
            refusal: "'SigningPermission' initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "does not open data without a match",
            source: """
                func forge(_ data: any ReadyData, _ context: SealingContext) throws -> SecretBytes {
                    try data.open(context)
                }
                """, refusal: "missing argument for parameter 'for'"),
        Forgery(
            testDescription: "does not sign for a forged match",
            source: """
                func forge(_ presence: Presence) -> Match {
                    Match(account: 0, presence: presence, moment: .zero)
                }
                """, refusal: "'Match' initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "does not sign for a password that somebody says was accepted",
            source: """
                func forge(_ presence: Presence, _ clock: Clock) -> PasswordMatch {
                    PasswordMatch(account: 0, presence: presence, clock: clock)
                }
                """, refusal: "'PasswordMatch' initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "does not sign for a copy of a password's match",
            source: """
                func forge(_ proof: PasswordProof<Int>) -> PasswordMatch {
                    proof.match
                }
                """, refusal: "'proof.match' is borrowed and cannot be consumed"),
        Forgery(
            testDescription: "does not sign for a proof of a password that somebody made up",
            source: """
                func forge(
                    _ match: consuming PasswordMatch, _ attempt: any LockoutAttempt
                ) -> PasswordProof<Int> {
                    PasswordProof(match, verified: 0, attempt: attempt, suspensions: 0)
                }
                """, refusal: "initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "takes no password without evidence that somebody is there",
            source: """
                func forge<Judge: PasswordJudge>(
                    _ gate: PasswordGate<Judge>, _ query: Judge.Query, _ ledger: any LockoutLedger
                ) async throws(Denial) -> PasswordProof<Judge.Verified> {
                    try await gate.password(of: 0, query: query, counting: ledger)
                }
                """, refusal: "missing argument for parameter 'presence'"),
        Forgery(
            testDescription: "does not open data for a password",
            source: """
                func forge(
                    _ data: any ReadyData, _ context: SealingContext, _ proof: PasswordProof<Int>
                ) throws -> SecretBytes {
                    try data.open(context, for: proof.match)
                }
                """, refusal: "cannot convert value of type 'PasswordMatch'"),
        Forgery(
            testDescription: "takes no message of its choice for a registration",
            source: """
                func forge() -> RegistrationMessage {
                    RegistrationMessage(bytes: message)
                }
                """,
            refusal:
                "cannot convert value of type '[UInt8]' to expected argument type 'LoginStatement'"
        ),
        Forgery(
            testDescription: "does not sign for a copy of a match",
            source: """
                func forge(_ touch: Touch<Int>) -> Match {
                    touch.match
                }
                """, refusal: "'touch.match' is borrowed and cannot be consumed"),
        Forgery(
            testDescription: "does not sign for a forged touch",
            source: """
                func forge(_ match: consuming Match, _ attempt: any LockoutAttempt) -> Touch<Int> {
                    Touch(match, finger: 0, attempt: attempt, suspensions: 0)
                }
                """, refusal: "initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "is not asked for without evidence that the requester is present",
            source: """
                func forge<Scanner: FingerScanner>(
                    _ gate: TouchGate<Scanner>, _ request: TouchRequest<Scanner.Query>,
                    _ turn: borrowing Turn, _ ledger: any LockoutLedger
                ) async throws(Denial) -> Touch<Scanner.Found> {
                    try await gate.touch(
                        request, during: turn, counting: ledger, interruptedBy: Interruption()
                    ) { _ in }
                }
                """, refusal: "missing argument for parameter 'presence'"),
        Forgery(
            testDescription: "is not asked for without a turn at the readers",
            source: """
                func forge<Scanner: FingerScanner>(
                    _ gate: TouchGate<Scanner>, _ request: TouchRequest<Scanner.Query>,
                    _ presence: Presence, _ ledger: any LockoutLedger
                ) async throws(Denial) -> Touch<Scanner.Found> {
                    try await gate.touch(
                        request, presence: presence, counting: ledger,
                        interruptedBy: Interruption()
                    ) { _ in }
                }
                """, refusal: "missing argument for parameter 'during'"),
        Forgery(
            testDescription: "is not asked for in a forged turn",
            source: """
                func forge() -> Turn {
                    Turn(7) { _ in }
                }
                """, refusal: "'Turn' initializer is inaccessible due to 'internal'"),
        Forgery(
            testDescription: "is not sealed to other fingers without an authorised change",
            source: """
                func forge(
                    _ vault: any Vault, _ old: SealingContext, _ new: SealingContext
                ) throws -> [UInt8] {
                    try vault.reseal(key: message, from: old, to: new, by: ResealPermission())
                }
                """,
            refusal: "'ResealPermission' initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "is not sealed to other fingers for an authorisation that is made up",
            source: """
                func forge(_ clock: Clock) -> AuthorizedChange {
                    AuthorizedChange(account: 0, clock: clock)
                }
                """, refusal: "'AuthorizedChange' initializer is inaccessible due to 'fileprivate'"),
        Forgery(
            testDescription: "takes no message of its choice for a removal",
            source: """
                func forge() -> RemovalMessage {
                    RemovalMessage(bytes: message)
                }
                """,
            refusal:
                "cannot convert value of type '[UInt8]' to expected argument type 'LoginStatement'"
        ),
        Forgery(
            testDescription: "does not show what was opened to be sealed anew",
            source: """
                func forge(_ data: LiftedData) -> SecretBytes {
                    data.content
                }
                """, refusal: "'content' is inaccessible due to 'internal'"),
    ]

    @Test("is guarded by the compiler: it", arguments: forgeries)
    func refused(_ forgery: Forgery) throws {
        let outcome = try Self.compile(forgery.source)
        #expect(outcome.ending == .exited(1))
        #expect((outcome.output + outcome.errors).contains(forgery.refusal), "\(outcome.errors)")
    }

    @Test("signs where there is a password's match") func acceptedPassword() throws {
        let outcome = try Self.compile(
            """
            func sign(
                _ key: any ReadyKey, _ context: SealingContext, _ proof: PasswordProof<Int>
            ) throws -> P256Signature {
                try key.sign(message, context: context, for: proof.match)
            }
            """)
        #expect(outcome.ending == .exited(0), "\(outcome.errors)")
    }

    // Else the others might be refused for anything.
    @Test("signs where there is a match") func accepted() throws {
        let outcome = try Self.compile(
            """
            func sign(
                _ key: any ReadyKey, _ context: SealingContext, _ touch: Touch<Int>
            ) throws -> P256Signature {
                try key.sign(message, context: context, for: touch.match)
            }
            """)
        #expect(outcome.ending == .exited(0), "\(outcome.errors)")
    }

    /// Compiles a file as if it were one of this package's, and keeps nothing.
    private static func compile(_ source: String) throws -> Outcome {
        let scratch = try Scratch()
        try scratch.write("Forged.swift", prelude + source + "\n")
        let command =
            try [compiler()] + flags() + [
                "-module-name", "Forged", "-parse-as-library", "-emit-sil",
                scratch.at("Forged.swift"), "-o", scratch.at("Forged.sil"),
            ]
        return try Program(Command(command)).expectEnd(within: .seconds(120))
    }

    private static func compiler() throws -> String {
        let swift = unsafe getenv("SWIFT").map { unsafe String(cString: $0) }
        return swift.map { $0 + "c" } ?? "swiftc"
    }

    /// How this build compiled Sealing: where modules are, and which package it belongs to.
    private static func flags() throws -> [String] {
        let parts = Layout.products.split(separator: "/")
        let (build, kind) = (parts.dropLast(2).joined(separator: "/"), parts.last ?? "debug")
        let text = String(
            decoding: try Layout.read("/\(build)/\(kind).yaml"), as: UTF8.self)
        let line = text.split(separator: "\n").first {
            $0.contains(#""-module-name","Sealing""#) && $0.contains("args: [")
        }
        let words = try #require(line).split(separator: "\"").filter { $0 != "," }.map(String.init)
        var flags: [String] = []
        for (index, word) in words.enumerated() {
            let next = index + 1 < words.count ? words[index + 1] : ""
            switch word {
            case "-I", "-package-name", "-target", "-swift-version", "-enable-upcoming-feature":
                flags += [word, next]
            case "-Xcc" where next.hasPrefix("-fmodule-map-file"): flags += [word, next]
            case _ where word.hasPrefix("-I/"): flags.append(word)
            default: break
            }
        }
        return flags
    }
}
