// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

extension ReaderPrint {
    /// Describes a print that the reader listed.
    ///
    /// This does not use `fp_print_serialize`, which ends the process if the reader stores text
    /// that is not UTF-8, and another operating system may have stored such text.
    ///
    /// - Throws: `notSupported` if libfprint does not reveal the data by which it compares prints.
    @ReaderActor
    init(_ print: Print) throws(ReaderFault) {
        let identity = try print.identity()
        let code = unsafe fp_print_get_finger(print.pointer).rawValue
        let finger = UInt8(exactly: code).flatMap { Finger(rawValue: $0) }
        let name = unsafe text(fp_print_get_username(print.pointer))
        let account = name.map { String(decoding: $0, as: UTF8.self) }
        var fields = PrintFields()
        fields.append(identity.bytes)
        fields.append(UInt64(code))
        fields.append(name)
        fields.append(unsafe text(fp_print_get_description(print.pointer)))
        fields.append(print.julianDay)
        self.init(finger: finger, account: account, identity: identity, bytes: fields.bytes)
    }
}

extension Print {
    /// The data by which libfprint compares prints, from its private properties `fpi-type` and
    /// `fpi-data`.
    ///
    /// A print without data matches no template, but it gets an identity too, so that it is not
    /// overlooked.
    ///
    /// - Throws: `notSupported` if this version of libfprint does not have the properties.
    @ReaderActor
    fileprivate func identity() throws(ReaderFault) -> PrintIdentity {
        let object = unsafe gpointer(pointer)
        let kind = unsafe property("fpi-type", of: object) { unsafe g_value_get_enum($0) }
        let found = unsafe property("fpi-data", of: object) { value in
            unsafe g_value_get_variant(value).flatMap { unsafe NormalForm(of: $0) }
        }
        guard let kind, let data = found, let driver = unsafe fp_print_get_driver(pointer),
            let deviceID = unsafe fp_print_get_device_id(pointer)
        else { throw .notSupported }
        return unsafe PrintIdentity(
            kind: kind, driver: String(cString: driver), deviceID: String(cString: deviceID),
            type: data?.type ?? "", data: data?.bytes ?? [])
    }

    /// The date of the enrolment as a Julian day of GDate, where day 1 is 1 January of year 1; 0 if
    /// unknown.
    @ReaderActor
    fileprivate var julianDay: UInt64 {
        guard let date = unsafe fp_print_get_enroll_date(pointer),
            unsafe g_date_valid(date) != 0
        else { return 0 }
        return UInt64(unsafe g_date_get_julian(date))
    }
}

/// A GVariant's type and its normal form, in the machine's byte order.
private struct NormalForm {
    let type: String
    let bytes: [UInt8]

    /// Reads a value that libfprint continues to own.
    init?(of value: OpaquePointer) {
        guard let normal = unsafe g_variant_get_normal_form(value) else { return nil }
        defer { unsafe g_variant_unref(normal) }
        unsafe type = String(cString: g_variant_get_type_string(normal))
        let count = Int(unsafe g_variant_get_size(normal))
        if count > 0, let start = unsafe g_variant_get_data(normal) {
            bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
        } else {
            bytes = []
        }
    }
}

/// Copies a NUL-terminated string owned by libfprint, which may not be UTF-8.
private func text(_ start: UnsafePointer<CChar>?) -> [UInt8]? {
    guard let start = unsafe start else { return nil }
    var bytes: [UInt8] = []
    var next = unsafe start
    while unsafe next.pointee != 0 {
        bytes.append(UInt8(bitPattern: unsafe next.pointee))
        unsafe next += 1
    }
    return bytes
}
