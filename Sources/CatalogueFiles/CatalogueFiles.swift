// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import Posix

extension Catalogue {
    /// The texts in the language that the caller's environment asks for; nil for English, and where
    /// there is none, or only one that somebody else than root could have put there.
    package static func ofCaller() -> Catalogue? {
        let isConsole = environmentValue("TERM") == "linux"
        let languages = Languages(isConsole: isConsole) { variable in
            environmentValue("\(variable)").map { Bytes($0.utf8) }
        }
        return first(of: languages, in: directories.map { "\($0)" })
    }

    /// The first of these languages that there is a catalogue of in the directories.
    package static func first(of languages: Languages, in directories: [String]) -> Catalogue? {
        for name in languages.names {
            for directory in directories {
                let language = String(decoding: name, as: UTF8.self)
                let path = "\(directory)/\(language)/LC_MESSAGES/\(fileName)"
                guard let file = try? TrustedFile.read(path, cap: maximumLength) else { continue }
                if let catalogue = Catalogue(file) { return catalogue }
            }
        }
        return nil
    }
}
