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
    init(_ field: String) {
        switch field.lowercased() {
        case "required": self.init(.ok, others: .bad, ignoring: true)
        case "requisite": self.init(.ok, others: .die, ignoring: true)
        case "optional": self.init(.ok, others: .ignore, ignoring: true)
        case "sufficient": self.init(.done, others: .ignore, ignoring: true)
        default: self = Control.parse(field) ?? .refused
        }
    }

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
    private static func parse(_ field: String) -> Control? {
        var set = [StackAction?](repeating: nil, count: PAMReturnCode.allCases.count)
        var text = Substring(field)
        while true {
            text = text.drop(while: \.isBlank)
            if text.isEmpty { break }
            // A nil code is `default`, which stands for the codes that are not set yet.
            guard let code = takeCode(&text) else { return nil }
            text = text.drop(while: \.isBlank)
            guard text.popFirst() == "=" else { return nil }
            text = text.drop(while: \.isBlank)
            guard let action = takeAction(&text) else { return nil }
            if let code {
                set[code.rawValue] = action
            } else {
                set = set.map { $0 ?? action }
            }
        }
        return Control(actions: set.map { $0 ?? .bad }, isUnderstood: true)
    }

    private static func takeCode(_ text: inout Substring) -> PAMReturnCode?? {
        for code in PAMReturnCode.allCases where text.hasPrefix(code.name) {
            text = text.dropFirst(code.name.count)
            return .some(code)
        }
        guard text.hasPrefix("default") else { return nil }
        text = text.dropFirst("default".count)
        return .some(nil)
    }

    private static func takeAction(_ text: inout Substring) -> StackAction? {
        for (word, action) in StackAction.words where text.hasPrefix(word) {
            text = text.dropFirst(word.count)
            return action
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        text = text.dropFirst(digits.count)
        guard digits.count <= 6, let count = Int(digits), count > 0 else { return nil }
        return .jump(count)
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
