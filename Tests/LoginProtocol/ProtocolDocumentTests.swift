// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Foundation
import FrameSamples
import LoginProtocol
import TestSupport
import Testing

/// docs/developer/PROTOCOL.md, as far as tables and listings go.
private struct Document {
    private let lines: [Substring]

    init() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("docs/developer/PROTOCOL.md"), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines below a heading, up to the next one.
    private func section(_ heading: String) throws -> ArraySlice<Substring> {
        let start = try #require(lines.firstIndex { $0.drop { $0 == "#" } == " " + heading })
        let rest = lines[(start + 1)...]
        return rest.prefix { !$0.hasPrefix("#") }
    }

    /// Whether a line has this text.
    func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    /// The rows of a section that begin with a number and a name: the cells, trimmed.
    func rows(_ heading: String) throws -> [[String]] {
        try section(heading).compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| "), cells.count >= 3, Int(cells[0]) != nil else { return nil }
            return cells
        }
    }

    /// The bytes of the hexadecimal listing in a section.
    func listing(_ heading: String) throws -> Bytes {
        try section(heading).filter { $0.hasPrefix("00") }.flatMap { line in
            line.dropFirst(6).prefix(47).split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
    }
}

/// `number name` of each value, as a table must have them.
private func entries<Choice: CaseIterable & RawRepresentable>(
    _ type: Choice.Type
) -> [String] where Choice.RawValue == UInt8 {
    type.allCases.map { "\($0.rawValue) `\($0)`" }
}

/// The same of values whose names leave the process.
private func entries<Choice: CaseIterable & RawRepresentable & ProtocolNamed>(
    _ type: Choice.Type
) -> [String] where Choice.RawValue == UInt8 {
    type.allCases.map { "\($0.rawValue) `\($0.protocolName)`" }
}

/// The fields of a kind of frame as the document writes them: `[`name`]` if a sample goes without.
private func fieldList(kind: UInt8) -> String {
    let samples = sampleFrames.filter { $0.frame[1] == kind }
        .map { frame in Set(fields(of: frame.frame).map { $0[0] }) }
    let names = Field.allNamed.compactMap { name, field -> String? in
        guard samples.contains(where: { $0.contains(field.rawValue) }) else { return nil }
        return samples.allSatisfy { $0.contains(field.rawValue) } ? "`\(name)`" : "[`\(name)`]"
    }
    return names.isEmpty ? "none" : names.joined(separator: " ")
}

@Suite("docs/developer/PROTOCOL.md")
struct ProtocolDocumentTests {
    private let document: Document

    init() throws {
        document = try Document()
    }

    @Test("lists every field with its tag and size")
    func fieldTable() throws {
        let expected = Field.allNamed.map { name, field in
            let (least, most) = (field.size.lowerBound, field.size.upperBound)
            return "\(field.rawValue) `\(name)` \(least == most ? "\(least)" : "\(least)–\(most)")"
        }
        #expect(try document.rows("Fields").map { $0.prefix(3).joined(separator: " ") } == expected)
    }

    @Test("gives the range of verbs and of answers, which have no number in common")
    func kinds() throws {
        let verbs = Verb.allCases.map(\.rawValue)
        let answers = AnswerKind.allCases.map(\.rawValue)
        let least = try #require(verbs.min())
        let most = try #require(verbs.max())
        #expect(try Document().has("[verb](#requests) (\(least) to \(most)) from client"))
        let first = try #require(answers.min())
        let last = try #require(answers.max())
        #expect(try Document().has("[answer](#answers) (\(first) to \(last)) from daemon"))
        #expect(Set(verbs).isDisjoint(with: answers))
    }

    @Test("lists every verb twice: what it is, and its fields")
    func verbs() throws {
        let rows = try document.rows("Requests")
        #expect(rows.filter { $0.count > 3 }.map { "\($0[0]) \($0[1])" } == entries(Verb.self))
        let expected = Verb.allCases.map {
            ["\($0.rawValue)", "`\($0.protocolName)`", fieldList(kind: $0.rawValue)]
        }
        #expect(rows.filter { $0.count == 3 } == expected)
    }

