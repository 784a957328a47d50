// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("what the module trusts")
struct TrustTests {
    /// What is done to a key's file, as commands of a shell in its directory.
    static let spoilings = [
        "chmod g+w 4242.pub", "chmod o+w 4242.pub", "chown bob 4242.pub",
        "mv 4242.pub real && ln -s real 4242.pub", "ln 4242.pub second",
        "rm 4242.pub && mkfifo 4242.pub", "rm 4242.pub && mkdir 4242.pub",
        "chmod o+w .", "chmod g+w ..", "chown bob .", "chown bob ..",
        "mv ../keys ../real && ln -s real ../keys",
        "printf x >>4242.pub", ": >4242.pub", "sed -i s/signet:alice/signet/ 4242.pub",
        "sed -i s/signet:alice/signet:bob/ 4242.pub",
        "sed -i s/5a/5/ 4242.pub", "sed -i s/nistp256/nistp384/ 4242.pub",
        "truncate -s -1 4242.pub", "truncate -s 3000 4242.pub",
        "cat 4242.pub 4242.pub >2 && mv 2 4242.pub",
    ]

    @Test(
        "a key's file that users other than root may have changed is refused", arguments: spoilings,
        ModuleEdition.allCases)
    func spoiltKey(_ command: String, _ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let done = try fixture.host.run(["/bin/sh", "-c", "cd /var/lib/signet/keys && \(command)"])
        #expect(done.succeeded, "\(done)")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.authError])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("an alert") { $0.priority == 1 }
    }

