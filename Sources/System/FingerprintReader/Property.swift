// SPDX-License-Identifier: Apache-2.0
import CFprint
import MainContext

/// Reads a property of a GObject by name; nil if the object has no such readable property.
///
/// It is for private properties of libfprint, which another version may lack. The property is
/// looked up first, because reading an unknown one logs a warning and does not fail.
@ReaderActor
func property<Value>(
    _ name: String, of object: gpointer, _ read: (UnsafePointer<GValue>) -> Value
) -> Value? {
    let instance = unsafe object.assumingMemoryBound(to: GTypeInstance.self)
    guard let type = unsafe instance.pointee.g_class else { return nil }
    let description = unsafe UnsafeMutableRawPointer(type)
        .assumingMemoryBound(to: GObjectClass.self)
    guard let found = unsafe g_object_class_find_property(description, name),
        unsafe found.pointee.flags.rawValue & G_PARAM_READABLE.rawValue != 0
    else { return nil }
    var value = GValue()
    unsafe g_value_init(&value, found.pointee.value_type)
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(
        object.assumingMemoryBound(to: GObject.self), name, &value)
    return unsafe read(&value)
}
