// SPDX-License-Identifier: Apache-2.0

// How values are written in configuration files. A value outside the form or the bounds that its
// setting accepts is rejected, never rounded or cut, because it may be one that forbids something.
extension SettingValue {
    /// The value as it is written in a file.
    package var text: String {
        switch self {
        case .duration(nil): "off"
        case .duration(let duration?): SettingValue.text(of: duration)
        case .count(let count): String(count)
        case .words(let words): words.joined(separator: ", ")
        case .word(let word): word
        case .numbers(let numbers): numbers.map { String($0) }.joined(separator: ", ")
        }
    }

    private static func text(of duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        if milliseconds % 60_000 == 0 { return "\(milliseconds / 60_000)min" }
        if milliseconds % 1_000 == 0 { return "\(milliseconds / 1_000)s" }
        return "\(milliseconds)ms"
    }
}

extension Setting.Form {
    /// Parses a value.
    ///
    /// Returns nil if it is malformed or out of bounds. Durations need a unit (`ms`, `s` or `min`),
    /// numbers have 1 to 9 digits, and lists are separated by commas and contain no duplicates.
    package func value(of text: String) -> SettingValue? {
        switch self {
        case .count(let bounds):
            guard let count = Setting.Form.number(text.utf8), bounds.contains(count) else {
                return nil
            }
            return .count(count)
        case .duration(let bounds, let orOff):
            if text == "off" { return orOff ? .duration(nil) : nil }
            guard let duration = Setting.Form.duration(text), bounds.contains(duration) else {
                return nil
            }
            return .duration(duration)
        case .words:
            return Setting.Form.words(text).map(SettingValue.words)
        case .names:
            guard let words = Setting.Form.words(text), words.allSatisfy(NameList.isEntry) else {
                return nil
            }
            return .words(words)
        case .plainNames:
            guard let words = Setting.Form.words(text),
                words.allSatisfy({ NameList.isEntry($0) && !$0.contains { "!\"".contains($0) } })
            else { return nil }
            return .words(words)
        case .choice(let words): return words.contains(text) ? .word(text) : nil
        case .text(let most):
            return (1...most).contains(text.utf8.count) ? .word(text) : nil
        case .numbers(let bounds):
            return Setting.Form.numbers(text, in: bounds).map(SettingValue.numbers)
        }
    }

    /// A description of the accepted values, for messages.
    package var expectation: String {
        switch self {
        case .count(let bounds): "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        case .duration(let bounds, let orOff):
            "a time from \(SettingValue.duration(bounds.lowerBound).text) to "
                + "\(SettingValue.duration(bounds.upperBound).text)" + (orOff ? ", or off" : "")
        case .words: "words separated by commas"
        case .names: "names separated by commas, each with or without ! in front"
        case .plainNames: "names separated by commas"
        case .choice(let words): words.joined(separator: ", or ")
        case .text(let most): "a text of at most \(most) bytes"
        case .numbers(let bounds):
            "ascending numbers from \(bounds.lowerBound) to \(bounds.upperBound), separated by commas"
        }
    }

    /// Parses 1 to 9 decimal digits, so that the result cannot overflow.
    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...9).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func numbers(_ text: String, in bounds: ClosedRange<Int>) -> [Int]? {
        guard let words = words(text) else { return nil }
        var numbers: [Int] = []
        for word in words {
            guard let number = number(word.utf8), bounds.contains(number),
                number > numbers.last ?? -1
            else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    private static func duration(_ text: String) -> Duration? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = number(digits) else { return nil }
        switch String(text.utf8.dropFirst(digits.count)) {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        case "min": return .seconds(number * 60)
        default: return nil
        }
    }

    private static func words(_ text: String) -> [String]? {
        if text.isEmpty { return [] }
        var words: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.trimmingSpaces
            guard !word.isEmpty, !words.contains(word) else { return nil }
            words.append(word)
        }
        return words
    }
}

extension Duration {
    /// The number of whole milliseconds, rounded towards zero.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    /// The duration in seconds, rounded up, as frames state how long something is locked.
    package var wholeSecondsUp: UInt32 { UInt32(clamping: (wholeMilliseconds + 999) / 1_000) }
}

extension StringProtocol {
    /// The text without spaces and tabs at both ends.
    var trimmingSpaces: String {
        let body = drop { $0 == " " || $0 == "\t" }
        guard let last = body.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(body[...last])
    }
}
