// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerAPI
import TestSupport
import Testing

@testable import RelyingParty

@Suite("docs/developer/openapi.yaml")
struct OpenAPITests {
    private static let methods: Set<Substring> = ["get", "post", "put", "delete", "patch"]

    /// Every `METHOD path` of the document, with the text of its call: paths stand at two spaces,
    /// methods at four.
    private func documented() throws -> [String: [Substring]] {
        let path = "\(Layout.package)/docs/developer/openapi.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var calls: [String: [Substring]] = [:]
        var place: Substring?
        var call: String?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("  /") {
                place = line.dropFirst(2).dropLast()
            } else if !line.hasPrefix("    ") {
                place = nil
            } else if let place, line.hasSuffix(":"), !line.hasPrefix("     ") {
                let method = line.dropFirst(4).dropLast()
                call = Self.methods.contains(method) ? "\(method.uppercased()) \(place)" : nil
                if let call { calls[call] = [] }
            } else if let call, place != nil {
                calls[call, default: []].append(line)
            }
        }
        return calls
    }

    @Test("has every call that the server has, and no other")
    func calls() throws {
        let served = Set(Routes.all.map(\.call))
        #expect(try Set(documented().keys) == served)
        #expect(!served.isEmpty)
    }

    @Test("has the scopes of each call of applications, and none of the others")
    func scopes() throws {
        let documented = try documented()
        for route in Routes.all {
            let line = documented[route.call]?.first { $0.contains("security: ") }
            let scopes: [Scope] =
                switch route.caller {
                case .application(let scope, let other): [scope] + (other.map { [$0] } ?? [])
                case .rememberedApplication(let scope): [scope]
                case .anybody, .device, .leavingDevice: []
                }
            let wanted = scopes.map { "apiKey: [\($0.rawValue)]" }.joined(separator: ", ")
            guard !scopes.isEmpty else {
                #expect(line?.contains("apiKey") != true, "\(route.call)")
                continue
            }
            #expect(line == "      security: [\(wanted)]", "\(route.call)")
        }
    }

    @Test("has every code of a problem that docs/developer/SERVER-INTEGRATE.md has")
    func codes() throws {
        let schema = try String(
            contentsOfFile: "\(Layout.package)/docs/developer/openapi.yaml", encoding: .utf8)
        let manual = try String(
            contentsOfFile: "\(Layout.package)/docs/developer/SERVER-INTEGRATE.md", encoding: .utf8)
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

    @Test("has a pattern for names that takes what the server takes, and nothing else")
    func names() throws {
        let schema = try String(
            contentsOfFile: "\(Layout.package)/docs/developer/openapi.yaml", encoding: .utf8)
        let component = try #require(schema.split(separator: "\n    Name:\n").last)
        let line = try #require(component.split(separator: "\n").first { $0.contains("pattern: ") })
        let quoted = line.split(separator: "'")
        try #require(quoted.count == 2)
        let pattern = try Regex(String(quoted[1])).matchingSemantics(.unicodeScalar)
        let scalars =
            (0...0x17F).compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{202E}", "\u{1F642}"]
        for scalar in scalars {
            for text in ["\(scalar)", "a\(scalar)b"] {
                let isDocumented = text.wholeMatch(of: pattern) != nil
                #expect(isDocumented == (Name(text) != nil), "U+\(String(scalar.value, radix: 16))")
            }
        }
    }
}
