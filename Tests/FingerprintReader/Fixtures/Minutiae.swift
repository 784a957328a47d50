// SPDX-License-Identifier: Apache-2.0
/// Writes a template of minutiae as libfprint does: a GVariant "(issbymsmsia{sv}v)", by hand, so
/// that single fields can be wrong.
enum Minutiae {
    /// `counts` are the minutiae of each print; `angles` is the number of angles if it is to differ.
    static func template(
        counts: [Int], angles: Int? = nil, kind: Int32 = 2, finger: UInt8 = 2, day: Int32 = 739_000
    ) -> [UInt8] {
        var prints = Framed()
        for count in counts { prints.append(print(count, angles: angles ?? count), aligned: 4) }
        // A tuple of one array needs no offsets, and its data is the array's.
        let data = prints.array() + [0] + Array("(a(aiaiai))".utf8)
        var whole = Framed()
        whole.fixed(bytes(of: kind), aligned: 4)
        whole.append(text("virtual_image"), aligned: 1)
        whole.append(text("0"), aligned: 1)
        whole.fixed([0], aligned: 1)
        whole.fixed([finger], aligned: 1)
        whole.append(text("alice") + [0], aligned: 1)
        whole.append([], aligned: 1)
        whole.fixed(bytes(of: day), aligned: 4)
        whole.append([], aligned: 8)
        whole.last(data, aligned: 8)
        return Array("FP3".utf8) + whole.tuple()
    }

    private static func print(_ count: Int, angles: Int) -> [UInt8] {
        var print = Framed()
        for length in [count, count] { print.append(numbers(length), aligned: 4) }
        print.last(numbers(angles), aligned: 4)
        return print.tuple()
    }

    private static func numbers(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { bytes(of: Int32($0 * 3)) }
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private static func bytes(of number: Int32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// A GVariant container in the making: members at their alignment, the ends of those of variable
/// size behind them.
private struct Framed {
    private var body: [UInt8] = []
    private var ends: [Int] = []

    private mutating func align(_ alignment: Int) {
        while body.count % alignment != 0 { body.append(0) }
    }

    mutating func fixed(_ bytes: [UInt8], aligned alignment: Int) {
        align(alignment)
        body += bytes
    }

    mutating func append(_ bytes: [UInt8], aligned alignment: Int) {
        fixed(bytes, aligned: alignment)
        ends.append(body.count)
    }

    /// A last member of variable size, whose end is where the ends begin.
    mutating func last(_ bytes: [UInt8], aligned alignment: Int) {
        fixed(bytes, aligned: alignment)
    }

    /// Tuples have the ends in reverse.
    func tuple() -> [UInt8] { body + offsets(ends.reversed()) }

    func array() -> [UInt8] { body + offsets(ends) }

    private func offsets(_ ends: [Int]) -> [UInt8] {
        var size = 1
        while body.count + ends.count * size >= 1 << (8 * size) { size *= 2 }
        return ends.flatMap { end in
            (0..<size).map { UInt8(truncatingIfNeeded: end >> ($0 * 8)) }
        }
    }
}
