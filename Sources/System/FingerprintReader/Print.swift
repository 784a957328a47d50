// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

/// A counted reference to an `FpPrint`, libfprint's form of a template.
///
/// SAFETY: the reference count is atomic, and the print is only read and written by the reader's
/// actor.
@safe final class Print: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owned: OpaquePointer) {
        unsafe pointer = unsafe owned
    }

    /// Deserialises a template (`fp_print_deserialize`), whose structure `TemplateForm` has
    /// checked.
    ///
    /// - Throws: `invalidTemplate` if libfprint rejects it.
    @ReaderActor
    init(_ template: Template) throws(ReaderFault) {
        var error: UnsafeMutablePointer<GError>?
        let print = unsafe template.bytes.withUnsafeBufferPointer {
            unsafe fp_print_deserialize($0.baseAddress, gsize($0.count), &error)
        }
        if let error = unsafe error { unsafe g_error_free(error) }
        guard let print = unsafe print else { throw .invalidTemplate }
        unsafe pointer = unsafe print
    }

    deinit {
        unsafe g_object_unref(gpointer(pointer))
    }

    /// Whether the print states the same driver, device id, finger and account as the template.
    @ReaderActor
    func says(_ template: Template) -> Bool {
        let account = unsafe fp_print_get_username(pointer).map { unsafe String(cString: $0) }
        return unsafe String(cString: fp_print_get_driver(pointer)) == template.driver
            && String(cString: fp_print_get_device_id(pointer)) == template.deviceID
            && fp_print_get_finger(pointer).rawValue == UInt32(template.finger.rawValue)
            && (account ?? "") == template.account
    }

    /// Serialises the print (`fp_print_serialize`).
    ///
    /// - Throws: libfprint's fault, or `invalidTemplate` if the result would not pass
    ///   `TemplateForm`.
    @ReaderActor
    func template() throws(ReaderFault) -> Template {
        var data: UnsafeMutablePointer<guchar>?
        var length: gsize = 0
        var error: UnsafeMutablePointer<GError>?
        let done = unsafe fp_print_serialize(pointer, &data, &length, &error) != 0
        defer { unsafe g_free(data) }
        if let error = unsafe error { throw unsafe ReaderFault(GioFault(taking: error)) }
        guard done, let data = unsafe data else { throw .invalidTemplate }
        let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: Int(length)))
        return try Template(bytes: bytes)
    }
}

extension Template {
    /// Whether libfprint can deserialise the bytes and reads the same fields from them.
    ///
    /// The fields are driver, device id, finger and account (`fp_print_deserialize`).
    @ReaderActor
    package var isReadable: Bool {
        guard let print = try? Print(self) else { return false }
        return print.says(self)
    }
}
