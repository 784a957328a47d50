// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// What the build writes of a frame, from its properties: Plugins/messages.awk.
@Suite("Plugins/messages.awk")
struct MessagesTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Fields with the tags 1 to 4, in another order than that of their names.
    private static let fields = """
        extension Field {
            package static var one: Field { Field(1, size: 4) }
            package static var two: Field { Field(2, size: 4) }
            package static var three: Field {
                Field(3, size: 0...9)
            }
            package static var four: Field { Field(4, size: 1) }
        }

        """

    /// Writes the coding of what these sources declare.
    private func written(
        _ source: String, what: String = "roots=Frame"
    ) throws -> (text: String, errors: String) {
        try scratch.write("0.swift", Array((Self.fields + source + "\n").utf8), mode: 0o644)
        let outcome = try Program(
            Command([
                "awk", "-f", "\(Layout.package)/Plugins/messages.awk", "-v", "output=/dev/stdout",
                "-v", what, scratch.at("0.swift"),
            ])
        ).expectEnd()
        return (outcome.succeeded ? outcome.output : "", outcome.errors)
    }

    /// The lines of a text without their indentation.
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0.drop { $0 == " " }) }
    }

    @Test("writes and reads the fields in the order of their tags, and takes them in their own")
    func order() throws {
        let text = try written(
            """
            package struct Call: Frame {
                package static let verb = Verb(7, name: "call")
                /// Words.
                package var text: Bytes = []  // .three
                package let one: UInt32
                package var isShort: Bool { text.isEmpty }
            }
            """
        ).text
        #expect(
            lines(text) == [
                "// Written by Plugins/Listing; not a source.", "extension Call {",
                "package init(text: Bytes = [], one: UInt32, _: Void = ()) {",
                "self.text = text", "self.one = one", "}",
                "package func put(into frame: inout FrameWriter) throws(WireFault) {",
                "try frame.put(.one, value: one)", "try frame.put(.three, value: text)", "}",
                "package init(from frame: inout FrameReader) throws(WireFault) {",
                "one = try frame.value(.one)", "text = try frame.value(.three)", "}", "}",
                "extension Request {",
                "package static func call(text: Bytes = [], one: UInt32) -> Request "
                    + "{ Request(Call(text: text, one: one)) }", "}",
            ])
    }

    @Test("leaves out what is nil, and a flag that is not set unless it is stated")
    func absent() throws {
        let text = try lines(
            written(
                """
                package struct Call: Frame {
                    package var one: UInt32?
                    package var two: Bool
                    package var three: Bool?
                    package var isLast: Bool  // .four stated
                }
                """
            ).text)
        for line in [
            "if let value = one { try frame.put(.one, value: value) }",
            "try frame.put(.two, ifSet: two)", "try frame.put(.three, flagIfPresent: three)",
            "try frame.put(.four, flagIfPresent: isLast)", "one = try frame.valueIfPresent(.one)",
            "two = try frame.isSet(.two)", "three = try frame.flagIfPresent(.three)",
            "isLast = try frame.flag(.four)",
        ] { #expect(text.contains(line), "\(line)") }
    }

    @Test("puts the fields of a frame within a frame among the others, each at its tag")
    func groups() throws {
        let text = try lines(
            written(
                """
                package struct Part: Frame {
                    package var one: UInt32
                    package var four: UInt8

                    func check() throws(WireFault) {
                    }
                }
                package struct Whole: Frame {
                    package var part: Part
                    package var two: UInt32
                }
                package struct Loose: Frame {
                    package var part: Part?
                }
                """
            ).text)
        let whole = try #require(text.firstIndex(of: "extension Whole {"))
        let loose = try #require(text.firstIndex(of: "extension Loose {"))
        #expect(
            text[whole..<loose].suffix(14) == [
                "package func put(into frame: inout FrameWriter) throws(WireFault) {",
                "try part.check()", "try frame.put(.one, value: part.one)",
                "try frame.put(.two, value: two)", "try frame.put(.four, value: part.four)", "}",
                "package init(from frame: inout FrameReader) throws(WireFault) {",
                "let part_one: UInt32 = try frame.value(.one)", "two = try frame.value(.two)",
                "let part_four: UInt8 = try frame.value(.four)",
                "part = Part(one: part_one, four: part_four)", "try part.check()", "}", "}",
            ])
        #expect(
            text[loose...].contains("if let part_one: UInt32 = try frame.valueIfPresent(.one) {"))
        #expect(text[loose...].contains("part = nil"))
    }

    @Test("calls what a frame checks, before it is written and after it is read")
    func checks() throws {
        let text = try lines(
            written(
                """
                package struct Call: Frame {
                    package var one: UInt32

                    func check() throws(WireFault) {
                        guard one < 3 else { throw .malformedValue }
                    }
                }
                """
            ).text)
        let places = text.indices.filter { text[$0] == "try check()" }
        #expect(places.map { text[$0 + 1] } == ["try frame.put(.one, value: one)", "}"])
    }

    @Test("does not write again what a frame declares itself")
    func declared() throws {
        let text = try written(
            """
            package struct Call: Frame {
                package var odd: UInt32

                package init(_ odd: UInt32) { self.odd = odd }

                package func put(into frame: inout FrameWriter) throws(WireFault) {
                }

                package init(from frame: inout FrameReader) throws(WireFault) {
                }
            }
            package struct Other: Frame {
                package static let verb = Verb(7, name: "other")
            }
            extension Request {
                package static let other = Request(Other())
            }
            struct NoFrame: Sendable {
                var odd: Int
            }
            """
        ).text
        #expect(!text.contains("extension Call"))
        #expect(!text.contains("NoFrame"))
        #expect(!text.contains("static var other"))
        #expect(text.contains("extension Other {\n    package init(_: Void = ()) {\n    }\n"))
    }

    @Test("writes initialisers of what other targets make, where nothing else is wanted")
    func initialisers() throws {
        let text = try written(
            """
            package struct Shared: Codable {
                package let name: String
            }
            package struct Made {
                package let name: String

                package init?(_ name: String) { return nil }
            }
            package struct Empty {
            }
            struct Own {
                let name: String
            }
            """, what: "initialisers=1"
        ).text
        #expect(
            lines(text) == [
                "// Written by Plugins/Listing; not a source.", "extension Shared {",
                "package init(name: String, _: Void = ()) {", "self.name = name", "}", "}",
            ])
    }

    @Test("knows a frame by a protocol that refines another one")
    func refined() throws {
        let text = try written(
            "package protocol Kind: Frame {\n}\npackage struct Call: Equatable,\n    Kind\n{\n}"
        ).text
        #expect(text.contains("extension Call {"))
    }

    @Test(
        "fails for what it cannot write",
        arguments: [
            ("    package var odd: UInt32", "Call: odd: there is no field 'odd'"),
            ("    package var one: UInt32  // .odd", "Call: one: there is no field 'odd'"),
            ("    package var one = UInt32(1)", "Call: one: its type must be stated"),
            ("    package var one: Bool  // stated", "'stated' stands behind the name of a field"),
            ("    package var a: Part?\n    package var three: Bytes", "fields lie between"),
            ("    package var a: Loose?", "it does not show whether Loose is there"),
            ("    package var a: Nested", "a group within a group is not supported"),
            ("    package var a: Special", "Special has a coding of its own"),
            ("    package var one: UInt32  // .two stated", "only a Bool is 'stated'"),
            ("    package var one: UInt32\n    let two: UInt32  // .one", "another property"),
            ("    package private(set) var one: UInt32 = 1", "this cannot stand in a frame"),
            ("    @Odd package var one: UInt32", "this cannot stand in a frame"),
            ("    private var one: UInt32 = 1", "this cannot stand in a frame"),
            ("    package var one, two: UInt32", "this cannot stand in a frame"),
            ("    package var one: UInt32 = 1 { didSet {} }", "this cannot stand in a frame"),
            ("    package func check() throws(WireFault) {}", "this cannot stand in a frame"),
            ("    func check() {\n    }", "this cannot stand in a frame"),
            (
                "}\nextension Call {\n    func check() throws(WireFault) {\n    }",
                "check() belongs into the structure"
            ),
            (
                """
                    package init(_ one: UInt32) {}
                }
                extension Call {
                    func check() throws(WireFault) {
                    }
                """, "check() belongs into the structure"
            ),
        ])
    func refused(members: String, fault: String) throws {
        let outcome = try written(
            """
            package struct Part: Frame {
                package var two: UInt32
                package var four: UInt8
            }
            package struct Loose: Frame {
                package var one: UInt32?
            }
            package struct Nested: Frame {
                package var part: Part
            }
            package struct Special: Frame {
                package var one: UInt32

                package func put(into frame: inout FrameWriter) throws(WireFault) {
                }
            }
            package struct Call: Frame {
            \(members)
            }
            """)
        #expect(outcome.text.isEmpty && outcome.errors.contains(fault), "\(outcome)")
    }
}
