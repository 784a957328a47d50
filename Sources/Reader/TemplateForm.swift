import CFprint
import Wire

/// The checked form of a serialised print (`fp-print.c`: "FP3", then a GVariant).
///
/// libfprint ends the process on many kinds of damage, so everything it relies on is checked here
/// before it sees a byte.
struct TemplateForm {
    let driver: String
    let deviceID: String
    let isStoredOnReader: Bool
    let finger: Finger
    let account: String

    private static let magic: [UInt8] = Array("FP3".utf8)
    private static let type = "(issbymsmsia{sv}v)"
    private static let lengths = 4...(1 << 20)
    /// `FPI_PRINT_RAW` and `FPI_PRINT_NBIS`.
    private static let (raw, minutiae): (Int32, Int32) = (1, 2)
    /// `MAX_BOZORTH_MINUTIAE`.
    private static let minutiaeCap = 200
    /// Days that GDate can turn into a year of 16 bits.
    private static let julianDays: ClosedRange<Int32> = 1...23_000_000

    /// Nil unless libfprint can read `bytes` safely.
    init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count), bytes.starts(with: Self.magic) else { return nil }
        guard let whole = Variant(littleEndian: bytes.dropFirst(3), type: Self.type) else {
            return nil
        }
        guard let kind = whole[0]?.int32, let driver = whole[1]?.string, !driver.isEmpty,
            let deviceID = whole[2]?.string, let stored = whole[3]?.boolean,
            let code = whole[4]?.byte, let finger = Finger(rawValue: code),
            let username = whole[5], let day = whole[7]?.int32, Self.julianDays.contains(day),
            let data = whole[9]?.variant
        else { return nil }
        switch kind {
        case Self.raw:
            guard data.hasType("v") else { return nil }
        case Self.minutiae:
            guard data.hasType("(a(aiaiai))"), Self.holdsMinutiae(data) else { return nil }
        default:
            return nil
        }
        self.driver = driver
        self.deviceID = deviceID
        self.isStoredOnReader = stored
        self.finger = finger
        self.account = username.count == 1 ? username[0]?.string ?? "" : ""
    }

    private static func holdsMinutiae(_ data: Variant) -> Bool {
        guard let prints = data[0], prints.count > 0 else { return false }
        for number in 0..<prints.count {
            guard let print = prints[number], let x = print[0]?.count, let y = print[1]?.count,
                let angle = print[2]?.count, x == y, y == angle, x <= minutiaeCap
            else { return false }
        }
        return true
    }
}

/// A reference to a GVariant in normal form.
// SAFETY: one counted reference, taken in `init` and dropped in `deinit`; a GVariant never changes.
@safe private final class Variant {
    private let pointer: OpaquePointer

    private init(owned: OpaquePointer) {
        unsafe pointer = unsafe owned
    }

    /// Nil unless the bytes are the one normal form of a value of this type.
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

    func hasType(_ type: String) -> Bool {
        unsafe String(cString: g_variant_get_type_string(pointer)) == type
    }

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
