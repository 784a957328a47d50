// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The server that must approve a login as well: the contents of the file behind `server=`.
///
/// Each line is `name = value`; empty lines and lines that begin with `#` are ignored. One mistake
/// rejects the whole file, because the faulty line may be the one that restricts logins.
package struct LoginServer: Equatable, Sendable {
    /// The longest accepted file in bytes.
    package static let maximumLength = 2_048

    /// The server's URL in normal form, at most 200 bytes.
    package let url: ServerURL
    /// The audience that its verdicts must name.
    package let audience: Audience
    /// The public key that must have signed its verdicts.
    package let key: SSHPublicKey
    /// The accounts that must log in with it: names, and groups with `@` in front; empty means all.
    package let accounts: [[UInt8]]
    /// For how many hours an earlier verdict is accepted if the server is unreachable, from 0 to
    /// 720.
    package let offlineHours: UInt32
    /// Where the access token is delivered; nil if none is requested.
    package let token: TokenDelivery?
    /// Whether the account's name at the server may differ from the name here.
    package let mayDiffer: Bool

    /// The names that lines may have; the raw value is a bit in the set of lines seen.
    package enum Entry: UInt8, CaseIterable, Sendable {
        case url = 1
        case audience = 2
        case key = 4
        case accounts = 8
        case offline = 16
        case token = 32
        case names = 64

        /// The name in the file.
        package var name: StaticString {
            switch self {
            case .url: "url"
            case .audience: "audience"
            case .key: "key"
            case .accounts: "accounts"
            case .offline: "offline"
            case .token: "token"
            case .names: "names"
            }
        }
    }

    /// Why a file was rejected.
    package enum Fault: Error, Equatable {
        case tooLong
        /// The line with this number, from 1, has an unknown or repeated name, or an invalid value.
        case line(Int)
        /// A required line is missing.
        case missing(Entry)
    }

    /// Parses the contents of the file; `url`, `audience` and `key` are required.
    package init(parsing text: [UInt8]) throws(Fault) {
        guard text.count <= LoginServer.maximumLength else { throw .tooLong }
        var lines = Lines()
        for (index, line) in text.parts(between: UInt8(ascii: "\n")).enumerated() {
            let line = line.trimmed
            if line.isEmpty || line[0] == UInt8(ascii: "#") { continue }
            guard lines.take(line) else { throw .line(index + 1) }
        }
        guard !lines.url.isEmpty else { throw .missing(.url) }
        guard !lines.audience.isEmpty else { throw .missing(.audience) }
        guard let key = lines.key else { throw .missing(.key) }
        self.key = key
        url = lines.url
        audience = lines.audience
        accounts = lines.accounts
        offlineHours = lines.offlineHours
        token = lines.token
        mayDiffer = lines.mayDiffer
    }
}

/// The values of the lines read so far.
private struct Lines {
    var url = ServerURL.none
    var audience = Audience.none
    var key: SSHPublicKey?
    var accounts: [[UInt8]] = []
    var offlineHours: UInt32 = 0
    var token: TokenDelivery?
    var mayDiffer = false
    private var seen: UInt8 = 0

    /// Parses a line; returns false if it is invalid.
    mutating func take(_ line: [UInt8]) -> Bool {
        let parts = line.parts(between: UInt8(ascii: "="), most: 2)
        guard parts.count == 2 else { return false }
        let name = parts[0].trimmed
        for entry in LoginServer.Entry.allCases where entry.name.bytes == name {
            guard seen & entry.rawValue == 0 else { return false }
            seen |= entry.rawValue
            return take(entry, parts[1].trimmed)
        }
        return false
    }

    private mutating func take(_ entry: LoginServer.Entry, _ value: [UInt8]) -> Bool {
        for byte in value where byte < 0x20 && byte != 9 || byte == 0x7F { return false }
        let words = value.words
        guard let first = words.first else { return false }
        switch entry {
        case .url:
            url = ServerURL(value)
            return Lines.isURL(value)
        case .audience:
            audience = Audience(value)
            return value.count <= Limit.label
        case .key:
            guard words.count == 2, first == SSHPublicKey.algorithm.bytes,
                let blob = Base64.decode(words[1], alphabet: .standard)
            else { return false }
            key = try? SSHPublicKey(blob: blob)
            return key != nil
        case .accounts:
            accounts = words
            return words.allSatisfy(Lines.isName)
        case .offline: return takeOffline(words)
        case .token:
            if first == StaticString("environment").bytes { token = .answer }
            if first == StaticString("file").bytes { token = .file }
            return words.count == 1 && (token != nil || first == StaticString("none").bytes)
        case .names:
            mayDiffer = first == StaticString("any").bytes
            return words.count == 1 && (mayDiffer || first == StaticString("same").bytes)
        }
    }

    /// Parses `refuse`, or `N hours` with N from 1 to 720.
    private mutating func takeOffline(_ words: [[UInt8]]) -> Bool {
        if words.count == 1 { return words[0] == StaticString("refuse").bytes }
        guard words.count == 2, let hours = Decimal.decode(words[0]), (1...720).contains(hours),
            words[1] == StaticString("hours").bytes
        else { return false }
        offlineHours = UInt32(truncatingIfNeeded: hours)
        return true
    }

    /// Whether a word can be the name of an account or, with `@` in front, of a group. Separators
    /// of other file formats, such as a comma, are rejected, because no account has a
    /// name with one.
    private static func isName(_ word: [UInt8]) -> Bool {
        if word == [UInt8(ascii: "@")] { return false }
        for byte in word {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "+"),
                UInt8(ascii: "\\"), 0x80...:
                break
            default: return false
            }
        }
        return true
    }

    /// Whether it can be a server's URL; the daemon, which connects to it, checks more strictly.
    private static func isURL(_ value: [UInt8]) -> Bool {
        guard value.starts(with: StaticString("https://").bytes), value.count <= 200 else {
            return false
        }
        return !value.contains(0x20) && !value.contains(9)
    }
}

extension [UInt8] {
    /// The bytes without spaces and tabs at both ends.
    fileprivate var trimmed: [UInt8] {
        var (start, end) = (0, count)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return [UInt8](self[start..<end])
    }

    /// The words between spaces and tabs.
    fileprivate var words: [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        for byte in self + [9] {
            if !byte.isBlank {
                word.append(byte)
            } else if !word.isEmpty {
                words.append(word)
                word = []
            }
        }
        return words
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 9 }
}
