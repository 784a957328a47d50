// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

/// A statement with a value in every line.
let sampleStatement = Statement(
    audience: Audience.local, account: "alice", uid: 1_000, requester: "bob",
    device: .sample(0..<16), credential: .sample(16..<32), challenge: .sample(0..<32),
    service: "sudo", terminal: bytes("/dev/pts/3"), purpose: bytes("sudo apt upgrade"),
    command: [UInt8](32..<64), factor: Factor.fingerprint, enrolment: 7, counter: 42,
    previous: [UInt8](repeating: 0, count: 32), issued: Instant(seconds: 1_795_195_440))

/// Values that a hostile caller may send, and what stands in the statement for them.
let hostileValues: [(value: [UInt8], written: String)] = [
    (bytes("100%"), "100%25"),
    (bytes("%0A"), "%250A"),
    (bytes("a\nb"), "a%0Ab"),
    (bytes("a\r\tb"), "a%0D%09b"),
    ([0, 0x1B, 0x7F], "%00%1B%7F"),
    ([0x61, 0xFF, 0x62], "a%FFb"),
    ([0xC3], "%C3"),
    ([0xC0, 0x80], "%C0%80"),
    ([0xED, 0xA0, 0x80], "%ED%A0%80"),
    ([0xF4, 0x90, 0x80, 0x80], "%F4%90%80%80"),
    (bytes("\u{85}\u{9F}"), "%C2%85%C2%9F"),
    (bytes("\u{202E}cod\u{2066}\u{200F}"), "%E2%80%AEcod%E2%81%A6%E2%80%8F"),
    (bytes("\u{61C}"), "%D8%9C"),
    (bytes("\u{2028}\u{2029}"), "%E2%80%A8%E2%80%A9"),
    (bytes("grüße 漢字 🫆"), "grüße 漢字 🫆"),
    (bytes(" spaces "), " spaces "),
    ([], ""),
]

