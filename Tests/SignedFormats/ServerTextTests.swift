// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("A text for a server")
struct ServerTextTests {
    @Test("is what a person can read, line by line", arguments: ServerText.all)
    func readable(kind: ServerText) {
        #expect(String(decoding: kind.text, as: UTF8.self) == kind.expected)
    }

    @Test("is read as it was written, also at its longest", arguments: ServerText.all)
    func roundTrip(kind: ServerText) throws {
        #expect(try kind.again(kind.text) == kind.text)
        #expect(kind.longest.count <= kind.maximumLength)
        #expect(try kind.again(kind.longest) == kind.longest)
    }

    @Test("stands in docs/developer/PROTOCOL.md", arguments: ServerText.all)
    func documented(kind: ServerText) throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appendingPathComponent("docs/developer/PROTOCOL.md"), encoding: .utf8)
        #expect(document.contains("```\n\(kind.expected)```"))
    }

    @Test("is one kind only: no other kind's reader takes it", arguments: ServerText.all)
    func kinds(kind: ServerText) {
        for other in ServerText.all where other.name != kind.name {
            #expect(throws: LineFault.self) { try other.again(kind.text) }
        }
        #expect(throws: LineFault.self) { try Statement(parsing: kind.text) }
        #expect(throws: LineFault.self) { try kind.again(sampleStatement.encoded()) }
    }

    @Test("hostile values cannot make lines of their own", arguments: hostileValues.indices)
    func hostile(index: Int) throws {
        let (value, written) = hostileValues[index]
        var operation = sampleOperation
        operation.data = value
        let text = operation.encoded()
        let lines = sampleOperation.encoded().filter { $0 == 10 }.count
        #expect(text.filter { $0 == 10 }.count == lines)
        #expect(String(decoding: text, as: UTF8.self).contains("\ndata: \(written)\ndecision: "))
        #expect(try OperationStatement(parsing: text) == operation)
        var login = sampleLogin
        login.head.account = ServerAccountName(value)
        login.purpose = value
        #expect(try LoginStatement(parsing: login.encoded()) == login)
    }

    @Test("values at their caps are accepted, one byte more is refused")
    func caps() throws {
        try caps(
            of: sampleLogin,
            [
                (\.head.audience.altered, 256), (\.head.account.altered, 256), (\.action, 32),
                (\.service.altered, 64),
                (\.terminal, 256), (\.purpose, 1_024), (\.claims.factor, 32),
            ])
        try caps(of: sampleRequest, [(\.request.method, 16), (\.request.resource, 1_024)], "A")
        try caps(of: sampleOperation, [(\.template, 64), (\.data, 4_096)])
        try caps(of: sampleMAC, [(\.audience.altered, 256), (\.request.resource, 1_024)])
        try caps(
            of: sampleVerdict,
            [(\.audience.altered, 256), (\.account.altered, 256), (\.local.altered, 256)])
    }

    private func caps<Text: CanonicalText>(
        of sample: Text, _ caps: [(WritableKeyPath<Text, [UInt8]>, Int)],
        _ filler: Character = "a"
    ) throws {
        for (value, cap) in caps {
            var text = sample
            text[keyPath: value] = bytes(String(repeating: filler, count: cap))
            #expect(try Text(parsing: text.encoded()) == text)
            text[keyPath: value].append(contentsOf: bytes(String(filler)))
            #expect(throws: LineFault.tooLong) { try Text(parsing: text.encoded()) }
        }
    }
}

@Suite("A text for a server that is refused")
struct ServerTextRefusalTests {
    @Test("cut short at every length", arguments: ServerText.all)
    func truncated(kind: ServerText) {
        for length in 0..<kind.text.count {
            #expect(throws: LineFault.truncated) { try kind.again(Array(kind.text[..<length])) }
        }
    }

    @Test("followed by anything", arguments: ServerText.all)
    func trailing(kind: ServerText) {
        for tail in [[10], [0], bytes("issued: 2026-11-20T17:24:00Z\n"), kind.text] {
            #expect(throws: LineFault.trailing) { try kind.again(kind.text + tail) }
        }
    }

    @Test("over the longest, whatever it holds", arguments: ServerText.all)
    func tooLong(kind: ServerText) {
        let long = [UInt8](repeating: 0x61, count: kind.maximumLength + 1)
        #expect(throws: LineFault.tooLong) { try kind.again(long) }
    }

    @Test("a line missing, twice, swapped, renamed, or in another form", arguments: ServerText.all)
    func lineOrder(kind: ServerText) {
        let lines = kind.text.split(separator: 10).map { [UInt8]($0) + [10] }
        for index in lines.indices {
            var missing = lines
            missing.remove(at: index)
            refuse(kind, missing)
            var twice = lines
            twice.insert(lines[index], at: index)
            refuse(kind, twice)
            for other in lines.indices where other != index {
                var swapped = lines
                swapped.swapAt(index, other)
                refuse(kind, swapped)
            }
            var renamed = lines
            renamed[index][0] ^= 0x20
            refuse(kind, renamed)
            var tight = lines
            if let space = tight[index].firstIndex(of: 0x20) { tight[index].remove(at: space) }
            refuse(kind, tight)
            var blank = lines
            blank.insert([10], at: index)
            refuse(kind, blank)
            var carriage = lines
            carriage[index].insert(13, at: carriage[index].count - 1)
            refuse(kind, carriage)
        }
        for version in ["0", "2", "01", ""] {
            refuse(kind, [bytes("\(kind.name): \(version)\n")] + lines.dropFirst())
        }
    }

    @Test("a value in another form", arguments: ServerText.all)
    func forms(kind: ServerText) throws {
        for (old, new) in kind.otherForms {
            let parts = kind.text.split(around: bytes(old))
            let (before, after) = try #require(parts, "\(old) is not in the sample")
            #expect(throws: LineFault.self, "\(new)") {
                try kind.again(before + bytes(new) + after)
            }
        }
    }

    @Test("altered, it is refused or exactly what it says", arguments: ServerText.all)
    func mutated(kind: ServerText) {
        var random = Seeded(seed: UInt64(kind.text.count))
        for _ in 0..<4_000 {
            var altered = kind.text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<altered.count, using: &random)
                altered[index] = UInt8.random(in: 0...255, using: &random)
            }
            if let again = try? kind.again(altered) { #expect(again == altered) }
        }
    }

    private func refuse(_ kind: ServerText, _ lines: [[UInt8]]) {
        #expect(throws: LineFault.self) { try kind.again(Array(lines.joined())) }
    }
}

extension [UInt8] {
    /// What stands before and after the first occurrence of a part.
    func split(around part: [UInt8]) -> ([UInt8], [UInt8])? {
        for start in 0...Swift.max(0, count - part.count)
        where self[start...].starts(with: part) {
            return ([UInt8](self[..<start]), [UInt8](self[(start + part.count)...]))
        }
        return nil
    }
}
