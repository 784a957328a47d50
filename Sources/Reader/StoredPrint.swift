import CFprint
import Loop
import Wire

/// A print in a reader's own storage; another system may have put it there.
package struct StoredPrint: Sendable {
    /// The finger, where the reader knows it.
    package let finger: Finger?
    /// The account it was enrolled for, where the reader knows it.
    package let account: String?
    /// What tells this print from others; that of the template it was enrolled as is equal.
    package let identity: PrintIdentity
    /// All that the reader's driver tells of it: the identity, finger, account, description, date.
    /// The same as long as the print is; another version of the driver may tell more.
    package let bytes: [UInt8]

    let print: Print

    /// Describes one that was listed. Not by `fp_print_serialize`: that ends the process where the
    /// reader keeps text that is not UTF-8, and another system may have put it there.
    @ReaderActor
    init(_ print: Print) throws(ReaderFault) {
        self.print = print
        identity = try print.identity()
        let code = unsafe fp_print_get_finger(print.pointer).rawValue
        finger = UInt8(exactly: code).flatMap { Finger(rawValue: $0) }
        let name = unsafe text(fp_print_get_username(print.pointer))
        account = name.map { String(decoding: $0, as: UTF8.self) }
        var fields = PrintFields()
        fields.append(identity.bytes)
        fields.append(UInt64(code))
        fields.append(name)
        fields.append(unsafe text(fp_print_get_description(print.pointer)))
        fields.append(print.julianDay)
        bytes = fields.bytes
    }

    /// Whether this is the print that the template names (as `fp_print_equal` says).
    package func isSame(as template: Template) -> Bool {
        identity == template.identity
    }
}

/// The prints in a reader's own storage at one moment.
package struct ReaderContents: Sendable {
    /// Whose storage it is.
    package let reader: ReaderIdentity
    /// The prints, whoever enrolled them, in an order that does not depend on the reader's.
    package let prints: [StoredPrint]

    init(_ prints: [StoredPrint], of reader: ReaderIdentity) {
        self.reader = reader
        self.prints = prints.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}

extension Print {
    /// One without data, which no template is equal to, has an identity too: it must be seen.
    /// Throws `notSupported` where the library does not show what it compares prints by.
    @ReaderActor
    fileprivate func identity() throws(ReaderFault) -> PrintIdentity {
        let object = unsafe gpointer(pointer)
        let kind = unsafe property("fpi-type", of: object) { unsafe g_value_get_enum($0) }
        let found = unsafe property("fpi-data", of: object) { value in
            unsafe g_value_get_variant(value).flatMap { unsafe Variant(normalising: $0) }
        }
        guard let kind, let data = found, let driver = unsafe fp_print_get_driver(pointer),
            let deviceID = unsafe fp_print_get_device_id(pointer)
        else { throw .notSupported }
        return unsafe PrintIdentity(
            kind: kind, driver: String(cString: driver), deviceID: String(cString: deviceID),
            type: data?.type ?? "", data: data?.bytes ?? [])
    }

    /// The day of the enrolment, counted from the year 1; 0 where the reader knows none.
    @ReaderActor
    fileprivate var julianDay: UInt64 {
        guard let date = unsafe fp_print_get_enroll_date(pointer),
            unsafe g_date_valid(date) != 0
        else { return 0 }
        return UInt64(unsafe g_date_get_julian(date))
    }
}

/// The bytes of a text of the library's, which need not be UTF-8.
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
