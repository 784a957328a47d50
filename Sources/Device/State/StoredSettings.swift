// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats

/// The settings of the administrator's files that were understood last, in the files' own form.
///
/// They stay in force when the files can no longer be understood. The digest shows damage that
/// would still read as settings, such as one changed letter in the name of an excluded account.
package struct StoredSettings: Equatable, Sendable {
    /// The settings, as one file of the administrator's would set them.
    package let text: [UInt8]

    /// Settings of a text.
    package init(text: [UInt8]) { self.text = text }
}

extension StoredSettings: Record {
    static let cap = 65_536 + 256

    /// Two lines, and then the text; without a digest, no text is read.
    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-settings", number: 1)
        lines.put("digest", Base64.encode((try? SHA256.digest(text)) ?? [], alphabet: .url))
        return lines.text + text
    }

    init(contents: [UInt8]) throws(LineFault) {
        let parts = contents.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        var lines = LineReader(Array(parts[0] + [10] + parts[1] + [10]))
        try lines.version("signet-settings")
        let digest = try lines.base64("digest", count: SHA256.digestCount)
        try lines.end()
        text = Array(parts[2])
        guard let actual = try? SHA256.digest(text), actual == digest else { throw .malformed }
    }
}

extension StateDirectory {
    private static let settingsName = "settings"

    /// The path of the stored settings, for messages.
    package var settingsPath: String { "\(secrets.path)/\(Self.settingsName)" }

    /// Returns the settings that were understood last; nil if none are stored.
    ///
    /// Throws if the file is damaged, not trusted, of another version, or cannot be read.
    package func storedSettings() throws(StoreFault) -> StoredSettings? {
        try secrets.record(Self.settingsName)
    }

    /// Stores settings that were understood, or removes the stored ones if there are none.
    ///
    /// Writes only what changes. If that fails, what is stored is of an earlier time, and may
    /// allow what has been forbidden since: it is removed.
    package func keep(_ settings: StoredSettings?) throws(StoreFault) {
        let stored: StoredSettings?
        do throws(StoreFault) {
            stored = try storedSettings()
        } catch {
            try removeSettings()
            stored = nil
        }
        guard stored != settings else { return }
        do throws(StoreFault) {
            guard let settings else { return try removeSettings() }
            guard settings.text.count <= StoredSettings.cap - 256 else {
                throw .file(.tooLarge(path: settingsPath))
            }
            try secrets.keep(settings, as: Self.settingsName)
        } catch {
            try? removeSettings()
            throw error
        }
    }

    private func removeSettings() throws(StoreFault) {
        try files { () throws(FileFault) in try secrets.remove(Self.settingsName) }
    }
}
