// SPDX-License-Identifier: Apache-2.0
/// A mistake in a configuration file, and its location.
package struct ConfigurationFault: Error, Equatable, Sendable {
    /// The path of the file.
    package let file: String
    /// The line, counted from 1; 0 for the file as a whole.
    package let line: Int
    /// A description of the mistake, for the administrator.
    package let problem: String

    /// Creates a fault.
    package init(file: String, line: Int, problem: String) {
        self.file = file
        self.line = line
        self.problem = problem
    }

    /// The fault as a message: `/etc/signet/signet.conf:3: unknown key 'x' in [touch]`.
    package var text: String { line > 0 ? "\(file):\(line): \(problem)" : "\(file): \(problem)" }
}

/// The effective settings, and the origin of each.
///
/// A file with a single mistake is rejected as a whole, because the line that was not understood
/// may be the one in which the administrator forbids something. The syntax is `[section]` and `key
/// = value`, with comments after `#` or `;` at the beginning of a line. A file is UTF-8 without
/// control characters, and sets each key at most once.
package struct Configuration: Sendable {
    /// The maximum length of a file in bytes.
    package static let maximumFileLength = 65_536

    private let table: [Setting]
    private var values: [String: SettingValue] = [:]
    private var origins: [String: String] = [:]
    /// Lines with a former setting.
    ///
    /// They have no effect; the problem says what to write instead.
    package private(set) var obsoleteLines: [ConfigurationFault] = []

    /// Creates the defaults of a program's table of settings.
    package init(_ table: [Setting] = Settings.all) {
        self.table = table
    }

    /// Creates the defaults, overridden by files in order.
    ///
    /// The last file that sets a key decides. Throws the first mistake in any of the files.
    package init(
        _ table: [Setting] = Settings.all, files: [(name: String, text: [UInt8])]
    ) throws(ConfigurationFault) {
        self.table = table
        for file in files { try read(file.name, text: file.text) }
    }

    /// Returns the effective value of a setting.
    package func value(_ setting: Setting) -> SettingValue {
        values[setting.name] ?? setting.standard
    }

    /// Returns the origin of a setting: `file:line`, or `default`.
    package func origin(_ setting: Setting) -> String {
        origins[setting.name] ?? "default"
    }

    /// Whether no file sets the setting.
    package func isDefault(_ setting: Setting) -> Bool { origins[setting.name] == nil }

    /// The settings that the files set, as one file would set them; empty if they set none.
    package var text: String {
        var (text, section) = ("", "")
        for setting in table {
            guard let value = values[setting.name] else { continue }
            if setting.section != section {
                section = setting.section
                text += "[\(section)]\n"
            }
            text += "\(setting.key) = \(value.text)\n"
        }
        return text
    }

    /// Reads one file.
    ///
    /// Throws its first mistake.
    private mutating func read(_ name: String, text: [UInt8]) throws(ConfigurationFault) {
        guard text.count <= Configuration.maximumFileLength else {
            throw ConfigurationFault(file: name, line: 0, problem: "longer than 64 KiB")
        }
        guard let text = String(validating: text, as: UTF8.self) else {
            throw ConfigurationFault(file: name, line: 0, problem: "not UTF-8")
        }
        var section: String?
        var seen: Set<String> = []
        // Split bytes rather than characters, because CR LF is one Character and contains no
        // separate LF.
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            do throws(LineProblem) {
                try read(
                    Substring(line), at: (file: name, line: index + 1), in: &section, seen: &seen)
            } catch {
                throw ConfigurationFault(file: name, line: index + 1, problem: error.text)
            }
        }
    }

    private struct LineProblem: Error {
        let text: String
    }

    /// Reads one line, given the section that it is in and the settings that the file has set so
    /// far.
    ///
    /// An unknown section or key, a second value for a key in the same file, and a value that the
    /// setting does not accept are mistakes. A former setting is not; it is added to
    /// `obsoleteLines`.
    private mutating func read(
        _ line: Substring, at place: (file: String, line: Int), in section: inout String?,
        seen: inout Set<String>
    ) throws(LineProblem) {
        let line = line.trimmingSpaces
        guard !line.unicodeScalars.contains(where: \.isForbidden) else {
            throw LineProblem(text: "control character")
        }
        if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { return }
        if line.hasPrefix("[") {
            section = try sectionName(line)
            return
        }
        guard let equals = line.firstIndex(of: "=") else {
            throw LineProblem(text: "neither a [section] nor 'key = value'")
        }
        guard let section else { throw LineProblem(text: "a key before the first [section]") }
        let key = line[..<equals].trimmingSpaces
        if let former = former(key, in: section) {
            obsoleteLines.append(
                ConfigurationFault(file: place.file, line: place.line, problem: former.advice))
            return
        }
        guard let setting = table.first(where: { $0.section == section && $0.key == key })
        else { throw LineProblem(text: "unknown key '\(key)' in [\(section)]") }
        guard seen.insert(setting.name).inserted else {
            throw LineProblem(text: "'\(key)' is set twice in this file")
        }
        let text = line[line.index(after: equals)...].trimmingSpaces
        guard let value = setting.accepts.value(of: text) else {
            throw LineProblem(
                text:
                    "'\(text)' is not a valid value for '\(key)': it takes \(setting.accepts.expectation)"
            )
        }
        values[setting.name] = value
        origins[setting.name] = "\(place.file):\(place.line)"
    }

    /// Returns the former setting with this name, if the table contains its successor.
    private func former(_ key: String, in section: String) -> FormerSetting? {
        Settings.former.first { former in
            former.section == section && former.key == key
                && table.contains { $0.name == former.successor.name }
        }
    }

    private func sectionName(_ line: String) throws(LineProblem) -> String {
        guard line.hasSuffix("]") else { throw LineProblem(text: "']' is missing") }
        let name = line.dropFirst().dropLast().trimmingSpaces
        guard table.contains(where: { $0.section == name }) else {
            throw LineProblem(text: "unknown section [\(name)]")
        }
        return name
    }
}

