// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol

extension Finger {
    /// The name by which people give and read it.
    var word: String { "\(name)" }

    /// By that name.
    init?(word: String) {
        guard let finger = Finger.allCases.first(where: { $0.word == word }) else { return nil }
        self = finger
    }
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