    @Test("a key's file that names an account that is gone is no key: no proof is accepted")
    func anothers() throws {
        let fixture = try ModuleFixture()
        let done = try fixture.host.run([
            "sed", "-i", "s/signet:alice/signet:gone/", "/var/lib/signet/keys/4242.pub",
        ])
        #expect(done.succeeded, "\(done)")
        let probe = try fixture.start()
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.codes() == [ModuleFixture.Code.authError])
        try fixture.host.journal.expect("an alert") { $0.priority == 1 }
    }

    @Test("a point that is not on the curve is not a key")
    func offCurve() throws {
        let fixture = try ModuleFixture()
        let point = [4] + [UInt8](repeating: 7, count: 64)
        let key = try #require(SSHPublicKey(point: point))
        let comment = "signet:alice:" + String(repeating: "5a", count: 16)
        try fixture.host.write(ModuleFixture.keyPath, key.line(comment: [UInt8](comment.utf8)))
        let probe = try fixture.start()
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.codes() == [ModuleFixture.Code.unavailable])
    }

    @Test(
        "a socket that users other than root may have put there is refused",
        arguments: [
            "chown bob signetd.sock", "chmod o+w .", "chown bob .",
            "mv signetd.sock s && ln -s s signetd.sock",
            "mv ../signet ../real && ln -s real ../signet", "mv signetd.sock s && : >signetd.sock",
        ], ModuleEdition.allCases)
    func spoiltSocket(_ command: String, _ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition)
        let done = try fixture.host.run(["/bin/sh", "-c", "cd /run/signet && \(command)"])
        #expect(done.succeeded, "\(done)")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.authError])
        #expect(!fixture.hasVisit)
        try fixture.host.journal.expect("an alert") { $0.priority == 1 }
    }

    @Test(
        "a daemon that is not root is refused before it is asked anything",
        arguments: ModuleEdition.allCases)
    func foreignDaemon(_ edition: ModuleEdition) throws {
        let fixture = try ModuleFixture(edition, listens: false)
        // perl-base is essential on Debian. The uid at the time of listen(2) is the peer's.
        let script = """
            use Socket; socket(my $s, AF_UNIX, SOCK_SEQPACKET, 0) or die;
            bind($s, sockaddr_un("\(ModuleFixture.socketPath)")) or die;
            $> = 4243; listen($s, 5) or die; $| = 1; print "listening\\n"; sleep 60;
            """
        let daemon = try fixture.host.start(["perl", "-e", script])
        try daemon.expect("listening")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.authError])
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("not root")
        }
    }

    @Test("a daemon that is absent, crashed, silent or overloaded leaves the password")
    func absentDaemon() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=3")
        // Gone at once, gone after the request, gone after a notice.
        for step in 0..<3 {
            let probe = try fixture.start()
            var visit: Visit? = try fixture.visit()
            if step > 0 { _ = try visit?.authenticate() }
            if step > 1 { try visit?.send(.notice(Notice(.touch))) }
            visit = nil
            #expect(try probe.codes() == [ModuleFixture.Code.unavailable])
        }
        // Never accepts; then accepts and says nothing; then stops in the middle.
        #expect(try fixture.start().codes() == [ModuleFixture.Code.unavailable])
        _ = try fixture.visit()
        for isBegun in [false, true] {
            let begin = ContinuousClock.now
            let probe = try fixture.start()
            let visit = try fixture.visit()
            for kind in isBegun ? [.touch, .noMatch] as [NoticeKind] : [] {
                try visit.send(.notice(Notice(kind, triesLeft: kind == .noMatch ? 1 : nil)))
            }
            // A mismatch was told before the time was up.
            #expect(try probe.codes() == [isBegun ? 7 : 9])
            #expect(ContinuousClock.now - begin < .seconds(60))
            #expect(try visit.hasAsked())
        }
        let none = try ModuleFixture(listens: false)
        #expect(try none.start().codes() == [ModuleFixture.Code.unavailable])
    }

    @Test("a daemon is waited for as long as a busy machine may need to start it, and no longer")
    func silentDaemon() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so timeout=170")
        let slow = try fixture.start()
        let late = try fixture.visit()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        // Time itself is awaited.
        _ = poll(nil, 0, 10_000)
        try late.prove(fixture.proof(for: late.authenticate()))
        #expect(try slow.codes() == [ModuleFixture.Code.success])
        #expect(try probe.codes() == [ModuleFixture.Code.unavailable])
        #expect(try visit.hasAsked())
    }

    @Test("a full queue of connections holds a login up for a fifth of a second, and no longer")
    func fullQueue() throws {
        let fixture = try ModuleFixture(backlog: 0)
        let waiting = try fixture.start()
        // The first takes the only place.
        while !fixture.hasVisit { if waiting.ended != nil { break } }
        let begin = ContinuousClock.now
        #expect(try fixture.start().codes() == [ModuleFixture.Code.unavailable])
        #expect(ContinuousClock.now - begin > .milliseconds(190))
        waiting.signal(SIGKILL)
    }

    @Test("a place that becomes free in that time is taken")
    func freedQueue() throws {
        let fixture = try ModuleFixture(backlog: 0)
        let first = try fixture.start()
        while !fixture.hasVisit { if first.ended != nil { break } }
        let second = try fixture.start()
        // It has come as far as the queue: its name is on a socket that is not connected.
        while second.ended == nil, !second.isConnecting {}
        for probe in [first, second] {
            let visit = try fixture.visit()
            try visit.prove(fixture.proof(for: visit.authenticate()))
            #expect(try probe.codes() == [ModuleFixture.Code.success])
        }
    }

    @Test("frames that are malformed in hundreds of ways never give access, and never crash")
    func mutatedFrames() throws {
        let fixture = try ModuleFixture()
        var random = Xorshift(state: 0x5167_6E65_7400_0001)
        let count = 600
        let probe = try fixture.start([String](repeating: "auth", count: count))
        for _ in 0..<count {
            let visit = try fixture.visit()
            let request = try visit.authenticate()
            let frames: [[UInt8]] = [
                try Answer.assertion(fixture.proof(for: request)).encoded(),
                try Answer.notice(Notice(.waiting, subject: [UInt8]("bob".utf8))).encoded(),
                try Answer.denial(Denial(.lockedForNow, seconds: 30)).encoded(),
                try Answer.passwordWanted(account: request.account).encoded(),
                try Answer.done(DoneAnswer()).encoded(),
            ]
            let original = frames[random.next(below: frames.count)]
            var changed = original
            for _ in 0...random.next(below: 4) { changed.mutate(&random) }
            if changed == original || changed.isEmpty { changed = [0] }
            try visit.send(changed)
        }
        let codes = try probe.codes(within: .seconds(120))
        #expect(codes.count == count)
        #expect(codes.allSatisfy { [7, 9, 11].contains($0) })
    }

    @Test("more answers than any touch needs end the login")
    func flood() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        let frame = try Answer.notice(Notice(.fingerPresent)).encoded()
        while probe.ended == nil { try visit.send(frame) }
        #expect(try probe.codes() == [ModuleFixture.Code.authError])
    }

    @Test("an oversized frame is refused")
    func oversized() throws {
        let fixture = try ModuleFixture()
        let probe = try fixture.start()
        let visit = try fixture.visit()
        try visit.send([UInt8](repeating: 1, count: 16_385))
        #expect(try probe.codes() == [ModuleFixture.Code.authError])
    }

    @Test("debug writes no file, and no descriptor outlives exec or the login")
    func descriptors() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so debug")
        let probe = try fixture.start(["auth", "auth", "auth"])
        let touched = try fixture.visit()
        let request = try touched.authenticate()
        let files = probe.openFiles()
        #expect(files.contains { $0.target.hasPrefix("socket:") })
        for file in files {
            #expect(file.closesOnExec, "\(file)")
            #expect(!file.target.hasPrefix("/") || !file.isWritable, "\(file)")
        }
        try touched.prove(fixture.proof(for: request))
        let denied = try fixture.visit()
        _ = try denied.authenticate()
        try denied.send(.denial(Denial(.lockedForNow, seconds: 30)))
        let malformed = try fixture.visit()
        _ = try malformed.authenticate()
        try malformed.send([0])
        let lines = try probe.lines()
        #expect(lines.filter { $0.hasPrefix("auth") } == ["auth 0", "auth 9", "auth 7"])
        #expect(lines.last == "left mapped=0 threads=1 files=0 signals=0")
        try fixture.host.journal.expect("a step") { $0.priority == 7 }
    }

    @Test("if no file can be opened any more, access is denied")
    func noFiles() throws {
        let fixture = try ModuleFixture()
        for limit in 3..<8 {
            let codes = try fixture.start(["files:\(limit)", "auth"]).codes()
            #expect(codes.allSatisfy { $0 != 0 }, "\(limit): \(codes)")
        }
    }
}