@Suite("A statement's canonical text")
struct StatementTests {
    @Test("is what a person can read, line by line")
    func text() {
        let text = String(decoding: sampleStatement.encoded(), as: UTF8.self)
        #expect(
            text == """
                signet-statement: 2
                audience: local
                account: alice
                uid: 1000
                requester: bob
                device: 000102030405060708090a0b0c0d0e0f
                credential: 101112131415161718191a1b1c1d1e1f
                challenge: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
                service: sudo
                terminal: /dev/pts/3
                purpose: sudo apt upgrade
                command: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8
                factor: fingerprint
                enrolment: 7
                counter: 42
                previous: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                issued: 2026-11-20T17:24:00Z

                """)
    }

    @Test("of version 1 has neither requester nor command, and is still read")
    func versionOne() throws {
        var statement = sampleStatement
        statement.version = 1
        statement.requester = .none
        statement.command = []
        let text = String(decoding: statement.encoded(), as: UTF8.self)
        #expect(text.hasPrefix("signet-statement: 1\n"))
        #expect(text.contains("\nuid: 1000\ndevice: ") && !text.contains("\ncommand: "))
        #expect(try Statement(parsing: bytes(text)) == statement)
        // Neither is read with the other's lines.
        let newer = text.replacing("signet-statement: 1", with: "signet-statement: 2")
        #expect(throws: LineFault.unexpectedName) { try Statement(parsing: bytes(newer)) }
        let older = String(decoding: sampleStatement.encoded(), as: UTF8.self)
            .replacing("signet-statement: 2", with: "signet-statement: 1")
        #expect(throws: LineFault.unexpectedName) { try Statement(parsing: bytes(older)) }
    }

    @Test("names a requester that passwd(5) can hold, and a command or none")
    func requester() throws {
        var statement = sampleStatement
        statement.command = []
        #expect(try Statement(parsing: statement.encoded()) == statement)
        for name in ["", "a/b", "a:b", "a\nb", "\u{7F}"] {
            statement.requester = AccountName(name)
            #expect(throws: LineFault.malformed) { try Statement(parsing: statement.encoded()) }
        }
        statement.requester = "100%ü"
        for count in [0, 31, 32, 33] {
            statement.command = [UInt8](repeating: 7, count: count)
            let isGood = count == 0 || count == 32
            #expect(((try? Statement(parsing: statement.encoded())) != nil) == isGood)
        }
    }

    @Test("is read as it was written")
    func roundTrip() throws {
        #expect(try Statement(parsing: sampleStatement.encoded()) == sampleStatement)
    }

    @Test("says at which server the login was, too, and how, in lines of their own")
    func server() throws {
        var statement = sampleStatement
        statement.server = ServerLines(
            url: "https://id.example.org", account: "al\nice", mode: .offline)
        let text = String(decoding: statement.encoded(), as: UTF8.self)
        #expect(
            text.contains(
                """

                purpose: sudo apt upgrade
                command: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8
                server: https://id.example.org
                server-account: al%0Aice
                server-mode: offline
                factor: fingerprint

                """))
        #expect(try Statement(parsing: statement.encoded()) == statement)
        // One line without the others, another mode, another order.
        for (from, to) in [
            ("server-account: al%0Aice\n", ""), ("server: https://id.example.org\n", ""),
            ("server-mode: offline\n", ""), ("offline", "Online"), ("offline", ""),
            (
                "server-account: al%0Aice\nserver-mode: offline\n",
                "server-mode: offline\nserver-account: al%0Aice\n"
            ),
            ("server-mode: offline\n", "server-mode: offline\nserver: https://h\n"),
        ] {
            let altered = text.replacing(from, with: to)
            #expect(altered != text)
            #expect(throws: LineFault.self) { try Statement(parsing: bytes(altered)) }
        }
        // What signs for a server is not read without it.
        var plain = statement
        plain.server = nil
        #expect(plain.encoded() != statement.encoded())
    }

    @Test("hostile values cannot make lines of their own", arguments: hostileValues.indices)
    func hostile(index: Int) throws {
        let (value, written) = hostileValues[index]
        var statement = sampleStatement
        statement.purpose = value
        statement.terminal = value
        let text = statement.encoded()
        #expect(text.filter { $0 == 10 }.count == 17)
        #expect(String(decoding: text, as: UTF8.self).contains("\npurpose: \(written)\ncommand: "))
        #expect(try Statement(parsing: text) == statement)
    }

    @Test("values at their caps are accepted, one byte more is refused")
    func caps() throws {
        let caps: [(WritableKeyPath<Statement, [UInt8]>, Int)] = [
            (\.audience.altered, 256), (\.account.altered, 256), (\.requester.altered, 255),
            (\.service.altered, 64),
            (\.terminal, 256), (\.purpose, 1_024), (\.factor, 32),
        ]
        for (value, cap) in caps {
            for filler in [0x61, 0x25] as [UInt8] {
                var statement = sampleStatement
                statement[keyPath: value] = [UInt8](repeating: filler, count: cap)
                #expect(try Statement(parsing: statement.encoded()) == statement)
                statement[keyPath: value].append(filler)
                #expect(throws: LineFault.tooLong) { try Statement(parsing: statement.encoded()) }
            }
        }
    }

    @Test("every value at its longest still fits")
    func longest() throws {
        var statement = sampleStatement
        let longest = [UInt8](repeating: 1, count: 256)
        statement.audience = Audience(longest)
        statement.account = AccountName(longest)
        statement.requester = AccountName([UInt8](repeating: UInt8(ascii: "%"), count: 255))
        statement.terminal = longest
        statement.service = ServiceName([UInt8](repeating: 1, count: 64))
        statement.purpose = [UInt8](repeating: 1, count: 1_024)
        statement.factor = [UInt8](repeating: 1, count: 32)
        statement.uid = .max
        statement.enrolment = .max
        statement.counter = .max
        let text = statement.encoded()
        #expect(text.count <= Statement.maximumLength)
        #expect(try Statement(parsing: text) == statement)
    }
}

@Suite("A statement's text that is refused")
struct StatementRefusalTests {
    private let text = sampleStatement.encoded()

    private var lines: [[UInt8]] {
        text.split(separator: 10).map { [UInt8]($0) + [10] }
    }

    @Test("cut short at every length")
    func truncated() {
        for length in 0..<text.count {
            #expect(throws: LineFault.truncated) { try Statement(parsing: Array(text[..<length])) }
        }
    }

