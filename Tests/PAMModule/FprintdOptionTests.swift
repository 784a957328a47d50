// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import ModuleOptions
import TestSupport
import Testing

@Suite("the options of fprintd's module")
struct FprintdOptionTests {
    private func parse(_ line: String) -> ModuleOptions {
        ModuleOptions(fprintd: line.split(separator: " ").map { [UInt8]($0.utf8) })
    }

    @Test("are what its own are by default, and nothing is read from the terminal")
    func defaults() {
        let options = parse("")
        #expect(options.maximumTries == 3 && options.timeoutSeconds == 30 && !options.debug)
        #expect(options.prompt == .finger && options.delayMilliseconds == 0)
        #expect(options.server.isEmpty && !options.keyring && !options.offer)
    }

    @Test(
        "max-tries= is read as atoi(3) reads it, and never exceeds what pam_signet.so accepts",
        arguments: [
            ("1", 1), ("5", 5), ("6", 5), ("99999999999999999999999", 5), ("0", 3), ("-1", 5),
            ("-9223372036854775809", 5), ("+2", 2), ("2x", 2), ("x", 3), ("-", 3), ("-0", 3),
            ("0x5", 3), ("007", 5), ("", 3),
        ])
    func tries(_ value: String, _ wanted: UInt8) {
        #expect(parse("max-tries=\(value)").maximumTries == wanted)
    }

    @Test(
        "timeout= is read as atoi(3) reads it, from 1 to what pam_signet.so accepts",
        arguments: [
            ("1", 1), ("10", 10), ("170", 170), ("171", 170), ("4294967296", 170), ("0", 1),
            ("-1", 170), ("30s", 30), ("x", 1), ("", 30),
        ])
    func timeout(_ value: String, _ wanted: UInt32) {
        #expect(parse("timeout=\(value)").timeoutSeconds == wanted)
    }

    @Test("debug has the forms that it has there")
    func debug() {
        for line in [
            "debug", "debug=on", "debug=true", "debug=1", "debug=0 debug", "debug debug=x",
        ] {
            #expect(parse(line).debug, "\(line)")
        }
        for line in ["debug=off", "debug debug=false", "debug debug=0", "debug=", "debug=x"] {
            #expect(!parse(line).debug, "\(line)")
        }
    }

    @Test("the last of several counts, and what is unknown, or only pam_signet.so's, is ignored")
    func ignored() {
        #expect(parse("max-tries=1 max-tries=2 timeout=9 timeout=8").maximumTries == 2)
        #expect(parse("max-tries=1 max-tries=2 timeout=9 timeout=8").timeoutSeconds == 8)
        let line =
            "frobnicate try_first_pass socket=/tmp/x prompt=off background=allow delay=5 "
            + "server=/etc/x keyring offer Timeout=5 max-tries timeout"
        #expect(parse(line) == parse(""))
        // An argument of libpam's may have blanks inside, as `[timeout= 7]` has.
        #expect(ModuleOptions(fprintd: [[UInt8]("timeout= 7".utf8), []]).timeoutSeconds == 7)
    }

    @Test("reach the daemon, of pam_fprintd.so in a stack that nobody edited")
    func requested() throws {
        let lines = [
            ("max-tries=1 timeout=10", UInt8(1), UInt32(10_000)),
            ("max-tries=-1 timeout=-1 unknown", 5, 170_000), ("", 3, 30_000),
        ]
        for (options, tries, milliseconds) in lines {
            let fixture = try ModuleFixture(
                .fprintd, stack: "auth required pam_signet.so \(options)")
            let probe = try fixture.start()
            let visit = try fixture.visit()
            let request = try visit.authenticate()
            #expect(request.maximumTries == tries && request.timeoutMilliseconds == milliseconds)
            #expect(!request.wantsKeyring && request.server == nil)
            try visit.prove(fixture.proof(for: request))
            #expect(try probe.codes() == [ModuleFixture.Code.success])
        }
    }

    @Test("a line of another type names pam_fprintd.so in the journal, and gives no access")
    func otherTypes() throws {
        let fixture = try ModuleFixture(.fprintd, stack: "account required pam_signet.so")
        let lines = try fixture.start(["acct"]).lines()
        #expect(lines.first?.hasSuffix(" 0") == false, "\(lines)")
        try fixture.host.journal.expect("account") {
            $0.message.contains("pam_fprintd.so serves 'auth' and 'password'")
        }
    }

    @Test("nothing is passed over by setcred: it succeeds only behind an authentication")
    func credentials() throws {
        let fixture = try ModuleFixture(.fprintd)
        let lines = try fixture.start(["establish"]).lines()
        #expect(lines.first?.hasSuffix(" 0") == false, "\(lines)")
    }
}
