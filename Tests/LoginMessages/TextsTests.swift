// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }
private func string(_ text: Text) -> String { String(decoding: text.bytes, as: UTF8.self) }

/// Bytes that would change how a line shows, if they came through.
private let hostile: Bytes =
    bytes("a\nb\r\u{1B}[2J\u{7F}\u{85}\u{202E}\u{2066}\u{61C}\u{2028}\u{200B}\u{AD}\u{E0041}\0")
    + [0xFF, 0xC3]

/// What no line of text may hold.
private func isHarmless(_ text: Text) -> Bool {
    guard let string = String(validating: text.bytes, as: UTF8.self), !text.bytes.isEmpty else {
        return false
    }
    return string.unicodeScalars.allSatisfy { scalar in
        scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
            && scalar.value != 0x2028 && scalar.value != 0x2029
            && !scalar.properties.isDefaultIgnorableCodePoint
    }
}

/// The style of messages: lower case, no full stop.
private func hasStyle(_ text: Text) -> Bool {
    guard let first = string(text).first, let last = string(text).last else { return false }
    return !first.isUppercase && last != "."
}

@Suite("Texts")
struct TextTests {
    @Test(
        "every denial has one, however little or much it carries", arguments: DenialReason.allCases)
    func denials(reason: DenialReason) {
        let bare = Denial(reason).text(account: "alice")
        #expect(isHarmless(bare) && hasStyle(bare), "\(string(bare))")
        #expect(!string(bare).contains(" ,") && !string(bare).hasSuffix(": "))
        for cause in InvalidationCause.allCases {
            for finger in Finger.allCases {
                let full = Denial(
                    reason, cause: cause, seconds: .max, since: .max, subject: hostile,
                    finger: finger, mismatches: 255
                ).text(account: AccountName(hostile))
                #expect(isHarmless(full) && hasStyle(full), "\(string(full))")
            }
        }
    }

    @Test("denials are distinguishable")
    func distinct() {
        let texts = DenialReason.allCases.map { string(Denial($0).text(account: "alice")) }
        #expect(Set(texts).count == texts.count)
    }

    @Test("every cause has one, and a denial shows it with its day")
    func causes() {
        for cause in InvalidationCause.allCases { #expect(isHarmless(cause.text)) }
        let denial = Denial(.invalidated, cause: .fingerAdded, since: 1_795_195_440)
        #expect(
            string(denial.text(account: "alice"))
                == "fingerprint login is off for alice: a finger was added on 20 Nov 2026. "
                + "Run 'signet enable' to turn it on again")
    }

    @Test("every notice that is worth a line has one", arguments: NoticeKind.allCases)
    func notices(kind: NoticeKind) {
        for scan in [nil] + ScanType.allCases.map(Optional.some) {
            for retry in [nil] + RetryReason.allCases.map(Optional.some) {
                for tries in [nil, 0, 1, 2, 255] as [UInt8?] {
                    let text = Notice(
                        kind, scan: scan, retry: retry, done: tries, total: tries,
                        triesLeft: tries, subject: hostile
                    ).text
                    switch kind {
                    case .fingerPresent, .fingerGone: #expect(text == nil)
                    case .touch, .waiting, .retry, .noMatch, .stage, .passwordStale,
                        .askingServer, .contended, .preparing, .printLost, .offer, .tpm:
                        #expect(text.map { isHarmless($0) && hasStyle($0) } == true)
                    }
                }
            }
        }
    }

    @Test("prompts hold what is confirmed, and no line end")
    func prompts() {
        let who = Prompt.who(account: AccountName(hostile), terminal: hostile)
        for purpose in [hostile, []] {
            let prompt = Prompt.touch(
                Notice(.touch, scan: .swipe), purpose: purpose, service: ServiceName(hostile),
                who: who)
            #expect(isHarmless(prompt))
        }
        #expect(
            string(Prompt.who(account: "al", terminal: bytes("/dev/pts/3"))) == "al, pts/3")
        #expect(string(Prompt.who(account: "al", terminal: [])) == "al")
        let confirmed = Prompt.touch(
            Notice(.touch), purpose: bytes("sudo ls"), service: "sudo", who: "alice")
        #expect(string(confirmed) == "touch the reader to confirm: sudo ls (alice)")
        let plain = Prompt.touch(Notice(.touch), purpose: [], service: "login", who: "alice, tty1")
        #expect(string(plain) == "touch the reader for login (alice, tty1)")
        for text in [
            Prompt.orPassword, Prompt.silent, Prompt.refused, Prompt.unclear, Prompt.tooLong,
            Prompt.unseen,
        ] {
            #expect(isHarmless(text) && hasStyle(text))
        }
    }

    @Test("hostile bytes are shown as what they are")
    func escaping() {
        #expect(string(Text(escaping: bytes("a\nb"))) == "a\\x0ab")
        #expect(string(Text(escaping: [0x1B, 0xFF])) == "\\x1b\\xff")
        #expect(string(Text(escaping: bytes("grüße 漢"))) == "grüße 漢")
        #expect(
            string("<\(hostile)>").hasPrefix("<a\\x0ab\\x0d\\x1b[2J\\x7f\\xc2\\x85\\xe2\\x80\\xae"))
        #expect(string("\(number: UInt64.max)") == "18446744073709551615")
    }

    @Test("a text within a text is not escaped again")
    func nesting() {
        let inner: Text = "\(bytes("a\n"))"
        #expect(string("<\(inner)>") == "<a\\x0a>")
    }

    @Test("each month has its name")
    func months() {
        let names = (0..<12).map {
            string(Text.date($0 * 2_629_800 + 1_296_000)).split(separator: " ")[1]
        }
        #expect(
            names == [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ])
        #expect(string(Text.date(.max)) == "31 Dec 9999")
    }
}
