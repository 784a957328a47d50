// SPDX-License-Identifier: Apache-2.0
import CGLib

@testable import DBus

/// The values of a message on the bus, as the library has taken them in: of any type, in its form. An
/// input is the type, a NUL, and the bytes of the values.
enum BusValues: Harness {
    static let name = "bus-values"
    static var seeds: [[UInt8]] {
        let deep = (0..<ValueCoding.depth).reduce(BusValue.byte(1)) { value, _ in .variant(value) }
        let bodies: [[BusValue]] = [
            [], [.boolean(true)], [.variant(.boolean(false))], [.handle(0)], [deep],
            [.string("org.freedesktop.login1"), .string(":1.2"), .string("")],
            [.objectPath("/org/freedesktop/login1"), .signature("a{sv}"), .double(.nan)],
            [.byte(1), .int16(-1), .uint16(1), .int32(-1), .uint32(1), .int64(-1), .uint64(1)],
            [
                .array(of: "{sv}", [.entry(.string("urgency"), .variant(.byte(1)))]),
                .array(of: "s", []), .structure([.array(of: "ay", [.array(of: "y", [])])]),
            ],
        ]
        return bodies.compactMap { values in
            ValueCoding.body(values).map { body in
                let data = unsafe data(of: body.pointer)
                return bytes(BusValue.structure(values).signature) + [0] + data
            }
        }
    }

    private static func data(of value: OpaquePointer) -> [UInt8] {
        let start = unsafe g_variant_get_data(value)
        return unsafe [UInt8](
            UnsafeRawBufferPointer(start: start, count: Int(g_variant_get_size(value))))
    }

    static func feed(_ input: [UInt8]) {
        guard let end = input.firstIndex(of: 0) else { return }
        let type = String(decoding: input[..<end], as: UTF8.self)
        guard type.utf8.elementsEqual(input[..<end]), type.hasPrefix("("),
            unsafe g_variant_type_string_is_valid(type) != 0,
            let kind = unsafe g_variant_type_new(type)
        else { return }
        defer { unsafe g_variant_type_free(kind) }
        guard unsafe g_variant_type_is_definite(kind) != 0 else { return }
        let rest = Array(input[(end + 1)...])
        let raw = unsafe g_bytes_new(rest, gsize(rest.count))
        defer { unsafe g_bytes_unref(raw) }
        guard let foreign = unsafe g_variant_new_from_bytes(kind, raw, 0) else { return }
        let sunk = unsafe MessageBody(floating: foreign)
        // As the library makes one of what comes: whatever is not in its type's form is not passed on.
        guard let normal = unsafe g_variant_get_normal_form(sunk.pointer) else { return }
        defer { unsafe g_variant_unref(normal) }
        unsafe check(normal, type)
    }

    private static func check(_ body: OpaquePointer, _ type: String) {
        let other = unsafe ValueCoding.values(of: body, type: type + "s")
        require(other == nil, "another type is taken")
        guard let values = unsafe ValueCoding.values(of: body, type: type) else { return }
        let whole = BusValue.structure(values)
        require(values.isEmpty || whole.signature == type, "values are of another type")
        // The bytes may differ from those that came, as a double's that is no number.
        guard let again = ValueCoding.body(values),
            let reread = unsafe ValueCoding.values(of: again.pointer, type: type),
            let third = ValueCoding.body(reread)
        else { fatalError("what was read cannot be written, or not be read again") }
        let isSame = unsafe data(of: third.pointer) == data(of: again.pointer)
        require(isSame, "what was written is read otherwise")
    }
}
