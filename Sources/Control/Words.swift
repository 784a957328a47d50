import Wire

extension String {
    /// `lockedForNow` as `locked-for-now`: an enumeration's case as programs read it.
    fileprivate init(casing name: String) {
        self.init()
        for character in name {
            if character.isUppercase { append("-") }
            append(contentsOf: character.lowercased())
        }
    }
}

extension DenialReason {
    var word: String { String(casing: "\(self)") }
}

extension InvalidationCause {
    var word: String { String(casing: "\(self)") }
}

extension CredentialState {
    var word: String { String(casing: "\(self)") }
}

extension KeyringState {
    var word: String { String(casing: "\(self)") }
}

extension LockState {
    var word: String { String(casing: "\(self)") }
}

extension NoticeKind {
    var word: String { String(casing: "\(self)") }
}

extension RetryReason {
    var word: String { String(casing: "\(self)") }
}

extension SecretState {
    var word: String { String(casing: "\(self)") }
}

extension ServerKeyState {
    var word: String { String(casing: "\(self)") }
}

extension ScanType {
    var word: String { String(casing: "\(self)") }
}

extension Finger {
    /// The name by which people give and read it.
    var word: String { "\(name)" }

    /// By that name.
    init?(word: String) {
        guard let finger = Finger.allCases.first(where: { $0.word == word }) else { return nil }
        self = finger
    }
}

extension ImportOutcome {
    var word: String { String(casing: "\(self)") }
}

extension ReaderFeatures {
    /// What the reader can do, a word each.
    var words: [String] {
        let names: [(ReaderFeatures, String)] = [
            (.identify, "identify"), (.storage, "storage"), (.storageList, "storage-list"),
            (.update, "update"), (.hostMatching, "host-matching"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}

extension OperationState {
    var word: String { String(casing: "\(self)") }
}
