// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import RelyingParty

@Suite("docs/developer/openapi.yaml")
struct OpenAPITests {
    private static let methods: Set<Substring> = ["get", "post", "put", "delete", "patch"]

    /// Every `METHOD path` of the document: paths stand at two spaces, methods at four.
    private func documented() throws -> Set<String> {
        let path = "\(Layout.package)/docs/developer/openapi.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var calls: Set<String> = []
        var place: Substring?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("  /") {
                place = line.dropFirst(2).dropLast()
            } else if !line.hasPrefix("    ") {
                place = nil
            } else if let place, line.hasSuffix(":"), !line.hasPrefix("     ") {
                let method = line.dropFirst(4).dropLast()
                if Self.methods.contains(method) {
                    calls.insert("\(method.uppercased()) \(place)")
                }
            }
        }
        return calls
    }

    @Test("has every call that the server has, and no other")
    func calls() throws {
        let served = Set(Routes.all.map { "\($0.method) \($0.pattern)" })
        #expect(try documented() == served)
        #expect(!served.isEmpty)
    }

    @Test("has every code of a problem that docs/developer/SERVER.md has")
    func codes() throws {
        let schema = try String(
            contentsOfFile: "\(Layout.package)/docs/developer/openapi.yaml", encoding: .utf8)
        let manual = try String(
            contentsOfFile: "\(Layout.package)/docs/developer/SERVER.md", encoding: .utf8)
        let rows = manual.split(separator: "\n").filter {
            $0.hasPrefix("| 4") || $0.hasPrefix("| 5")
        }
        let codes = rows.flatMap { row in
            row.split(separator: "|")[1].split(separator: "`").enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        #expect(codes.count > 10)
        for code in codes { #expect(schema.contains("            - \(code)\n"), "\(code)") }
    }
}
