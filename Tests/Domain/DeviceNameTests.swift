// SPDX-License-Identifier: Apache-2.0
import Domain
import Testing

@Suite("A device's name")
struct DeviceNameTests {
    private func name(_ text: String) -> String? {
        DeviceName([UInt8](text.utf8)).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(
        "is taken as it stands",
        arguments: [
            "a", "7", "alice-laptop", "Alices laptop", "desk.example.org",
            "ThinkPad T14 (Gen 3) + dock_2", String(repeating: "n", count: 64),
        ])
    func accepted(text: String) {
        #expect(name(text) == text)
    }

    @Test(
        "is refused if it is empty, too long, or anything but plain text",
        arguments: [
            "", " ", " a", "a ", "-a", ".a", "+1", "(a", "_a", "a\n", "a\u{0}", "a\u{1B}[2J",
            "a\tb",
            "a\u{7F}", "é", "a\u{202E}b", "a'b", "a\"b", "<b>", "a&b", "a/b", "a\\b", "a=b", "a,b",
            "a:b", "a@b", "a%b", "a*b", String(repeating: "n", count: 65),
        ])
    func refused(text: String) {
        #expect(name(text) == nil)
    }

    @Test("of a byte that is no text is refused")
    func bytes() {
        for byte in UInt8.min...UInt8.max where byte > 0x7E || byte < 0x20 {
            #expect(DeviceName([0x61, byte]) == nil && DeviceName([byte]) == nil)
        }
    }

    @Test(
        "is made of a machine's name, without what no name has",
        arguments: [
            ("alice-laptop", "alice-laptop"), ("-x.example.org", "x.example.org"),
            ("a\u{1B}[2Jb\n", "a2Jb"), ("bücher", "bcher"), ("a  ", "a"),
            (String(repeating: "n", count: 99), String(repeating: "n", count: 64)),
            (String(repeating: "n", count: 63) + " n", String(repeating: "n", count: 63)),
        ])
    func machines(text: String, made: String) {
        #expect(DeviceName(ofMachine: [UInt8](text.utf8))?.bytes == [UInt8](made.utf8))
    }

    @Test("is not made of nothing", arguments: ["", "-", "é", "\u{1B}", " . "])
    func nothing(text: String) {
        #expect(DeviceName(ofMachine: [UInt8](text.utf8)) == nil)
    }
}
