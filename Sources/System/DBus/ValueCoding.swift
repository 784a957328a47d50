// SPDX-License-Identifier: Apache-2.0
import CGLib

/// Converts between `BusValue` and GVariant.
///
/// Received values that are too large, too many or too deeply nested are rejected before anything
/// is created from them. GLib has already checked that a received value fits its type, and that
/// texts are UTF-8.
enum ValueCoding {
    /// The maximum size of a received message's values in bytes; no service in use here sends more.
    static let cap = 65_536
    /// The maximum number of values in one received message.
    static let count = 4_096
    /// The deepest nesting of values.
    static let depth = 16

    /// Converts a message body that was created here.
    static func values(of body: MessageBody, type: String) -> [BusValue]? {
        unsafe values(of: body.pointer, type: type)
    }

    /// Converts a received message body; nil if it exceeds a limit or does not have exactly this
    /// type.
    static func values(of body: OpaquePointer, type: String) -> [BusValue]? {
        guard unsafe String(cString: g_variant_get_type_string(body)) == type,
            unsafe g_variant_get_size(body) <= cap
        else { return nil }
        var left = count
        guard case .structure(let members) = unsafe value(body, depth: 0, left: &left) else {
            return nil
        }
        return members
    }

    /// Creates a message body; nil if a value cannot be represented on the bus or is nested too
    /// deeply.
    static func body(_ values: [BusValue]) -> MessageBody? {
        unsafe variant(.structure(values), depth: 0).map { unsafe MessageBody(floating: $0) }
    }

    /// Creates a single value, as properties have it; nil as for `body`.
    static func single(_ value: BusValue) -> MessageBody? {
        unsafe variant(value, depth: 0).map { unsafe MessageBody(floating: $0) }
    }

    // MARK: From the library

    private static func value(
        _ pointer: OpaquePointer, depth: Int, left: inout Int
    ) -> BusValue? {
        left -= 1
        guard left >= 0, depth <= Self.depth else { return nil }
        switch unsafe g_variant_classify(pointer) {
        case G_VARIANT_CLASS_BOOLEAN: return .boolean(unsafe g_variant_get_boolean(pointer) != 0)
        case G_VARIANT_CLASS_BYTE: return .byte(unsafe g_variant_get_byte(pointer))
        case G_VARIANT_CLASS_INT16: return .int16(unsafe g_variant_get_int16(pointer))
        case G_VARIANT_CLASS_UINT16: return .uint16(unsafe g_variant_get_uint16(pointer))
        case G_VARIANT_CLASS_INT32: return .int32(unsafe g_variant_get_int32(pointer))
        case G_VARIANT_CLASS_UINT32: return .uint32(unsafe g_variant_get_uint32(pointer))
        case G_VARIANT_CLASS_INT64: return .int64(Int64(unsafe g_variant_get_int64(pointer)))
        case G_VARIANT_CLASS_UINT64: return .uint64(UInt64(unsafe g_variant_get_uint64(pointer)))
        case G_VARIANT_CLASS_DOUBLE: return .double(unsafe g_variant_get_double(pointer))
        case G_VARIANT_CLASS_HANDLE: return .handle(unsafe g_variant_get_handle(pointer))
        case G_VARIANT_CLASS_STRING: return unsafe text(pointer).map(BusValue.string)
        case G_VARIANT_CLASS_OBJECT_PATH: return unsafe text(pointer).map(BusValue.objectPath)
        case G_VARIANT_CLASS_SIGNATURE: return unsafe text(pointer).map(BusValue.signature)
        default: return unsafe container(pointer, depth: depth, left: &left)
        }
    }

