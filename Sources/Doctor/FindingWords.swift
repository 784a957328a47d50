import Texts

extension FindingCode {
    /// As programs and docs/DOCTOR.md have it: `file-owner`.
    package var word: String { hyphenated("\(self)") }
}

extension FindingLevel {
    /// As programs have it.
    package var word: String { "\(self)" }
}

extension FindingArea {
    /// As programs have it.
    package var word: String { "\(self)" }
}

private func hyphenated(_ name: String) -> String {
    name.reduce(into: "") { word, character in
        if character.isUppercase { word += "-" }
        word += character.lowercased()
    }
}
