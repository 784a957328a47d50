// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// What the build lists, so that nobody has to: Plugins/listing.awk.
@Suite("Plugins/listing.awk")
struct ListingTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Lists the types of these sources that conform to Kind.
    private func listing(
        _ sources: String..., lists: String = "all=Kind"
    ) throws -> (text: String, errors: String) {
        var files: [String] = []
        for (index, source) in sources.enumerated() {
            try scratch.write("\(index).swift", Array(source.utf8), mode: 0o644)
            files.append(scratch.at("\(index).swift"))
        }
        let outcome = try Program(
            Command(
                [
                    "awk", "-f", "\(Layout.package)/Plugins/listing.awk", "-v",
                    "output=/dev/stdout", "-v", "lists=\(lists)", "-v", "modules=Domain",
                ] + files)
        ).expectEnd()
        return (outcome.succeeded ? outcome.output : "", outcome.errors)
    }

    @Test(
        "lists a type whatever its declaration looks like",
        arguments: [
            "struct One: Kind {", "package struct One: Equatable, Kind {}", "enum One: Kind {",
            "@Actor final class One: Kind {", "package struct One<T>: Kind where T: Sendable {",
            "struct One:\n    Equatable,\n    Kind\n{", "extension One: Kind {",
            "protocol Sort: Kind {\n}\nprotocol Odd: Sort {\n}\nstruct One: Odd {",
        ])
    func listed(source: String) throws {
        let text = try listing(source + "\n}\n").text
        #expect(text.contains("static let all: [any Kind.Type] = [\n        One.self,\n    ]"))
    }

    @Test("lists types by name, each once, with the modules of those that are extended")
    func ordered() throws {
        let text = try listing(
            "import Far\nextension Two: Kind {\n}\n", "struct One: Kind {\n}\n",
            "import Other\nextension One: Kind {}\nstruct Three: Kinder {}\n"
        ).text
        #expect(text.contains("[\n        One.self,\n        Two.self,\n    ]"))
        #expect(text.contains("import Domain\nimport Far\n"))
    }

    @Test("lists static members of a type with their names")
    func members() throws {
        let source = "extension Field {\n    package static var tag: Field { Field(1) }\n}\n"
        let text = try listing(source, lists: "fields=.Field").text
        #expect(text.contains("[(name: String, value: Field)] = [\n"))
        #expect(text.contains("\n        (\"tag\", .tag),\n    ]"))
    }

    @Test(
        "fails for a type that it cannot name, and for a list without any",
        arguments: [
            ("private struct One: Kind {}", "0.swift:1: error: One is private"),
            ("enum Two {\n    struct One: Kind {", "One is not declared at the top level"),
            ("// struct One: Kind {", "no type conforms to Kind"),
            ("struct One: Kinder {\n}\nstruct Kind {", "no type conforms to Kind"),
            ("protocol Sort: Kind {", "no type conforms to Kind"), ("", "no type conforms"),
        ])
    func refused(source: String, fault: String) throws {
        let outcome = try listing(source + "\n")
        #expect(outcome.text.isEmpty && outcome.errors.contains(fault))
    }
}