/// Random numbers that are the same at every run.
struct Xorshift {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(max(1, limit)))
    }
}

extension [UInt8] {
    /// One random change: a byte, a cut, an insertion, a doubling.
    fileprivate mutating func mutate(_ random: inout Xorshift) {
        guard !isEmpty else { return }
        let place = random.next(below: count)
        switch random.next(below: 5) {
        case 0: self[place] ^= 1 << UInt8(random.next(below: 8))
        case 1: self[place] = UInt8(random.next(below: 256))
        case 2: removeSubrange(place...)
        case 3: insert(UInt8(random.next(below: 256)), at: place)
        default: append(contentsOf: self[place...])
        }
    }
}

extension Visit {
    /// Whether a request was made, and the connection then ended.
    func hasAsked() throws -> Bool {
        _ = try authenticate()
        return try hasEnded()
    }
}

/// A descriptor that a process has open.
private struct OpenFile {
    let target: String
    /// As in open(2).
    let flags: Int32

    var closesOnExec: Bool { flags & O_CLOEXEC != 0 }
    var isWritable: Bool { flags & O_ACCMODE != O_RDONLY }
}

extension Program {
    /// Whether it waits for a place in a full queue of connections; proc(5), wchan.
    fileprivate var isConnecting: Bool {
        guard let place = try? Layout.read("/proc/\(pid)/wchan") else { return false }
        return String(decoding: place, as: UTF8.self) == "unix_wait_for_peer"
    }

    /// What it has open beside standard input, output and error; proc(5). What is closed meanwhile
    /// is left out.
    fileprivate func openFiles() -> [OpenFile] {
        Layout.entries(of: "/proc/\(pid)/fd").compactMap { number in
            guard let descriptor = Int32(number), descriptor > 2,
                let target = Layout.link("/proc/\(pid)/fd/\(number)"),
                let information = try? Layout.read("/proc/\(pid)/fdinfo/\(number)"),
                let line = String(decoding: information, as: UTF8.self).split(separator: "\n")
                    .first(where: { $0.hasPrefix("flags:") }),
                let word = line.split(separator: "\t").last, let flags = Int32(word, radix: 8)
            else { return nil }
            return OpenFile(target: target, flags: flags)
        }
    }
}
