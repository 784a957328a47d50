// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

private let texts = ["a": "A", "b %1$s": "B %1$s", "longer than others": "länger", "z": "Z"]

/// What a catalogue has for a text.
private func translation(_ text: String, in file: Bytes) throws -> String? {
    try #require(Catalogue(file)).translation(of: bytes(text))
        .map { String(decoding: $0, as: UTF8.self) }
}

@Suite("A catalogue's file")
struct CatalogueTests {
    @Test("each text is found, and no other")
    func lookUp() throws {
        let file = CatalogueFile.made(of: texts)
        for (text, own) in texts { #expect(try translation(text, in: file) == own) }
        for text in ["", "A", "aa", "longer", "longer than others!", "zz"] {
            let own = try translation(text, in: file)
            #expect(text == "" ? own?.contains("UTF-8") == true : own == nil)
        }
        #expect(try translation("a", in: CatalogueFile.made(of: ["a": ""])) == nil)
    }

    @Test("a file that msgfmt wrote is read whole", arguments: CatalogueFile.languages)
    func real(language: String) throws {
        let file = try CatalogueFile.compiled(language)
        #expect(file.count <= Catalogue.maximumLength / 2)
        #expect(try translation("no such text", in: file) == nil)
        let own = try #require(try translation("touch the reader", in: file))
        #expect(own != "touch the reader")
    }

    @Test("a file that is not a catalogue is ignored")
    func refused() {
        let good = CatalogueFile.made(of: texts)
        var swapped = good
        swapped.replaceSubrange(0..<4, with: [0x95, 0x04, 0x12, 0xDE])
        var revised = good
        revised[6] = 1
        let bad: [Bytes] = [
            [], bytes("# a text file, and long enough to have a header"), swapped, revised,
            good + Bytes(repeating: 0, count: Catalogue.maximumLength),
            CatalogueFile.made(of: texts, header: "Content-Type: text/plain; charset=EUC-JP\n"),
            CatalogueFile.made(of: texts, header: ""),
        ]
        for file in bad { #expect(Catalogue(file) == nil) }
        for place in [8, 12, 16] {
            for value in [Bytes(repeating: 0xFF, count: 4), [0, 0, 0, 0x80], [0xFC, 0xFF, 0, 0]] {
                var file = good
                file.replaceSubrange(place..<place + 4, with: value)
                #expect(Catalogue(file) == nil)
            }
        }
    }

    @Test("one that ends too early, anywhere, has the part that is left")
    func truncated() throws {
        let good = CatalogueFile.made(of: texts)
        for length in 0..<good.count {
            guard let catalogue = Catalogue(Bytes(good.prefix(length))) else { continue }
            for (text, own) in texts {
                let found = catalogue.translation(of: bytes(text))
                #expect(found == nil || found == bytes(own))
            }
        }
    }

    @Test("damage anywhere ends nothing, and shows no control")
    func damaged() throws {
        let good = try CatalogueFile.compiled("de")
        let text: Text = "there is no account \(bytes("bob")) on this machine"
        var random = Seeded(seed: 7)
        for round in 0..<4_000 {
            var file = good
            for _ in 0...round % 8 {
                // The tables at the beginning are where it could hurt.
                let end = round % 2 == 0 ? file.count : 4_800
                let place = Int.random(in: 0..<end, using: &random)
                file[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard let catalogue = Catalogue(file) else { continue }
            let shown = text.rendered { catalogue.translation(of: $0) }
            #expect(String(validating: shown, as: UTF8.self) != nil)
            #expect(!shown.contains { $0 < 0x20 || $0 == 0x7F })
        }
    }
}
