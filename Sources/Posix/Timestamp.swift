/// RFC 3339 text of whole seconds in UTC, e.g. `2026-11-20T17:24:00Z`.
package enum Timestamp {
    /// Writes seconds since 1970; years before 0 and after 9999 are held to that range.
    package static func text(_ seconds: Int64) -> String {
        let held = min(max(seconds, earliest), latest)
        let day = Int64(held / 86400) - (held % 86400 < 0 ? 1 : 0)
        let second = Int(held - day * 86400)
        let (year, month, date) = civil(day)
        let clock = [second / 3600, second / 60 % 60, second % 60]
        let left = "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))"
        return left + "T" + clock.map { padded($0, 2) }.joined(separator: ":") + "Z"
    }

    /// Reads exactly the form that `text` writes; nil for anything else, a leap second too.
    package static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        let marks: [(Int, Character)] = [
            (4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z"),
        ]
        guard marks.allSatisfy({ $0.1.asciiValue == bytes[$0.0] }),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let date = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let total = days(year, month, date) * 86400 + Int64(hour * 3600 + minute * 60 + second)
        // Writing it again refuses 31 November and the like.
        return self.text(total) == text ? total : nil
    }

    private static let earliest: Int64 = -62_167_219_200
    private static let latest: Int64 = 253_402_300_799

    /// The civil date of a day counted from 1970; the proleptic Gregorian calendar, whose eras
    /// of 400 years have 146,097 days and are counted from 1 March here.
    private static func civil(_ day: Int64) -> (year: Int, month: Int, date: Int) {
        let shifted = Int(day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let inEra = shifted - era * 146_097
        let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        let date = inYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, date)
    }

    private static func days(_ year: Int, _ month: Int, _ date: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let inEra = shifted - era * 400
        let inYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
        return Int64(era * 146_097 + inEra * 365 + inEra / 4 - inEra / 100 + inYear - 719_468)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard digit >= 48, digit <= 57 else { return nil }
            value = value * 10 + Int(digit) - 48
        }
        return value
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
