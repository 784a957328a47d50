// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import Posix

// Finds the caller's catalogue of translations. A file counts only if root alone could have put it
// there, since its words are shown as the program's own; otherwise the texts are in English.
extension Catalogue {
    /// The catalogue of translations for the language in the caller's environment.
    ///
    /// Nil for English, and if there is no catalogue or none that only root could have put there.
    package static func ofCaller() -> Catalogue? {
        let isConsole = environmentValue("TERM") == "linux"
        let languages = Languages(isConsole: isConsole) { variable in
            environmentValue("\(variable)").map { Bytes($0.utf8) }
        }
        return first(of: languages, in: directories.map { "\($0)" })
    }

    /// The first of these languages for which the directories contain a trustworthy catalogue.
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
