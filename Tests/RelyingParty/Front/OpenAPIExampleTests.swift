// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import HTTPServer
import JSONFormat
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

/// Each example of the document is held to a real call: every call is made once, with success.
@Suite("The examples of docs/developer/openapi.yaml")
struct OpenAPIExampleTests {
    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument() }

    /// All calls of the two stories.
    private func exchanges() async throws -> [Exchange] {
        try await APIScenario.run() + AdministrationScenario.run()
    }

    @Test("have the members that real calls and answers have, and no call is without")
    func forms() async throws {
        let exchanges = try await exchanges()
        // Some examples stand in components that several calls share.
        var real: [String: JSONForm] = [:]
        var examples: [String: String] = [:]
        for route in Routes.all {
            let made = exchanges.filter { $0.isOf(route) && (200...204).contains($0.status) }
            let call = try #require(document.calls[route.call])
            #expect(!made.isEmpty, "no call of \(route.call)")
            for exchange in made {
                let response = call.responses[exchange.status] ?? []
                for (section, bytes, side) in [
                    (call.request, exchange.body, "request"),
                    (response, exchange.isAnsweredInJSON ? exchange.answer : [], "answer"),
                ] where !bytes.isEmpty {
                    let form = JSONForm(try JSON(parsing: bytes))
                    let place = document.component(of: section) ?? "\(side) of \(route.call)"
                    real[place] = real[place]?.joined(with: form) ?? form
                    examples[place] = document.example(in: section)
                }
            }
        }
        for (place, form) in real {
            let example = examples[place].flatMap { try? JSON(parsing: Array($0.utf8)) }
            #expect(example.map(JSONForm.init) == form, "\(place)")
        }
    }

    @Test("are whole: a server understands the body of each call")
    func understood() async throws {
        let server = try await TestServer.attesting(.sqlite)
        let scopes = Scope.allCases.map(\.rawValue).joined(separator: ",")
        let key = try await server.administer("key", "add", "shop", "all", "--scopes", scopes)[0]
        for (call, content) in document.calls where !content.request.isEmpty {
            let example = try #require(document.example(in: content.request), "\(call)")
            let body =
                try JSONSerialization.jsonObject(with: Data(example.utf8)) as? [String: Any]
            let words = call.split(separator: " ").map(String.init)
            let path = words[1].split(separator: "/").map { part in
                part.hasPrefix("{") ? Substring(String(repeating: "0", count: 32)) : part
            }
            let reply = try await server.send(
                words[0], "/" + path.joined(separator: "/"), body, key: key)
            #expect(
                reply.status != 400, "\(call): \(String(decoding: reply.bytes, as: UTF8.self))")
        }
    }

    @Test("stand beside the headers that the answers have, all of them")
    func headers() async throws {
        for exchange in try await exchanges() {
            guard let route = Routes.all.first(where: { exchange.isOf($0) }),
                let call = document.calls[route.call]
            else { continue }
            let section = call.responses[exchange.status] ?? call.responses[0] ?? []
            let documented = document.headers(in: section)
            // The content type is that of `content`.
            for header in exchange.headers where header.name != "Content-Type" {
                #expect(
                    documented.contains(header.name), "\(exchange.status) of \(route.call)")
            }
            if exchange.status < 300 {
                let sent = Set(exchange.headers.map(\.name))
                #expect(documented.isSubset(of: sent), "\(route.call)")
            }
        }
    }

    @Test("of problems have every header that a problem can have")
    func problems() {
        let all: [Problem] = [
            .refused, .unauthenticated, .apiKeyRefused, .scopeMissing(.verify),
            .slowDown(seconds: 1), .unavailable,
        ]
        let sent = Set(all.flatMap(\.headers.keys) + ["Cache-Control", "X-Request-Id"])
        let section = document.calls["POST /v1/login"]?.responses[0] ?? []
        #expect(document.headers(in: section) == sent)
    }
}

/// The members and types of a JSON value, without its contents.
private indirect enum JSONForm: Equatable {
    case object([String: JSONForm])
    /// The form of the elements; nil for an empty array.
    case array(JSONForm?)
    case text, number, truth, nothing

    init(_ value: JSON) {
        self =
            switch value {
            case .object(let members):
                .object(
                    Dictionary(
                        members.map { ($0.name, JSONForm($0.value)) },
                        uniquingKeysWith: { first, _ in first }))
            case .array(let elements):
                .array(
                    elements.map(JSONForm.init).reduce(nil) { $0?.joined(with: $1) ?? $1 })
            case .string: .text
            case .integer, .decimal: .number
            case .bool: .truth
            case .null: .nothing
            }
    }

    /// The form that has the members of both.
    func joined(with other: JSONForm) -> JSONForm {
        switch (self, other) {
        case (.object(let one), .object(let two)):
            .object(one.merging(two) { $0.joined(with: $1) })
        case (.array(let one), .array(let two)):
            .array(one.map { one in two.map { one.joined(with: $0) } ?? one } ?? two)
        case (.nothing, _): other
        default: self
        }
    }
}

extension Exchange {
    /// Whether the answer is JSON; the health checks' is a word.
    var isAnsweredInJSON: Bool {
        headers.contains { $0.name == "Content-Type" && $0.value.hasSuffix("json") }
    }

    /// Whether the call is one of a route.
    func isOf(_ route: Route) -> Bool {
        let (parts, wanted) = (path.split(separator: "/"), route.pattern.split(separator: "/"))
        return method == route.method && parts.count == wanted.count
            && zip(parts, wanted).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}
