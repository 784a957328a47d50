// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// What the demo is watched on: standard output.
///
/// The programs' terminals and the demo's own words come through one pipe, so they appear in the
/// order in which they were written.
final class DemoScreen: Sendable {
    /// Where the terminals copy to what appears on them.
    let terminals: Int32

    private let source: Int32
    private let isTerminal: Bool
    private let hasColour: Bool
    private let isOpen = Mutex(true)
    private let finished = DispatchSemaphore(value: 0)

    /// How long a person takes to act, so that what happens can be followed with the eyes. Nothing
    /// waits for it, and without a viewer it is left out.
    private static let reactionMicroseconds: UInt32 = 350_000

    /// Starts showing; nil if no pipe can be made.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (source, terminals) = (ends[0], ends[1])
        isTerminal = isatty(STDOUT_FILENO) == 1
        hasColour = unsafe isTerminal && getenv("NO_COLOR") == nil
        let frame = DemoFrame(columns: Self.columns(), isTerminal: isTerminal)
        let source = source
        let finished = finished
        DispatchQueue(label: "screen").async {
            Self.show(from: source, frame)
            finished.signal()
        }
    }

    /// Shows what is still under way and these words; nothing is shown any more afterwards.
    func close(saying lastWords: String) {
        let wasOpen = isOpen.withLock { isOpen in
            if isOpen {
                // Collectors may still hold the other end, so an end of file may not come.
                let end = [DemoFrame.mark, 0, DemoFrame.mark]
                Self.write(Self.spoken(lastWords) + end, to: terminals)
            }
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { finished.wait() }
    }

    // MARK: What the demo says

    /// Between the scenes.
    func say(_ text: String) { write(line: text) }

    /// A scene's number and title, and what it is about.
    func heading(_ number: Int, _ title: String, _ about: String) {
        let lines = wrapped(about).map { "     \($0)" }.joined(separator: "\n")
        write(line: "\n\(styled("1", "\(pad(number)). \(title)"))\n\(lines)\n")
    }

    /// What a person does now.
    func act(_ text: String) {
        write(line: "     \(styled("36", "> \(text)"))")
        react()
    }

    /// Lets a person follow, where one watches.
    func react() {
        if isTerminal { usleep(Self.reactionMicroseconds) }
    }

    /// A command, as it stands behind a prompt.
    func command(_ text: String, prompt: String) {
        write(Array("\(prompt)\(styled("1", text))\r\n".utf8))
        react()
    }

    /// Something was checked, and is as it should be.
    func confirm(_ text: String) { write(line: "     \(styled("32", "[ok]")) \(text)") }

    /// Something is not as it should be.
    func contradict(_ fault: DemoFault) {
        let expected = indented(fault.expected)
        let came = indented(fault.came)
        let mark = styled("31", "[not as expected]")
        write(line: "     \(mark)\n     expected:\n\(expected)\n     came:\n\(came)")
    }

    private func indented(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { "       \($0)" }.joined(separator: "\n")
    }

    private func pad(_ number: Int) -> String { number < 10 ? "  \(number)" : " \(number)" }

    private func styled(_ code: String, _ text: String) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[m" : text
    }

    private func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= 74 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    // MARK: The pipe

    private func write(line text: String) {
        write(Self.spoken(text))
    }

    private static func spoken(_ text: String) -> [UInt8] {
        [DemoFrame.mark] + Array("\(text)\n".utf8) + [DemoFrame.mark]
    }

    private func write(_ bytes: [UInt8]) {
        isOpen.withLock { if $0 { Self.write(bytes, to: terminals) } }
    }

    private static func show(from source: Int32, _ frame: DemoFrame) {
        var frame = frame
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(source, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            let bytes = buffer[..<count]
            write(frame.framed(bytes).filter { $0 != 0 }, to: STDOUT_FILENO)
            if bytes.contains(0) { return }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func columns() -> Int {
        var size = winsize()
        let code = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
        return code == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
