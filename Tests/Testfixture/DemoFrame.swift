// SPDX-License-Identifier: Apache-2.0
/// Sets what a program writes on its terminal off from what the demo says, byte by byte.
///
/// Each line of the program's gets a margin and is broken at spaces where it would not fit. What
/// the demo says comes between two `mark` bytes, on lines of its own. Where the screen is no
/// terminal, a line that is drawn anew becomes the next line, if it is another one.
struct DemoFrame {
    /// Begins and ends what the demo says: no program of the demo writes this byte.
    static let mark: UInt8 = 0x1E

    private static let margin = Array("     | ".utf8)
    private static let escape: UInt8 = 0x1B

    private let isTerminal: Bool
    private let width: Int
    private var column = 0
    private var isLineBegun = false
    private var isReturnPending = false
    private var isInEscape = false
    private var isSpeaking = false
    /// The program was in the middle of a line when the demo spoke; its line end is ours already.
    private var isInterrupted = false
    private var line: [UInt8] = []
    private var lastLine: [UInt8] = []
    private var output: [UInt8] = []

    /// For a screen of so many columns.
    init(columns: Int, isTerminal: Bool) {
        width = max(20, columns - Self.margin.count - 1)
        self.isTerminal = isTerminal
    }

    /// What to write for the next bytes.
    mutating func framed(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
        output = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == Self.mark {
                speak()
            } else if isSpeaking {
                output.append(byte)
            } else {
                take(byte, followedBy: rest)
            }
        }
        if isTerminal { release() }
        return output
    }

    private mutating func speak() {
        isSpeaking.toggle()
        guard isSpeaking, isLineBegun else { return }
        endLine()
        isInterrupted = true
    }

    private mutating func take(_ byte: UInt8, followedBy rest: ArraySlice<UInt8>) {
        if isInEscape { return escaped(byte) }
        if byte == UInt8(ascii: "\r") {
            isReturnPending = true
            return
        }
        if byte == UInt8(ascii: "\n") {
            isReturnPending = false
            if !isInterrupted || isLineBegun { endLine() }
            isInterrupted = false
            return
        }
        if isReturnPending { drawAnew() }
        isInterrupted = false
        if byte == Self.escape {
            isInEscape = true
            if isTerminal { line.append(byte) }
        } else if byte >= 0x20 {
            show(byte, followedBy: rest)
        }
    }

    private mutating func drawAnew() {
        isReturnPending = false
        guard isLineBegun else { return }
        if isTerminal {
            line.append(UInt8(ascii: "\r"))
        } else if line == lastLine {
            line = []
        } else {
            return endLine()
        }
        isLineBegun = false
        column = 0
    }

    private mutating func escaped(_ byte: UInt8) {
        if isTerminal { line.append(byte) }
        if byte >= 0x40 && byte != UInt8(ascii: "[") { isInEscape = false }
    }

    private mutating func show(_ byte: UInt8, followedBy rest: ArraySlice<UInt8>) {
        let isContinuation = byte & 0xC0 == 0x80
        if byte == UInt8(ascii: " ") {
            let word = rest.prefix { $0 > 0x20 && $0 != Self.mark }
            if isLineBegun, column + 1 + word.count > width { return endLine() }
        } else if column >= width, !isContinuation {
            endLine()
        }
        if !isLineBegun { line += Self.margin }
        isLineBegun = true
        line.append(byte)
        if !isContinuation { column += 1 }
    }

    private mutating func endLine() {
        if !isLineBegun { line += Self.margin.dropLast() }
        lastLine = line
        line.append(UInt8(ascii: "\n"))
        release()
        isLineBegun = false
        column = 0
    }

    private mutating func release() {
        output += line
        line = []
    }
}