    @Test("says which callers may make each request, with which proof, and whether it begins one")
    func rules() throws {
        let expected = Verb.allCases.compactMap { Request.type(kind: $0.rawValue) }.map {
            request -> [String] in
            let caller =
                switch request.rule.callers {
                case .root: "root"
                case .rootOrAccount: "account"
                case .account: "the account itself"
                case .anyone: "anyone"
                case .desktopInterface: "signet-fprint"
                }
            let proof = request.rule.proof == .password ? "password" : "none"
            return [caller, proof, request.rule.beginsRequest ? "yes" : "no"]
        }
        let rows = try document.rows("Requests").filter { $0.count > 3 }
        #expect(rows.map { Array($0[2...4]) } == expected)
    }

    @Test("lists every answer twice: what it is, and its fields")
    func answers() throws {
        let rows = try document.rows("Answers")
        let half = rows.prefix(rows.count / 2)
        #expect(half.map { "\($0[0]) \($0[1])" } == entries(AnswerKind.self))
        let expected = AnswerKind.allCases.map {
            ["\($0.rawValue)", "`\($0.protocolName)`", fieldList(kind: $0.rawValue)]
        }
        #expect(rows.dropFirst(rows.count / 2).map { $0 } == expected)
    }

    @Test(
        "lists every number of every enumeration",
        arguments: [
            ("Reasons of a denial", entries(DenialReason.self)),
            ("Causes of an invalidation", entries(InvalidationCause.self)),
            ("Notices", entries(NoticeKind.self)),
            ("Where a request comes from", entries(TerminalPosition.self)),
            ("Requests from the background", entries(BackgroundPolicy.self)),
            ("Where a token goes", entries(TokenDelivery.self)),
            ("Kinds of scan", entries(ScanType.self)),
            ("Why a scan is repeated", entries(RetryReason.self)),
            ("States of a credential", entries(CredentialState.self)),
            ("States of the keyring", entries(KeyringState.self)),
            ("States of the lockout", entries(LockState.self)),
            ("Fingers", entries(Finger.self)),
            ("Outcomes of an import", entries(ImportOutcome.self)),
            ("States of a key for a server", entries(ServerKeyState.self)),
            ("What a touch signs", entries(SigningUse.self)),
            ("States of a registration", entries(RegistrationProgress.self)),
            ("Decisions", entries(OperationChoice.self)),
            ("States of an operation", entries(OperationState.self)),
            ("What is done with stored prints", entries(StorageAction.self)),
        ])
    func enumerations(heading: String, expected: [String]) throws {
        #expect(try document.rows(heading).map { "\($0[0]) \($0[1])" } == expected)
    }

    @Test("gives the names that people write for fingers")
    func fingerNames() throws {
        let names = Finger.allCases.map { "\($0.name)" }
        #expect(try document.rows("Fingers").map { $0[2] } == names)
    }

    @Test("lists the bits of a reader's features")
    func features() throws {
        let expected: [(String, ReaderFeatures)] = [
            ("identify", .identify), ("storage", .storage), ("storageList", .storageList),
            ("update", .update), ("hostMatching", .hostMatching),
        ]
        #expect(
            try document.rows("Features of a reader").map { "\($0[0]) \($0[1])" }
                == expected.map { "\($0.1.rawValue) `\($0.0)`" })
    }

    @Test("shows a frame that is what it says")
    func example() throws {
        let request = AuthenticateRequest(
            account: "alice", challenge: .sample(0..<32), service: "sudo",
            terminal: Bytes("/dev/pts/3".utf8), purpose: Bytes("sudo apt upgrade".utf8),
            timeoutMilliseconds: 30_000, maximumTries: 3)
        let listing = try document.listing("Example")
        #expect(listing.count == 109)
        #expect(try Request(decoding: listing) == .authenticate(request))
    }
}
