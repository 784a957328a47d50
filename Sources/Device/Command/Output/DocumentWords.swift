// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol

extension String {
    /// The UTF-8 bytes.
    var bytes: Bytes { Bytes(utf8) }

    /// The string as a text, with characters escaped that must not stand in a line.
    var text: Text { Text(escaping: bytes) }
}

extension Finger {
    /// The name that users type and read.
    var word: String { "\(name)" }

    /// Finds a finger by that name.
    init?(word: String) {
        guard let finger = Finger.allCases.first(where: { $0.word == word }) else { return nil }
        self = finger
    }
}

extension ReaderFeatures {
    /// One word for each capability.
    var words: [String] {
        let names: [(ReaderFeatures, String)] = [
            (.identify, "identify"), (.storage, "storage"), (.storageList, "storage-list"),
            (.update, "update"), (.hostMatching, "host-matching"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
