// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The options that the administrator wrote after the module's name in the PAM stack.
///
/// pam_signet(8) describes them. Parsing is strict: an unknown, malformed or repeated option
/// throws, and the module then does not serve the line, because an option that restricts logins may
/// be misspelt.
package struct ModuleOptions: Equatable, Sendable {
    /// Seconds that the user has for the touch, from 1 to 170; `timeout=`.
    package internal(set) var timeoutSeconds: UInt32 = 30
    /// The number of scans that may fail to match, from 1 to 5; `max-tries=`.
    package internal(set) var maximumTries: UInt8 = 3
    /// Whether each step is logged to the journal; `debug`.
    package internal(set) var debug = false
    /// The path of the daemon's socket, absolute; `socket=`.
    package private(set) var socket: [UInt8] = StaticString("/run/signet/signetd.sock").bytes
    /// How a touch is asked for; `prompt=`.
    package internal(set) var prompt = Prompting.auto
    /// Milliseconds to wait before the reader is used, from 0 to 5,000; `delay=`.
    package private(set) var delayMilliseconds: UInt32 = 0
    /// The file that names the server which must also approve, an absolute path; empty for none;
    /// `server=`.
    package private(set) var server: [UInt8] = []
    /// Whether the login password is requested, to unlock the keyring; `keyring`.
    package private(set) var keyring = false
    /// Whether an account without fingers is offered enrolment after a login with its password;
    /// `offer`.
    package private(set) var offer = false
    /// Whether conditions that pass are waited through, as a lock screen needs it; `wait`.
    private var wait = false
    private var statedBackground: BackgroundPolicy?

    /// Why an option was rejected; the payload is its index, from 0.
    package enum Fault: Error, Equatable {
        /// The option does not exist, or lacks a value that it must have.
        case unknown(Int)
        /// The value is out of range or has the wrong form.
        case malformed(Int)
        /// The option occurs twice.
        case repeated(Int)
    }

    /// The seconds that a login may take.
    static let timeouts: ClosedRange<UInt64> = 1...170
    /// The number of scans that may fail to match.
    static let tries: ClosedRange<UInt64> = 1...5
    /// The longest path that fits a socket's address, in bytes without the ending NUL.
    package static let longestSocketPath = 107

    /// The options of a line without any: all defaults.
    package init() {}

    /// Parses the arguments of the stack's line; throws on the first that is not a valid option.
    package init(parsing words: [[UInt8]]) throws(Fault) {
        var seen: UInt16 = 0
        for (index, word) in words.enumerated() {
            guard let option = Option(of: word) else { throw .unknown(index) }
            guard seen & option.rawValue == 0 else { throw .repeated(index) }
            seen |= option.rawValue
            guard take(option, [UInt8](word.dropFirst(option.prefix.count))) else {
                throw .malformed(index)
            }
        }
    }

    /// The policy for a request from the background: as the line states, or the service's default.
    ///
    /// The default refuses services that grant privileges immediately, such as sudo, because the
    /// touch could be meant for another program.
    package func background(for service: ServiceName) -> BackgroundPolicy {
        if let statedBackground { return statedBackground }
        for name in ModuleOptions.attended where name.bytes == service.bytes { return .refuse }
        return .allow
    }

    /// Whether one call lasts until a finger has decided, for as long as that can still happen.
    ///
    /// By default only for KDE's lock screen, whose stack comes from the distribution: it
    /// gives the finger up after one answer that none can be asked for. It asks for the password in
    /// a stack of its own. In a stack where the password comes next, nobody would be asked for it.
    package func waits(for service: ServiceName) -> Bool {
        wait || service.bytes == StaticString("kde-fingerprint").bytes
    }

    /// The same options, with at most this many seconds for the finger.
    package func within(seconds: UInt32) -> ModuleOptions {
        var options = self
        options.timeoutSeconds = min(timeoutSeconds, seconds)
        return options
    }

    private static var attended: [StaticString] {
        ["sudo", "sudo-i", "su", "su-l", "runuser", "runuser-l", "doas"]
    }

    private mutating func take(_ option: Option, _ value: [UInt8]) -> Bool {
        switch option {
        case .timeout:
            guard let seconds = Decimal.decode(value), ModuleOptions.timeouts.contains(seconds)
            else {
                return false
            }
            timeoutSeconds = UInt32(truncatingIfNeeded: seconds)
        case .maximumTries:
            guard let tries = Decimal.decode(value), ModuleOptions.tries.contains(tries) else {
                return false
            }
            maximumTries = UInt8(truncatingIfNeeded: tries)
        case .debug:
            debug = true
        case .socket:
            guard ModuleOptions.isPlainPath(value) else { return false }
            socket = value
        case .prompt:
            guard let chosen = Prompting(of: value) else { return false }
            prompt = chosen
        case .background:
            guard let chosen = BackgroundPolicy(of: value) else { return false }
            statedBackground = chosen
        case .delay:
            guard let delay = Decimal.decode(value), delay <= 5_000 else { return false }
            delayMilliseconds = UInt32(truncatingIfNeeded: delay)
        case .server:
            guard ModuleOptions.isPlainPath(value) else { return false }
            server = value
        case .keyring:
            keyring = true
        case .offer:
            offer = true
        case .wait:
            wait = true
        }
        return true
    }

    /// Whether a path is absolute and in normal form: no `//`, `.`, `..`, or `/` at the end.
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

/// How a touch is asked for.
package enum Prompting: CaseIterable, Sendable {
    /// With a password line if the terminal permits it, otherwise with a message alone.
    case auto
    /// With a password line, or not at all.
    case together
    /// With a message alone; nothing is read from the terminal.
    case finger
    /// Without any message.
    case off

    fileprivate var name: StaticString {
        switch self {
        case .auto: "auto"
        case .together: "together"
        case .finger: "finger"
        case .off: "off"
        }
    }
}

extension Prompting: Choice {}

extension BackgroundPolicy: Choice {
    fileprivate var name: StaticString {
        switch self {
        case .refuse: "refuse"
        case .warn: "warn"
        case .allow: "allow"
        }
    }
}

/// An option's value that is one of a few words.
private protocol Choice: CaseIterable {
    /// The word in the stack's line.
    var name: StaticString { get }
}

extension Choice {
    /// The choice for a word; nil if it is not one of them.
    fileprivate init?(of value: [UInt8]) {
        for choice in Self.allCases where choice.name.bytes == value {
            self = choice
            return
        }
        return nil
    }
}

/// All options; the raw value is a bit in the set of options seen.
private enum Option: UInt16, CaseIterable {
    case timeout = 1
    case maximumTries = 2
    case debug = 4
    case socket = 8
    case prompt = 16
    case background = 32
    case delay = 64
    case server = 128
    case keyring = 256
    case offer = 512
    case wait = 1_024

    /// Whether it is a word without a value.
    var isFlag: Bool {
        self == .debug || self == .keyring || self == .offer || self == .wait
    }

    var prefix: [UInt8] {
        switch self {
        case .timeout: StaticString("timeout=").bytes
        case .maximumTries: StaticString("max-tries=").bytes
        case .debug: StaticString("debug").bytes
        case .socket: StaticString("socket=").bytes
        case .prompt: StaticString("prompt=").bytes
        case .background: StaticString("background=").bytes
        case .delay: StaticString("delay=").bytes
        case .server: StaticString("server=").bytes
        case .keyring: StaticString("keyring").bytes
        case .offer: StaticString("offer").bytes
        case .wait: StaticString("wait").bytes
        }
    }

    init?(of word: [UInt8]) {
        for option in Option.allCases where word.starts(with: option.prefix) {
            guard !option.isFlag || word.count == option.prefix.count else { continue }
            self = option
            return
        }
        return nil
    }
}

extension ModuleOptions {
    /// The names of all options, without values; tests compare the manual page with them.
    package static var names: [String] {
        Option.allCases.map { option in
            String(decoding: option.prefix, as: UTF8.self).filter { $0 != "=" }
        }
    }
}
