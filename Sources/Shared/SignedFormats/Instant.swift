// SPDX-License-Identifier: Apache-2.0
/// A moment of wall-clock time in UTC, to the second, in the format of RFC 3339.
///
/// It ranges from 1970 to the end of the year 9999. The text has exactly one form, 20 bytes such as
/// `2026-11-20T17:24:00Z`, without fractions, offsets or leap seconds, so it can be part of a
/// canonical text.
package struct Instant: Equatable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let seconds: UInt64

    /// The last second that the format can express: the end of the year 9999.
    package static let last: UInt64 = 253_402_300_799

    /// Creates a moment from seconds since 1970, clamped to `last`.
    package init(seconds: UInt64) {
        self.seconds = min(seconds, Instant.last)
    }

    /// Creates a moment from seconds since 1970, clamped to the years that the format can express.
    package init(clamping seconds: Int64) { self.init(seconds: UInt64(clamping: seconds)) }

    /// Orders moments by time.
    package static func < (left: Instant, right: Instant) -> Bool { left.seconds < right.seconds }

    /// The text, 20 bytes, such as `2026-11-20T17:24:00Z`.
    package var text: [UInt8] {
        let date = civilDate
        let time = seconds % 86_400
        var text = StaticString("0000-00-00T00:00:00Z").bytes
        func put(_ number: UInt64, endingAt end: Int) {
            var (rest, place) = (number, end)
            while rest > 0 {
                place -= 1
                text[place] += UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        put(date.year, endingAt: 4)
        put(date.month, endingAt: 7)
        put(date.day, endingAt: 10)
        put(time / 3_600, endingAt: 13)
        put(time / 60 % 60, endingAt: 16)
        put(time % 60, endingAt: 19)
        return text
    }

    /// Parses exactly the format of `text`; nil for anything else, including dates that do not
    /// exist.
    package init?(text: [UInt8]) {
        guard text.count == 20 else { return nil }
        func number(_ range: Range<Int>) -> UInt64? {
            var value: UInt64 = 0
            for character in text[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else {
                    return nil
                }
                value = value * 10 + UInt64(character - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19), year >= 1970, (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let (dash, colon) = (UInt8(ascii: "-"), UInt8(ascii: ":"))
        guard text[4] == dash, text[7] == dash, text[10] == UInt8(ascii: "T"),
            text[13] == colon, text[16] == colon, text[19] == UInt8(ascii: "Z")
        else { return nil }
        let days = Instant.days(year: year, month: month, day: day)
        self.init(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second)
        // A day that does not exist, such as 31 April, would become a day of the next month.
        guard civilDate.day == day else { return nil }
    }

    /// The year, month (1 to 12) and day (1 to 31) in the Gregorian calendar.
    package var civilDate: (year: UInt64, month: UInt64, day: UInt64) {
        // Years are counted from March, so that the leap day is the last day of a year.
        let shifted = seconds / 86_400 + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func days(year: UInt64, month: UInt64, day: UInt64) -> UInt64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear % 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
