// SPDX-License-Identifier: Apache-2.0
import CGLib

/// A counted reference to a GVariant in normal form, in which each value has exactly one encoding.
///
/// It exists only for bytes that have been checked against a type; accessors return nil for a value
/// of another type or an index out of range.
// SAFETY: one counted reference, taken in `init` and dropped in `deinit`; a GVariant never changes.
@safe final class Variant {
    private let pointer: OpaquePointer

    private init(owned: OpaquePointer) {
        unsafe pointer = unsafe owned
    }

    /// Parses little-endian bytes; nil unless they are a value of this type in normal form.
    convenience init?(littleEndian bytes: ArraySlice<UInt8>, type: String) {
        guard let kind = unsafe g_variant_type_new(type) else { return nil }
        defer { unsafe g_variant_type_free(kind) }
        let copy = unsafe bytes.withUnsafeBytes {
            unsafe g_bytes_new($0.baseAddress, gsize($0.count))
        }
        defer { unsafe g_bytes_unref(copy) }
        guard let value = unsafe g_variant_new_from_bytes(kind, copy, 0) else { return nil }
        unsafe g_variant_ref_sink(value)
        unsafe self.init(owned: value)
        guard unsafe g_variant_is_normal_form(value) != 0 else { return nil }
    }

    deinit {
        unsafe g_variant_unref(pointer)
    }

    var count: Int {
        unsafe g_variant_is_container(pointer) != 0 ? Int(g_variant_n_children(pointer)) : 0
    }

    subscript(index: Int) -> Variant? {
        guard index < count,
            let child = unsafe g_variant_get_child_value(pointer, gsize(index))
        else { return nil }
        return unsafe Variant(owned: child)
    }

    /// The type as a GVariant type string.
    var type: String { unsafe String(cString: g_variant_get_type_string(pointer)) }

    /// The encoding in the byte order of the machine.
    var bytes: [UInt8] {
        let count = Int(unsafe g_variant_get_size(pointer))
        guard count > 0, let start = unsafe g_variant_get_data(pointer) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func hasType(_ type: String) -> Bool { self.type == type }

    var int32: Int32? { hasType("i") ? unsafe g_variant_get_int32(pointer) : nil }
    var byte: UInt8? { hasType("y") ? unsafe g_variant_get_byte(pointer) : nil }
    var boolean: Bool? { hasType("b") ? unsafe g_variant_get_boolean(pointer) != 0 : nil }

    var string: String? {
        guard hasType("s"), let text = unsafe g_variant_get_string(pointer, nil) else { return nil }
        return unsafe String(cString: text)
    }

    var variant: Variant? {
        guard hasType("v"), let inner = unsafe g_variant_get_variant(pointer) else { return nil }
        return unsafe Variant(owned: inner)
    }
}
