// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The form of a serialised print that libfprint can read safely.
///
/// The format is that of libfprint's `fp-print.c`: "FP3", then a little-endian GVariant. libfprint
/// ends the process on many kinds of damage, so everything that it relies on is checked here before
/// it gets a byte: the length, the normal form and type of the GVariant, the driver's name, the
/// finger, the date, and the numbers of minutiae.
struct TemplateForm {
    let driver: String
    let deviceID: String
    let isStoredOnReader: Bool
    let finger: Finger
    let account: String
    let holdsMinutiae: Bool
    let identity: PrintIdentity

    private static let magic: [UInt8] = Array("FP3".utf8)
    private static let type = "(issbymsmsia{sv}v)"
    static let lengths = 4...(1 << 20)
    /// `FPI_PRINT_RAW` and `FPI_PRINT_NBIS`.
    private static let (raw, minutiae): (Int32, Int32) = (1, 2)
    /// `MAX_BOZORTH_MINUTIAE`.
    private static let minutiaeCap = 200
    /// The Julian days whose year fits into the 16 bits that GDate has for it.
    private static let julianDays: ClosedRange<Int32> = 1...23_000_000

    /// Parses a serialised print; nil unless libfprint can read the bytes safely.
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
        let compared: Variant
        switch kind {
        case Self.raw:
            guard let inner = data.variant else { return nil }
            compared = inner
        case Self.minutiae:
            guard data.hasType("(a(aiaiai))"), Self.holdsMinutiae(data) else { return nil }
            compared = data
        default:
            return nil
        }
        self.driver = driver
        self.deviceID = deviceID
        self.isStoredOnReader = stored
        self.finger = finger
        self.account = username.count == 1 ? username[0]?.string ?? "" : ""
        holdsMinutiae = kind == Self.minutiae
        identity = PrintIdentity(
            kind: kind, driver: driver, deviceID: deviceID, type: compared.type,
            data: compared.bytes)
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
