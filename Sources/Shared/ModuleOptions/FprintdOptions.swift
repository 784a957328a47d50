// SPDX-License-Identifier: Apache-2.0
import SignedFormats

// The options of fprintd's own module, pam_fprintd(8), for stacks that were written for it.

extension ModuleOptions {
    /// Parses the arguments of a line for pam_fprintd.so, as fprintd 1.94 does.
    ///
    /// Nothing is a mistake there: an unknown option is ignored, the last of several counts, and a
    /// number is read as atoi(3) reads it. No limit is wider than pam_signet.so's own: "unlimited",
    /// a negative number, is the most that pam_signet.so accepts, and the lockout counts all the
    /// same. As with fprintd's module, nothing is read from the terminal.
    package init(fprintd words: [[UInt8]]) {
        self.init()
        prompt = .finger
        for word in words { take(fprintd: word) }
    }

    private mutating func take(fprintd word: [UInt8]) {
        if let value = word.value(after: "max-tries=") {
            maximumTries = UInt8(
                value == 0 ? 3 : ModuleOptions.limit(value, to: ModuleOptions.tries))
        } else if let value = word.value(after: "timeout=") {
            timeoutSeconds = UInt32(ModuleOptions.limit(value, to: ModuleOptions.timeouts))
        } else if word.isOne(of: ["debug", "debug=on", "debug=true", "debug=1"]) {
            debug = true
        } else if word.isOne(of: ["debug=off", "debug=false", "debug=0"]) {
            debug = false
        }
    }

    /// The nearest number of a range; a negative one stands for the most.
    private static func limit(_ value: Int64, to range: ClosedRange<UInt64>) -> UInt64 {
        guard let value = UInt64(exactly: value) else { return range.upperBound }
        return min(max(value, range.lowerBound), range.upperBound)
    }
}

extension [UInt8] {
    fileprivate func isOne(of words: [StaticString]) -> Bool {
        words.contains { $0.bytes == self }
    }

    /// The number after a prefix, as atoi(3) reads it: 0 if there is none. Nil without the prefix,
    /// and if nothing follows it.
    fileprivate func value(after prefix: StaticString) -> Int64? {
        guard starts(with: prefix.bytes), count > prefix.utf8CodeUnitCount else { return nil }
        var rest = self[prefix.utf8CodeUnitCount...]
        while let first = rest.first, first == 0x20 || (9...13).contains(first) {
            rest.removeFirst()
        }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var number: Int64 = 0
        for digit in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { break }
            // Far beyond any limit, and far from an overflow.
            number = Swift.min(number * 10 + Int64(digit - UInt8(ascii: "0")), 1_000_000)
        }
        return isNegative ? -number : number
    }
}
