// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import ModuleOptions
import TestSupport
import Testing

@Suite("the words of a stack's line, and of sudo's")
struct OptionTests {
    private func parse(_ words: String...) throws(ModuleOptions.Fault) -> ModuleOptions {
        try ModuleOptions(parsing: words.map { [UInt8]($0.utf8) })
    }

    @Test("each option sets what it names, and the rest stays at its default")
    func accepted() throws {
        let all = try parse(
            "timeout=170", "max-tries=1", "debug", "socket=/run/other.sock", "prompt=finger",
            "background=warn", "delay=5000", "server=/etc/signet/corp", "keyring", "offer", "wait")
        #expect(all.keyring && all.offer && all.waits(for: "swaylock"))
        #expect(all.server == [UInt8]("/etc/signet/corp".utf8))
        #expect(all.timeoutSeconds == 170 && all.maximumTries == 1 && all.debug)
        #expect(all.socket == [UInt8]("/run/other.sock".utf8))
        #expect(all.prompt == .finger && all.delayMilliseconds == 5_000)
        let none = try parse()
        #expect(none.server.isEmpty && !none.keyring && !none.offer)
        #expect(!none.waits(for: "swaylock"))
        #expect(none.prompt == .auto && none.delayMilliseconds == 0)
        #expect(none.timeoutSeconds == 30 && none.maximumTries == 3 && !none.debug)
        #expect(none.socket == [UInt8]("/run/signet/signetd.sock".utf8))
    }

    @Test("each way to ask, and each policy for the background, has its name")
    func words() throws {
        for (word, prompt) in [
            ("auto", Prompting.auto), ("together", .together), ("finger", .finger), ("off", .off),
        ] { #expect(try parse("prompt=\(word)").prompt == prompt) }
        for (word, policy) in [
            ("refuse", BackgroundPolicy.refuse), ("warn", .warn), ("allow", .allow),
        ] {
            let options = try parse("background=\(word)")
            for service in ["sudo", "login"] {
                #expect(options.background(for: ServiceName(service)) == policy)
            }
        }
    }

    @Test("KDE's lock screen is waited for unasked, and nothing else is")
    func lockers() throws {
        for service in ["kde-fingerprint"] { #expect(try parse().waits(for: ServiceName(service))) }
        for service in ["kde", "kde-fingerprints", "gdm-fingerprint", "sudo", "login", ""] {
            #expect(try !parse().waits(for: ServiceName(service)))
            #expect(try parse("wait").waits(for: ServiceName(service)))
        }
        #expect(ModuleOptions(fprintd: []).waits(for: "kde-fingerprint"))
        #expect(!ModuleOptions(fprintd: [[UInt8]("wait".utf8)]).waits(for: "gdm-fingerprint"))
        #expect(try parse("timeout=5").within(seconds: 10).timeoutSeconds == 5)
        #expect(try parse("timeout=30", "wait").within(seconds: 10).timeoutSeconds == 10)
    }

    @Test("what gives rights on the spot is refused in the background, the rest is not")
    func background() throws {
        let options = try parse("delay=0")
        for service in ["sudo", "sudo-i", "su", "su-l", "runuser", "runuser-l", "doas"] {
            #expect(options.background(for: ServiceName(service)) == .refuse)
        }
        for service in ["login", "polkit-1", "gdm-password", "sud", "sudo ", "SUDO", ""] {
            #expect(options.background(for: ServiceName(service)) == .allow)
        }
    }

    @Test(
        "an option that is unknown, malformed or repeated is refused, and named",
        arguments: [
            ("frobnicate", ModuleOptions.Fault.unknown(0)), ("timeout", .unknown(0)),
            ("debug=1", .unknown(0)), ("keyring=", .unknown(0)), ("keyring=yes", .unknown(0)),
            ("keyrings", .unknown(0)), ("offer=1", .unknown(0)), ("offers", .unknown(0)),
            ("Keyring", .unknown(0)), ("", .unknown(0)), ("wait=1", .unknown(0)),
            ("waits", .unknown(0)),
            ("timeout=", .malformed(0)),
            ("timeout=0", .malformed(0)), ("timeout=171", .malformed(0)),
            ("timeout=030", .malformed(0)), ("timeout=99999999999999999999", .malformed(0)),
            ("max-tries=0", .malformed(0)), ("max-tries=6", .malformed(0)),
            ("prompt", .unknown(0)), ("prompt=", .malformed(0)), ("prompt=Auto", .malformed(0)),
            ("prompt=autos", .malformed(0)), ("prompts=auto", .unknown(0)),
            ("background=", .malformed(0)), ("background=refused", .malformed(0)),
            ("background", .unknown(0)), ("delay=", .malformed(0)), ("delay=5001", .malformed(0)),
            ("delay=-1", .malformed(0)), ("delay=01", .malformed(0)), ("delay=1s", .malformed(0)),
            ("delay=4294967297", .malformed(0)),
            ("server", .unknown(0)), ("server=", .malformed(0)), ("server=corp", .malformed(0)),
            ("server=/etc/../corp", .malformed(0)), ("server=/", .malformed(0)),
            ("socket=", .malformed(0)), ("socket=run/s", .malformed(0)),
            ("socket=/run//s", .malformed(0)), ("socket=/run/../s", .malformed(0)),
            ("socket=/run/./s", .malformed(0)), ("socket=/run/", .malformed(0)),
            ("socket=/" + String(repeating: "x", count: 107), .malformed(0)),
        ])
    func refused(_ word: String, _ fault: ModuleOptions.Fault) {
        #expect(throws: fault) { try parse(word) }
    }

    @Test("an option that stands there twice is refused")
    func repeated() {
        #expect(throws: ModuleOptions.Fault.repeated(1)) { try parse("timeout=5", "timeout=6") }
        #expect(throws: ModuleOptions.Fault.repeated(2)) {
            try parse("debug", "timeout=5", "debug")
        }
        for word in ["prompt=off", "background=warn", "delay=1", "server=/a", "keyring", "wait"] {
            #expect(throws: ModuleOptions.Fault.repeated(1)) { try parse(word, word) }
        }
    }
}
