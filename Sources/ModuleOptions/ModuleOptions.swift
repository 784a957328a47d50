#if !hasFeature(Embedded)
import Statement
#endif

/// What the administrator wrote after the module's name in the PAM stack.
package struct ModuleOptions: Equatable, Sendable {
    /// Seconds from the call to its end, 1 to 170.
    package private(set) var timeoutSeconds: UInt32 = 30
    /// Scans that may fail to match, 1 to 5.
    package private(set) var maximumTries: UInt8 = 3
    /// Whether each step leaves a line in the journal.
    package private(set) var debug = false
    /// Where the daemon listens, an absolute path.
    package private(set) var socket: [UInt8] = StaticString("/run/signet/signetd.sock").bytes

    /// Why an option was refused; the payload is its index.
    package enum Fault: Error, Equatable {
        /// No such option, or one that takes a value has none.
        case unknown(Int)
        /// The value is out of its range or form.
        case malformed(Int)
        /// The option stands there twice.
        case repeated(Int)
    }

    /// The longest path that fits a socket's address, in bytes without the ending NUL.
    package static let longestSocketPath = 107

    /// No options: everything at its default.
    package init() {}

    /// From the words of the stack's line; throws on the first that is not exactly an option.
    package init(parsing words: [[UInt8]]) throws(Fault) {
        var seen: UInt8 = 0
        for (index, word) in words.enumerated() {
            guard let option = Option(of: word) else { throw .unknown(index) }
            guard seen & option.rawValue == 0 else { throw .repeated(index) }
            seen |= option.rawValue
            guard take(option, [UInt8](word.dropFirst(option.prefix.count))) else {
                throw .malformed(index)
            }
        }
    }

    private mutating func take(_ option: Option, _ value: [UInt8]) -> Bool {
        switch option {
        case .timeout:
            guard let seconds = Decimal.decode(value), (1...170).contains(seconds) else {
                return false
            }
            timeoutSeconds = UInt32(truncatingIfNeeded: seconds)
        case .maximumTries:
            guard let tries = Decimal.decode(value), (1...5).contains(tries) else { return false }
            maximumTries = UInt8(truncatingIfNeeded: tries)
        case .debug:
            guard value.isEmpty else { return false }
            debug = true
        case .socket:
            guard ModuleOptions.isPlainPath(value) else { return false }
            socket = value
        }
        return true
    }

    /// Whether a path is absolute and names every step: no `//`, `.`, `..`, no `/` at the end.
    private static func isPlainPath(_ path: [UInt8]) -> Bool {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        guard path.first == slash, path.count <= longestSocketPath, !path.contains(0) else {
            return false
        }
        for name in [UInt8](path.dropFirst()).parts(between: slash) {
            guard !name.isEmpty, name != [dot], name != [dot, dot] else { return false }
        }
        return true
    }
}

/// The options that there are; the raw value is a bit of the set of those seen.
private enum Option: UInt8, CaseIterable {
    case timeout = 1
    case maximumTries = 2
    case debug = 4
    case socket = 8

    var prefix: [UInt8] {
        switch self {
        case .timeout: StaticString("timeout=").bytes
        case .maximumTries: StaticString("max-tries=").bytes
        case .debug: StaticString("debug").bytes
        case .socket: StaticString("socket=").bytes
        }
    }

    init?(of word: [UInt8]) {
        for option in Option.allCases where word.starts(with: option.prefix) {
            guard option != .debug || word.count == option.prefix.count else { continue }
            self = option
            return
        }
        return nil
    }
}

#if !hasFeature(Embedded)
extension ModuleOptions {
    /// The options that there are, without their values: what the manual page must have.
    package static var names: [String] {
        Option.allCases.map { option in
            String(decoding: option.prefix, as: UTF8.self).filter { $0 != "=" }
        }
    }
}
#endif