extension Configuration {
    /// Returns the value of a duration setting; nil for `off`.
    package func duration(_ setting: Setting) -> Duration? {
        if case .duration(let duration) = value(setting) { return duration }
        return nil
    }

    /// Returns the value of a number setting; 0 if the setting is not a number.
    package func count(_ setting: Setting) -> Int {
        if case .count(let count) = value(setting) { return count }
        return 0
    }

    /// The word that stands for the words of the default, in lists of words or plain names.
    private static let defaultWord = "default"

    /// Returns the value of a setting that is a list of words; empty if it is of another kind.
    ///
    /// The word `default` is replaced by the default, so that a list can add to it. It is not in
    /// lists of accounts and groups, which may have that name.
    package func words(_ setting: Setting) -> [String] {
        guard case .words(let words) = value(setting) else { return [] }
        switch setting.accepts {
        case .words, .plainNames:
            guard case .words(let standard) = setting.standard else { return words }
            return words.flatMap { $0 == Self.defaultWord ? standard : [$0] }
        case .names, .choice, .text, .count, .duration, .numbers: return words
        }
    }
}

extension Configuration {
    /// Returns the value of a setting that is a word or text; empty if it is of another kind.
    package func word(_ setting: Setting) -> String {
        if case .word(let word) = value(setting) { return word }
        return ""
    }

    /// Returns the value of a setting that is a list of numbers; empty if it is of another kind.
    package func numbers(_ setting: Setting) -> [Int] {
        if case .numbers(let numbers) = value(setting) { return numbers }
        return []
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character other than the tab.
    ///
    /// Messages quote the line, which must not control a terminal.
    fileprivate var isForbidden: Bool {
        self != "\t" && properties.generalCategory == .control
    }
}
