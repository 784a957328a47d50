// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// docs/developer/openapi.yaml, as far as tests need it.
///
/// It is read by its indentation: paths stand at two spaces, methods at four, and the parts of a
/// call at six.
struct OpenAPIDocument {
    /// One call.
    struct Call {
        /// The lines of `requestBody`.
        var request: [Substring] = []
        /// The lines of each response by its status; 0 for `default`.
        var responses: [Int: [Substring]] = [:]
    }

    /// The calls by `METHOD path`.
    private(set) var calls: [String: Call] = [:]
    /// The lines of each component by its path, as `responses/Problem`.
    private var components: [String: [Substring]] = [:]

    init() throws {
        let path = "\(Layout.package)/docs/developer/openapi.yaml"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        var (place, call, part, status) = (Substring(), "", Substring(), 0)
        var (kind, name) = (Substring(), Substring())
        for line in lines {
            let indent = line.prefix { $0 == " " }.count
            let key = line.dropFirst(indent).prefix { $0 != ":" }
            switch indent {
            case 0: (place, kind) = ("", "")
            case 2:
                (place, call, part) = (key.hasPrefix("/") ? key : "", "", "")
                kind = key
            case 4:
                (call, part) = (place.isEmpty ? "" : "\(key.uppercased()) \(place)", "")
                name = key
            case 6: (part, status) = (key, -1)
            case 8 where part == "responses":
                status = Int(key.trimmingCharacters(in: ["'"])) ?? 0
            default: break
            }
            if !call.isEmpty, part == "requestBody" {
                calls[call, default: Call()].request.append(line)
            } else if !call.isEmpty, part == "responses", status >= 0 {
                calls[call, default: Call()].responses[status, default: []].append(line)
            } else if !call.isEmpty, calls[call] == nil {
                calls[call] = Call()
            }
            if place.isEmpty, !kind.isEmpty {
                components["\(kind)/\(name)", default: []].append(line)
            }
        }
    }

    /// The JSON of the example in a request or response, or in the component that it refers to.
    func example(in section: [Substring]) -> String? {
        for line in resolved(section) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("example: ") { return String(text.dropFirst("example: ".count)) }
        }
        return nil
    }

    /// The names of the headers of a response, or of the component that it refers to.
    func headers(in section: [Substring]) -> Set<String> {
        let lines = resolved(section)
        guard
            let start = lines.firstIndex(where: { $0.drop { $0 == " " }.hasPrefix("headers:") })
        else { return [] }
        let depth = lines[start].prefix { $0 == " " }.count
        let names = lines[(start + 1)...].prefix { $0.prefix { $0 == " " }.count > depth }
            .filter { $0.prefix { $0 == " " }.count == depth + 2 }
        return Set(names.map { String($0.drop { $0 == " " }.prefix { $0 != ":" }) })
    }

    /// The component that a request or response consists of, as `responses/Problem`; nil for one
    /// that stands in the call.
    func component(of section: [Substring]) -> String? {
        guard let first = section.first, let start = first.range(of: "#/components/"),
            let end = first[start.upperBound...].firstIndex(of: "'")
        else { return nil }
        return String(first[start.upperBound..<end])
    }

    /// The lines of a section, or those of the component that it consists of.
    private func resolved(_ section: [Substring]) -> [Substring] {
        guard let name = component(of: section) else { return section }
        return components[name] ?? []
    }
}