    private static func container(
        _ pointer: OpaquePointer, depth: Int, left: inout Int
    ) -> BusValue? {
        guard unsafe g_variant_is_container(pointer) != 0 else { return nil }
        let total = unsafe g_variant_n_children(pointer)
        guard total <= count else { return nil }
        var members: [BusValue] = []
        for index in 0..<total {
            guard let child = unsafe g_variant_get_child_value(pointer, index) else { return nil }
            defer { unsafe g_variant_unref(child) }
            guard let member = unsafe value(child, depth: depth + 1, left: &left) else {
                return nil
            }
            members.append(member)
        }
        switch unsafe g_variant_classify(pointer) {
        case G_VARIANT_CLASS_VARIANT: return members.first.map(BusValue.variant)
        case G_VARIANT_CLASS_TUPLE: return .structure(members)
        case G_VARIANT_CLASS_DICT_ENTRY:
            return members.count == 2 ? .entry(members[0], members[1]) : nil
        case G_VARIANT_CLASS_ARRAY:
            let type = unsafe String(cString: g_variant_get_type_string(pointer))
            return .array(of: String(type.dropFirst()), members)
        default: return nil
        }
    }

    private static func text(_ pointer: OpaquePointer) -> String? {
        unsafe g_variant_get_string(pointer, nil).map { unsafe String(cString: $0) }
    }

    // MARK: To the library

    private static func variant(_ value: BusValue, depth: Int) -> OpaquePointer? {
        guard depth <= Self.depth else { return nil }
        switch value {
        case .boolean(let value): return unsafe g_variant_new_boolean(value ? 1 : 0)
        case .byte(let value): return unsafe g_variant_new_byte(value)
        case .int16(let value): return unsafe g_variant_new_int16(value)
        case .uint16(let value): return unsafe g_variant_new_uint16(value)
        case .int32(let value): return unsafe g_variant_new_int32(value)
        case .uint32(let value): return unsafe g_variant_new_uint32(value)
        case .int64(let value): return unsafe g_variant_new_int64(gint64(value))
        case .uint64(let value): return unsafe g_variant_new_uint64(guint64(value))
        case .double(let value): return unsafe g_variant_new_double(value)
        case .handle(let value): return unsafe g_variant_new_handle(value)
        case .string(let value):
            return value.utf8.contains(0) ? nil : unsafe g_variant_new_string(value)
        case .objectPath(let value):
            guard unsafe g_variant_is_object_path(value) != 0 else { return nil }
            return unsafe g_variant_new_object_path(value)
        case .signature(let value):
            guard unsafe g_variant_is_signature(value) != 0 else { return nil }
            return unsafe g_variant_new_signature(value)
        case .variant, .array, .structure, .entry: return unsafe container(value, depth: depth)
        }
    }

    private static func container(_ value: BusValue, depth: Int) -> OpaquePointer? {
        switch value {
        case .variant(let inner):
            return unsafe variant(inner, depth: depth + 1).map { unsafe g_variant_new_variant($0) }
        case .array(let element, let members):
            guard members.allSatisfy({ $0.signature == element }),
                unsafe g_variant_type_string_is_valid("a" + element) != 0
            else { return nil }
            return unsafe made(of: "a" + element, members: members, depth: depth)
        case .structure(let members):
            return unsafe made(of: value.signature, members: members, depth: depth)
        case .entry(let key, let content):
            return unsafe made(of: value.signature, members: [key, content], depth: depth)
        default: return nil
        }
    }

    private static func made(
        of type: String, members: [BusValue], depth: Int
    ) -> OpaquePointer? {
        guard unsafe g_variant_type_string_is_valid(type) != 0,
            let kind = unsafe g_variant_type_new(type)
        else { return nil }
        defer { unsafe g_variant_type_free(kind) }
        guard let builder = unsafe g_variant_builder_new(kind) else { return nil }
        defer { unsafe g_variant_builder_unref(builder) }
        for member in members {
            guard let value = unsafe variant(member, depth: depth + 1) else { return nil }
            unsafe g_variant_builder_add_value(builder, value)
        }
        return unsafe g_variant_builder_end(builder)
    }
}

/// The body of a message to be sent.
// SAFETY: one counted reference, taken in `init` and dropped in `deinit`; a GVariant never changes.
@safe final class MessageBody {
    let pointer: OpaquePointer

    init(floating: OpaquePointer) {
        unsafe pointer = unsafe g_variant_ref_sink(floating)
    }

    deinit {
        unsafe g_variant_unref(pointer)
    }
}
