// SPDX-License-Identifier: Apache-2.0
/// The action of libpam after a module has returned; pam.conf(5).
enum StackAction: Equatable {
    case ignore, ok, done, bad, die, reset
    /// Skips this many modules.
    case jump(Int)

    fileprivate static let words: [(String, StackAction)] = [
        ("ignore", .ignore), ("ok", .ok), ("done", .done), ("bad", .bad), ("die", .die),
        ("reset", .reset),
    ]
}

/// The control field of a line: an action for each code that a module may return.
///
/// It is parsed exactly as in libpam's `pam_handlers.c`. A field that libpam cannot parse makes
/// every code `bad`, as it does there.
struct Control: Equatable {
    private let actions: [StackAction]
    /// Whether libpam can parse the field; if not, every code is `bad`.
    let isUnderstood: Bool

    /// The action for a code.
    subscript(code: PAMReturnCode) -> StackAction { actions[code.rawValue] }

    /// The distances of the jumps that occur in the field.
    var jumps: Set<Int> {
        Set(
            actions.compactMap { action in
                if case .jump(let count) = action { return count }
                return nil
            })
    }

    /// The control that libpam uses for a line that it cannot parse: every code is `bad`.
    static let refused = Control(actions: all(.bad), isUnderstood: false)

    private init(actions: [StackAction], isUnderstood: Bool) {
        self.actions = actions
        self.isUnderstood = isUnderstood
    }

    /// Parses the field without its brackets; pam.d(5).
    init(_ field: [UInt8]) {
        switch String(decoding: field, as: UTF8.self).lowercased() {
        case "required": self.init(.ok, others: .bad, ignoring: true)
        case "requisite": self.init(.ok, others: .die, ignoring: true)
        case "optional": self.init(.ok, others: .ignore, ignoring: true)
        case "sufficient": self.init(.done, others: .ignore, ignoring: true)
        default: self = Control.parse(field[...]) ?? .refused
        }
    }

    /// Parses a field of text.
    init(_ field: String) { self.init(Array(field.utf8)) }

    private init(_ success: StackAction, others: StackAction, ignoring: Bool) {
        var actions = Control.all(others)
        actions[PAMReturnCode.success.rawValue] = success
        actions[PAMReturnCode.newAuthtokReqd.rawValue] = success
        actions[PAMReturnCode.ignore.rawValue] = .ignore
        self.init(actions: actions, isUnderstood: true)
    }

    private static func all(_ action: StackAction) -> [StackAction] {
        [StackAction](repeating: action, count: PAMReturnCode.allCases.count)
    }

    /// Parses `code=action …`; nil if libpam could not parse it.
    private static func parse(_ field: ArraySlice<UInt8>) -> Control? {
        var set = [StackAction?](repeating: nil, count: PAMReturnCode.allCases.count)
        var text = field
        while true {
            text = text.drop(while: \.isSpace)
            if text.isEmpty { break }
            // A nil code is `default`, which stands for the codes that are not set yet.
            guard let code = takeCode(&text) else { return nil }
            text = text.drop(while: \.isSpace)
            guard text.popFirst() == UInt8(ascii: "=") else { return nil }
            text = text.drop(while: \.isSpace)
            guard let action = takeAction(&text) else { return nil }
            if let code {
                set[code.rawValue] = action
            } else {
                set = set.map { $0 ?? action }
            }
        }
        return Control(actions: set.map { $0 ?? .bad }, isUnderstood: true)
    }

    private static func takeCode(_ text: inout ArraySlice<UInt8>) -> PAMReturnCode?? {
        for code in PAMReturnCode.allCases where text.starts(with: code.name.utf8) {
            text = text.dropFirst(code.name.utf8.count)
            return .some(code)
        }
        guard text.starts(with: "default".utf8) else { return nil }
        text = text.dropFirst("default".utf8.count)
        return .some(nil)
    }

    private static func takeAction(_ text: inout ArraySlice<UInt8>) -> StackAction? {
        for (word, action) in StackAction.words where text.starts(with: word.utf8) {
            text = text.dropFirst(word.utf8.count)
            return action
        }
        let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        text = text.dropFirst(digits.count)
        guard let count = Int32(String(decoding: digits, as: UTF8.self)), count > 0 else {
            return nil
        }
        return .jump(Int(count))
    }
}

extension UInt8 {
    /// isspace(3).
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