    @Test("followed by anything")
    func trailing() {
        for tail in [[10], [0], bytes("issued: 2026-11-20T17:24:00Z\n"), bytes("x: y\n")] {
            #expect(throws: LineFault.trailing) { try Statement(parsing: text + tail) }
        }
    }

    @Test("over the longest, whatever it holds")
    func tooLong() {
        let long = [UInt8](repeating: 0x61, count: Statement.maximumLength + 1)
        #expect(throws: LineFault.tooLong) { try Statement(parsing: long) }
    }

    @Test("a line missing, twice, swapped, renamed, or without its space")
    func lineOrder() {
        for index in lines.indices {
            var missing = lines
            missing.remove(at: index)
            refuse(missing)
            var twice = lines
            twice.insert(lines[index], at: index)
            refuse(twice)
            if index > 0 {
                var swapped = lines
                swapped.swapAt(index, index - 1)
                refuse(swapped)
            }
            var renamed = lines
            renamed[index][0] ^= 0x20
            refuse(renamed)
            var tight = lines
            if let space = tight[index].firstIndex(of: 0x20) { tight[index].remove(at: space) }
            refuse(tight)
            var blank = lines
            blank.insert([10], at: index)
            refuse(blank)
            var carriage = lines
            carriage[index].insert(13, at: carriage[index].count - 1)
            refuse(carriage)
        }
    }

    @Test(
        "a value in another form",
        arguments: [
            ("signet-statement: 2", "signet-statement: 1"),
            ("signet-statement: 2", "signet-statement: 0"),
            ("signet-statement: 2", "signet-statement: 3"),
            ("signet-statement: 2", "signet-statement: 02"),
            ("requester: bob", "requester: "), ("requester: bob", "requester: a/b"),
            ("command: ICE", "command: IC"), ("Pj8\n", "Pj9\n"), ("Pj8\n", "Pj8=\n"),
            ("uid: 1000", "uid: 4294967296"), ("uid: 1000", "uid: -1"), ("uid: 1000", "uid: "),
            ("uid: 1000", "uid: 1000 "), ("uid: 1000", "uid: %31000"),
            ("device: 00", "device: "), ("device: 00", "device: 0000"),
            ("0a0b0c", "0A0b0c"), ("credential: 10", "credential: 1"),
            ("challenge: AA", "challenge: A"), ("Hh8\n", "Hh9\n"), ("Hh8\n", "Hh8=\n"),
            ("sudo apt", "sudo\tapt"), ("sudo apt", "sudo%20apt"), ("sudo apt", "sudo%0aapt"),
            ("sudo apt", "sudo%apt"), ("sudo apt upgrade", "sudo apt%0"), ("sudo apt", "sudo%"),
            ("enrolment: 7", "enrolment: 07"), ("counter: 42", "counter: 18446744073709551616"),
            ("2026-11-20T", "2026-11-31T"), ("17:24:00Z", "17:24:60Z"), ("00Z\n", "00z\n"),
        ])
    func forms(old: String, new: String) {
        var altered = String(decoding: text, as: UTF8.self).unicodeScalars.map { $0 }
        guard let range = find(old.unicodeScalars.map { $0 }, in: altered) else {
            Issue.record("\(old) is not in the sample")
            return
        }
        altered.replaceSubrange(range, with: Array(new.unicodeScalars))
        var changed = ""
        changed.unicodeScalars.append(contentsOf: altered)
        #expect(throws: LineFault.self) { try Statement(parsing: bytes(changed)) }
    }

    @Test("altered texts are refused, or are exactly what they say", arguments: 0..<4)
    func mutated(seed: Int) throws {
        var random = Seeded(seed: UInt64(seed))
        for _ in 0..<2_000 {
            var altered = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<altered.count, using: &random)
                altered[index] = UInt8.random(in: 0...255, using: &random)
            }
            if let statement = try? Statement(parsing: altered) {
                #expect(statement.encoded() == altered)
            }
        }
    }

    private func refuse(_ lines: [[UInt8]]) {
        #expect(throws: LineFault.self) { try Statement(parsing: Array(lines.joined())) }
    }

    private func find<Element: Equatable>(
        _ part: [Element], in whole: [Element]
    ) -> Range<Int>? {
        for start in 0...max(0, whole.count - part.count)
        where Array(whole[start..<start + part.count]) == part {
            return start..<start + part.count
        }
        return nil
    }
}
